"""Texts to be scored that are no file yet."""

from pathlib import Path

from core.formats.registry import read_texts
from core.sources.texts import texts_of_folder


def test_a_folders_texts_are_there_whatever_is_the_matter_with_its_scores(tmp_path: Path) -> None:
    for name, text in (
        ("sources/en-de.txt", "One.\n"),
        ("system-outputs/en-de/A.txt", "Eins.\n"),
        ("metric-scores/en-de/chrF-refA.seg.score", "A\tbad\n"),
        ("human-scores/en-de.mqm.seg.score", "B\t-1\n"),
    ):
        path = tmp_path / "set" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (data, name), notes = texts_of_folder(tmp_path / "set", "en-de")
    assert name == "set-en-de.jsonl"
    assert [one.text for one in read_texts(data, name).outputs] == ["Eins."]
    assert notes == ("no reference: metrics that need one cannot score the texts",)
