"""Whether the two sides of a meta-correlation are about texts of the same data set, task, language and systems."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from core.schema.scores import TextOrigin
from core.tables.reading import shown

Aspect = Literal["dataset", "task", "language", "systems"]
_OF: Mapping[Aspect, Callable[[TextOrigin], tuple[str, ...]]] = {
    "dataset": lambda texts: texts.datasets,
    "task": lambda texts: texts.tasks,
    "language": lambda texts: texts.languages,
    "systems": lambda texts: texts.systems,
}
_WORDS: Mapping[Aspect, str] = {
    "dataset": "data set",
    "task": "task",
    "language": "language",
    "systems": "systems",
}
_LANGUAGES = {
    "ar": "Arabic",
    "cs": "Czech",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "ha": "Hausa",
    "he": "Hebrew",
    "hi": "Hindi",
    "is": "Icelandic",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "pt": "Portuguese",
    "ru": "Russian",
    "sk": "Slovak",
    "uk": "Ukrainian",
    "xh": "Xhosa",
    "zh": "Chinese",
    "zu": "Zulu",
}
"""Tag -> name; other tags are shown as they are."""
_MOST_NAMED = 3
UNLIKE_TEXTS = "The number may come from that, not from how well made texts stand in for people's ratings."


@dataclass(frozen=True)
class SideOrigins:
    """What is known of the texts of both sides."""

    human_name: str
    synthetic_name: str
    human: TextOrigin
    synthetic: TextOrigin
    same_items: bool = False
    """Whether all items of one side are items of the other, so that both are of one data set."""

    @property
    def differences(self) -> tuple[Aspect, ...]:
        """What is known of both sides and differs."""
        return tuple(
            aspect
            for aspect, (first, second) in self._values().items()
            if first and second and not _alike(first, second, pairs=aspect == "language")
        )

    @property
    def not_compared(self) -> tuple[Aspect, ...]:
        """What is unknown of a side, so that it may differ or not."""
        return tuple(
            aspect
            for aspect, values in self._values().items()
            if not all(values) and not (aspect == "dataset" and self.same_items)
        )

    @property
    def difference_said(self) -> str:
        """The differences as sentences, to show before the number; empty: none is known."""
        differ = self.differences
        sentences = []
        if any(aspect != "systems" for aspect in differ):
            sentences = [
                f"These sides differ: the human side is {_texts(self.human)}, the synthetic side {_texts(self.synthetic)}.",
                UNLIKE_TEXTS,
            ]
        if "systems" in differ:
            sentences.append(
                f"The systems differ: {_listed(self.human.systems)} on the human side, {_listed(self.synthetic.systems)} "
                "on the synthetic side."
            )
        return " ".join(sentences)

    @property
    def unknown_said(self) -> str:
        """What is unknown of each side, as a sentence; empty: nothing."""
        sides = ((self.human_name, 0), (self.synthetic_name, 1))
        missing = {
            name: [_WORDS[aspect] for aspect in self.not_compared if not self._values()[aspect][place]]
            for name, place in sides
        }
        listed = [
            f"{_listed(words, len(words))} of {shown(name)}" for name, words in missing.items() if words
        ]
        return f"Unknown, so not compared: {'; '.join(listed)}." if listed else ""

    @property
    def said(self) -> tuple[str, ...]:
        """All sentences, to show before the number."""
        return tuple(filter(None, (self.difference_said, self.unknown_said)))

    def _values(self) -> dict[Aspect, tuple[tuple[str, ...], tuple[str, ...]]]:
        return {aspect: (_OF[aspect](self.human), _OF[aspect](self.synthetic)) for aspect in get_args(Aspect)}


def _alike(first: Sequence[str], second: Sequence[str], *, pairs: bool) -> bool:
    """Whether every name of one list is in the other. pairs: a language may be the target of a pair, as far as is known."""
    ours, theirs = ({name.casefold() for name in names} for names in (first, second))

    def match(name: str, other: str) -> bool:
        return name == other or (pairs and (name.endswith(f"-{other}") or other.endswith(f"-{name}")))

    return all(any(match(name, other) for other in theirs) for name in ours) and all(
        any(match(name, other) for other in ours) for name in theirs
    )


def _texts(texts: TextOrigin) -> str:
    """The texts of a side in words: `Czech question answering (data set cus-qa-cs)`."""
    languages = _listed([_language(one) for one in texts.languages], what="language")
    task = _listed(texts.tasks)
    what = task or ("text" if texts.languages else "text of an unknown task and language")
    if len(texts.languages) > _MOST_NAMED:
        what = f"{what} in {languages}"
    elif texts.languages:
        what = f"{languages} {what}"
    return f"{what} (data set {_listed(texts.datasets)})" if texts.datasets else what


def _language(tag: str) -> str:
    return "-".join(_LANGUAGES.get(part, part) for part in tag.split("-"))


def _listed(names: Sequence[str], most: int = _MOST_NAMED, *, what: str = "") -> str:
    """The first names, joined by commas and `and`, and the number of the others. what: what is named, such as `language`."""
    words = [shown(name) for name in names[:most]]
    if (n := len(names) - most) > 0:
        words.append(
            " ".join(
                filter(
                    None,
                    ("one" if what and n == 1 else str(n), "more", what and (what if n == 1 else f"{what}s")),
                )
            )
        )
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
