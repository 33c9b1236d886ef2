"""What Assay ships for the raters of a study: of this version until the study freezes, then the copy in the study."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from core.schema.study import ShippedPart, ShippedText, Study
from core.store import Store
from core.store.studies import read_guidelines, read_shipped, read_wording, write_shipped
from core.study.guidelines import (
    DIFF_MODES,
    LABEL_KEYS,
    LONGEST_LABEL,
    Aids,
    PracticePair,
    blinding_problems,
    guideline_text,
    practice_pairs,
    shipped_aids,
    shipped_guideline,
    shipped_languages,
    shipped_wording,
    wording,
    wording_languages,
)


def shipped_texts(study: Study) -> Iterator[ShippedText]:
    """All that this version ships for the raters of such a study."""
    for language in shipped_languages(study.asks):
        yield ShippedText("guidelines", language, shipped_guideline(language, study.asks))
    for language, texts in shipped_wording().items():
        yield ShippedText("wording", language, _json(texts))
    if study.kind == "pairs":
        yield ShippedText("practice", "", _json([asdict(pair) for pair in _practice_of(study)]))
        yield ShippedText("aids", "", _json(asdict(shipped_aids())))


def copy_shipped(store: Store, study: Study) -> None:
    """Copy into a study what this version ships for its raters, unless it has its copies."""
    with store.writing():
        if not read_shipped(store, study.study_id):
            write_shipped(store, study.study_id, shipped_texts(study))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


_READ: dict[tuple[Path, int, str], dict[str, dict[str, str]]] = {}
"""Copies read by this process. They never change, and a press has no time to read them again."""
_MOST_READ = 256


def _copies(store: Store, study: Study, part: ShippedPart) -> dict[str, str] | None:
    """Language -> copy; None where the study has none, because nobody has voted yet."""
    if study.first_vote_utc is None:
        return None
    key = (store.path, study.study_id, study.first_vote_utc)
    found = _READ.get(key)
    if found is None:
        found = {}
        for one in read_shipped(store, study.study_id):
            found.setdefault(one.part, {})[one.language] = one.text
        if not found:
            return None
        if len(_READ) >= _MOST_READ:
            _READ.clear()
        _READ[key] = found
    return found[part]


def guidelines_read(store: Store, study: Study, language: str) -> str:
    """The guidelines that a rater of `language` reads."""
    own = read_guidelines(store, study.study_id)
    return guideline_text(own, language, study.asks, _copies(store, study, "guidelines"))


def guideline_languages(store: Store, study: Study) -> list[str]:
    """Languages in which the study has guidelines, shipped or written by its owner."""
    copies = _copies(store, study, "guidelines")
    shipped = shipped_languages(study.asks) if copies is None else copies
    return sorted({*shipped, *read_guidelines(store, study.study_id)})


def wording_languages_of(store: Store, study: Study) -> list[str]:
    """Languages in which the study has labels, shipped or written by its owner."""
    copies = _copies(store, study, "wording")
    shipped = shipped_wording() if copies is None else copies
    return sorted({*shipped, *read_wording(store, study.study_id)})


def wording_read(store: Store, study: Study, language: str, *, with_own: bool = True) -> dict[str, str]:
    """Consent text and labels that a rater of `language` reads. with_own: with the texts of the owner."""
    own = read_wording(store, study.study_id) if with_own else {}
    copies = _copies(store, study, "wording")
    if copies is None:
        return wording(own, language)
    wanted = [one for one in wording_languages(language) if one in copies]
    return wording(own, language, {one: _labels(copies[one]) for one in wanted})


@cache
def _labels(text: str) -> Mapping[str, str]:
    labels: dict[str, str] = json.loads(text)
    return labels


def practice_read(store: Store, study: Study) -> tuple[PracticePair, ...]:
    """The practice pairs that raters see; none where they rate single texts."""
    copies = _copies(store, study, "practice")
    return _practice_of(study) if copies is None else _practice(copies[""])


def _practice_of(study: Study) -> tuple[PracticePair, ...]:
    """The practice pairs of this version for such a study."""
    return practice_pairs(study.asks, study.design.rendering)


@cache
def _practice(text: str) -> tuple[PracticePair, ...]:
    return tuple(PracticePair(**entry) for entry in json.loads(text))


def aids_read(store: Store, study: Study) -> Aids:
    """The meanings of levels and the marked differences that raters of pairs see."""
    copies = _copies(store, study, "aids")
    return shipped_aids() if copies is None else _aids(copies[""])


@cache
def _aids(text: str) -> Aids:
    values = json.loads(text)
    return Aids(**values | {"modes": {base: tuple(modes) for base, modes in values["modes"].items()}})


_READERS: Mapping[str, Any] = {
    "wording": dict[str, str],
    "practice": tuple[PracticePair, ...],
    "aids": Aids,
}


def copy_problems(copy: ShippedText) -> Iterator[str]:
    """Why no version of Assay can have shipped a text. It may name a system that is called as one of its words."""
    from pydantic import TypeAdapter, ValidationError  # imported lazily: loads slowly, and no rater needs it

    texts: list[str] = [copy.text]
    if copy.part in _READERS:
        try:
            value = TypeAdapter(_READERS[copy.part]).validate_json(copy.text)
        except ValidationError as invalid:
            yield str(invalid.errors(include_url=False)[0]["msg"])
            return
        if copy.part == "wording":
            texts = list(value.values())
            short = all(0 < len(text) <= LONGEST_LABEL and text.isprintable() for text in texts)
            if not short or not set(LABEL_KEYS) >= set(value):
                yield f"not labels of at most {LONGEST_LABEL} characters"
        elif copy.part == "practice":
            texts = [text for pair in value for text in asdict(pair).values()]
        else:
            texts = list(value.meanings.values())
            if any(
                not modes or not set(DIFF_MODES) >= set(modes) or value.first.get(base) not in modes
                for base, modes in value.modes.items()
            ):
                yield "not modes of marked differences"
    yield from dict.fromkeys(problem for text in texts for problem in blinding_problems(text))
