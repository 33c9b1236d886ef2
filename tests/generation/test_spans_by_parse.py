"""Spans from a dependency parse: every rule of 003's appendix A on parses made by hand, then a trained parser."""

from pathlib import Path

import pytest

from core.errors import InputError
from core.generation.factual.spans import find_spans
from core.generation.parse import spans_by_parse

spacy = pytest.importorskip("spacy", reason="spaCy is an extra")
VOCAB = spacy.blank("en").vocab
"""Parses made by hand bring their labels, whatever the language."""


def parse(rows: str):
    """A Doc from lines of `word POS dependency head`, heads counted from 0; `~` glues a word to the next."""
    fields = [line.split() for line in rows.strip().splitlines()]
    return spacy.tokens.Doc(
        VOCAB,
        words=[row[0].rstrip("~") or "~" for row in fields],
        spaces=[not row[0].endswith("~") for row in fields],
        pos=[row[1] for row in fields],
        deps=[row[2] for row in fields],
        heads=[int(row[3]) for row in fields],
    )


def found(rows: str) -> list[tuple[str, str]]:
    return [(span.text, span.kind) for span in spans_by_parse(parse(rows))]


def test_object_and_adverbials_but_not_the_subject() -> None:
    rows = """
        The DET det 1
        government NOUN nsubj 2
        announced VERB ROOT 2
        the DET det 5
        new ADJ amod 5
        policy NOUN dobj 2
        in ADP prep 2
        2021 NUM pobj 6
        with ADP prep 2
        high ADJ amod 10
        confidence NOUN pobj 8
        yesterday ADV advmod 2
    """
    assert found(rows) == [
        ("the new policy", "dobj"),
        ("2021", "pobj"),
        ("high confidence", "pobj"),
        ("yesterday", "advmod"),
    ]


def test_a_relative_clause_inside_the_subject_is_free_and_its_own_subject_is_not() -> None:
    rows = """
        The DET det 2
        senior ADJ amod 2
        researchers NOUN nsubj 8
        whom PRON dobj 5
        Anna PROPN nsubj 5
        joined VERB relcl 2
        in ADP prep 5
        Oslo PROPN pobj 6
        left VERB ROOT 8
        the DET det 10
        room NOUN dobj 8
    """
    assert found(rows) == [("Oslo", "pobj"), ("the room", "dobj")]


def test_conjuncts_take_the_role_of_the_first() -> None:
    rows = """
        Plants NOUN nsubj 1
        need VERB ROOT 1
        water NOUN dobj 1
        , PUNCT punct 2
        light NOUN conj 2
        and CCONJ cc 4
        warm ADJ amod 7
        air NOUN conj 4
    """
    assert found(rows) == [("water", "dobj"), ("light", "dobj"), ("warm air", "dobj")]
    in_subject = """
        Water NOUN nsubj 3
        and CCONJ cc 0
        light NOUN conj 0
        help VERB ROOT 3
    """
    assert found(in_subject) == []


def test_attributes_complements_and_appositions() -> None:
    rows = """
        Oslo PROPN nsubj 1
        is AUX ROOT 1
        the DET det 3
        capital NOUN attr 1
        , PUNCT punct 3
        a DET det 7
        green ADJ amod 7
        city NOUN appos 3
    """
    assert found(rows) == [("the capital", "attr"), ("a green city", "appos")]
    adjective = """
        Rain NOUN nsubj 1
        is AUX ROOT 1
        very ADV advmod 3
        wet ADJ acomp 1
    """
    assert found(adjective) == [("very wet", "acomp")]


def test_numbers_count_outside_the_subject_alone() -> None:
    rows = """
        Three NUM nummod 1
        men NOUN nsubj 2
        walked VERB ROOT 2
        about ADV advmod 4
        forty NUM nummod 5
        miles NOUN npadvmod 2
    """
    assert found(rows) == [("about forty miles", "npadvmod")]
    alone = """
        It PRON nsubj 1
        cost VERB ROOT 1
        exactly ADV advmod 3
        90 NUM dep 1
    """
    assert found(alone) == [("exactly 90", "dep")]


def test_pronouns_questions_words_and_negation_are_no_spans() -> None:
    rows = """
        She PRON nsubj 1
        saw VERB ROOT 1
        him PRON dobj 1
        """
    assert found(rows) == []
    doc = parse("When ADV advmod 1\ncame VERB ROOT 1")
    doc[0].tag_ = "WRB"
    assert spans_by_parse(doc) == ()


def test_no_span_stands_inside_another() -> None:
    rows = """
        They PRON nsubj 1
        found VERB ROOT 1
        a DET det 6
        very ADV advmod 4
        deep ADJ amod 6
        blue ADJ amod 6
        lake NOUN dobj 1
    """
    assert found(rows) == [("a very deep blue lake", "dobj")]


def test_hyphens_hold_a_phrase_together() -> None:
    rows = """
        It PRON nsubj 1
        has VERB ROOT 1
        a DET det 6
        long~ ADJ amod 5
        -~ PUNCT punct 5
        term NOUN compound 6
        goal NOUN dobj 1
    """
    assert found(rows) == [("a long-term goal", "dobj")]


