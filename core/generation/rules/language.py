"""The language whose word lists fit a text."""

from functools import lru_cache

import regex

from core.generation.rules.gazetteer import gazetteer, languages
from core.generation.rules.script import main_script
from core.schema import Material

_BY_SCRIPT = {"CYRILLIC": "ru", "ARABIC": "ar", "HEBREW": "he", "DEVANAGARI": "hi"}
_LEAST_HITS = 2
"""Function words that a text needs before a language is believed."""


def language_of(material: Material) -> str:
    """The item's language; where the file names none (`und`), the best guess among the languages with lists."""
    tag = material.item.language.split("-")[0].lower()
    return guess_language(f"{material.item.question} {material.item.reference}") if tag == "und" else tag


@lru_cache(maxsize=4096)
def guess_language(text: str) -> str:
    """By script, and in Latin script by the function words that other languages do not have."""
    script = main_script(text)
    if script == "CJK":
        return "ja" if regex.search(r"[\p{Hiragana}\p{Katakana}]", text) else "zh"
    if script != "LATIN":
        return _BY_SCRIPT.get(script, "und")
    words = set(regex.findall(r"\p{L}+", text.lower()))
    hits = {
        name: len(
            words & (gazetteer(name).words.get("stop", frozenset()) | gazetteer(name).words["prepositions"])
        )
        for name in languages()
        if name in ("de", "en", "es", "fr")
    }
    best = max(sorted(hits), key=lambda name: hits[name]) if hits else "und"
    return best if hits and hits[best] >= _LEAST_HITS else "und"
