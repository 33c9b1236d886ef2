"""WordNet's file format with two synsets, made from the words given: what nltk's own reader loads."""

from pathlib import Path

PARTS = ("noun", "verb", "adj", "adv")
HEADER = "  1 WordNet 3.0 Copyright: a stand-in with no entry of the original  \n"


def write_wordnet(folder: Path, meanings: list[list[str]]) -> Path:
    """Synsets of nouns under folder/corpora/wordnet; returns what NLTK_DATA is to be."""
    corpus = folder / "corpora" / "wordnet"
    corpus.mkdir(parents=True)
    for part in PARTS:
        (corpus / f"{part}.exc").write_text("")
        (corpus / f"data.{part}").write_text(HEADER)
        (corpus / f"index.{part}").write_text(HEADER)
    files = enumerate(("adj.all", "adj.pert", "adv.all", "noun.Tops"))
    (corpus / "lexnames").write_text("".join(f"{number:02d}\t{name}\t1\n" for number, name in files))
    (corpus / "cntlist.rev").write_text("")
    (corpus / "index.sense").write_text("")
    data, where = HEADER, []
    for words in meanings:
        offset = len(data)
        listed = " ".join(f"{word} 0" for word in words)
        data += f"{offset:08d} 03 n {len(words):02x} {listed} 000 | a meaning  \n"
        where += [(word, offset) for word in words]
    (corpus / "data.noun").write_text(data)
    lines = [f"{word} n 1 0 1 0 {offset:08d}  \n" for word, offset in sorted(where)]
    (corpus / "index.noun").write_text(HEADER + "".join(lines))
    return folder