def test_universal_dependencies() -> None:
    rows = """
        Les DET det 1
        usines NOUN nsubj 2
        émettent VERB ROOT 2
        des DET det 4
        gaz NOUN obj 2
        toxiques ADJ amod 4
        dans ADP case 7
        Paris PROPN obl:mod 2
        depuis ADP case 10
        quarante NUM nummod 10
        ans NOUN obl:tmod 2
    """
    assert found(rows) == [
        ("des gaz toxiques", "obj"),
        ("Paris", "obl:mod"),
        ("quarante ans", "obl:tmod"),
    ]
    predicate = """
        Berlin PROPN nsubj:pass 3
        ist AUX cop 3
        die DET det 3
        Hauptstadt NOUN ROOT 3
        von ADP case 5
        Deutschland PROPN nmod 3
    """
    assert found(predicate) == [("die Hauptstadt", "ROOT"), ("Deutschland", "nmod")]


def test_names_behind_their_head_and_relative_clauses_of_universal_dependencies() -> None:
    rows = """
        Der DET det 1
        Mann NOUN nsubj 5
        den PRON obj 4
        Clara PROPN flat 2
        traf VERB acl:relcl 1
        kennt VERB ROOT 5
        Ludwig PROPN obj 5
        van PROPN flat:name 6
        Beethoven PROPN flat:name 6
    """
    assert found(rows) == [("Ludwig van Beethoven", "obj")]


def test_german_labels() -> None:
    rows = """
        Der DET nk 1
        Bauer NOUN sb 2
        verkauft VERB ROOT 2
        frische ADJ nk 4
        Äpfel NOUN oa 2
        und CCONJ cd 4
        Birnen NOUN cj 5
        auf ADP mo 2
        dem DET nk 9
        Markt NOUN nk 7
        gern ADV mo 2
    """
    assert found(rows) == [
        ("frische Äpfel", "oa"),
        ("Birnen", "oa"),
        ("dem Markt", "nk"),
        ("gern", "mo"),
    ]


def test_no_span_crosses_a_line() -> None:
    doc = spacy.tokens.Doc(
        VOCAB,
        words=["We", "saw", "old", "\n", "houses"],
        spaces=[True, True, False, False, False],
        pos=["PRON", "VERB", "ADJ", "SPACE", "NOUN"],
        deps=["nsubj", "ROOT", "amod", "dep", "dobj"],
        heads=[1, 1, 4, 2, 1],
    )
    assert [span.text for span in spans_by_parse(doc)] == ["old", "houses"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tagger and parser that learned three sentences by heart."""
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": {"@architectures": "spacy.HashEmbedCNN.v2", "width": 32, "depth": 2,
        "embed_size": 300, "window_size": 1, "maxout_pieces": 2, "subword_features": True, "pretrained_vectors": None}})  # fmt: skip
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32}
    tagged = {"@architectures": "spacy.Tagger.v2", "nO": None, "tok2vec": listener}
    parsed = {
        "@architectures": "spacy.TransitionBasedParser.v2", "state_type": "parser", "extra_state_tokens": False,
        "hidden_width": 32, "maxout_pieces": 2, "use_upper": True, "nO": None, "tok2vec": listener,
    }  # fmt: skip
    nlp.add_pipe("morphologizer", config={"model": tagged})
    nlp.add_pipe("parser", config={"model": parsed, "min_action_freq": 1})
    rows = [
        (["Bees", "make", "sweet", "honey", "in", "spring", "."], ["NOUN", "VERB", "ADJ", "NOUN", "ADP", "NOUN", "PUNCT"],
         ["nsubj", "ROOT", "amod", "dobj", "prep", "pobj", "punct"], [1, 1, 3, 1, 1, 4, 1]),
        (["Cows", "give", "fresh", "milk", "in", "summer", "."], ["NOUN", "VERB", "ADJ", "NOUN", "ADP", "NOUN", "PUNCT"],
         ["nsubj", "ROOT", "amod", "dobj", "prep", "pobj", "punct"], [1, 1, 3, 1, 1, 4, 1]),
    ]  # fmt: skip
    examples = []
    for words, pos, deps, heads in rows:
        gold = spacy.tokens.Doc(nlp.vocab, words=words, pos=pos, deps=deps, heads=heads)
        examples.append(Example(spacy.tokens.Doc(nlp.vocab, words=words), gold))
    spacy.util.fix_random_seed(0)
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    nlp.meta["name"], nlp.meta["version"] = "tiny", "1.2.3"
    path = tmp_path_factory.mktemp("model") / "en_tiny"
    nlp.to_disk(path)
    return path


def test_a_trained_pipeline_named_by_its_path(trained: Path) -> None:
    spans, by = find_spans("Bees make sweet honey in spring.", "en", str(trained))
    assert by == "spacy en_tiny 1.2.3"
    assert [(span.text, span.kind) for span in spans] == [("sweet honey", "dobj"), ("spring", "pobj")]
    assert all("Bees make sweet honey in spring."[s.start : s.end] == s.text for s in spans)


def test_a_parser_that_is_not_there_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Parser en_none_such cannot be used") as caught:
        find_spans("Some text.", "en", "en_none_such")
    assert "choose `auto` or `rules`" in str(caught.value)
    blank = tmp_path / "blank"
    spacy.blank("en").to_disk(blank)
    with pytest.raises(InputError, match="no dependency parser"):
        find_spans("Some text.", "en", str(blank))


def test_auto_without_a_model_of_the_language_falls_back_to_rules() -> None:
    assert find_spans("Hǫfn er bær frá 1897.", "is")[1] == "rules"
