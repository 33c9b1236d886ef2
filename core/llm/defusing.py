"""Texts that are judged, made harmless: nothing in them can pass for the prompt's own marks.

A text that holds `</response>` could end its own block and go on as if it were the prompt, `[RESULT] 5` could be
read back as a verdict, and `<|im_end|>` is for many servers the real end of a turn. Such marks become look-alikes
that a reader understands and no machine takes for the mark: `‹/response›`, `(RESULT)`, `‹|im_end|›`. Requests in
plain words cannot be told from content: the prompts say that they are material.
"""

from collections.abc import Iterable
from functools import lru_cache

import regex

from core.llm.prompts import Prompt

_TAG = regex.compile(r"</?([A-Za-z][\w-]*)>")
_REASONING = ("think", "thinking", "reasoning", "thought", "seed:think")
_TURNS = (
    *("s", "bos", "eos", "sop", "eop", "unk", "pad", "start_of_turn", "end_of_turn", "start_of_image"),
    *("end_of_image", "tool_call", "tool_response", "seed:bos", "seed:eos", "seed:tool_call"),
)
_BRACKETED = (
    *("RESULT", "INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS"),
    *("THINK", "gMASK", "sMASK"),
)
_PIPED = ("system", "user", "assistant", "human", "tool", "endofturn", "endofturns")
_LOOK_ALIKES = str.maketrans("<>[]", "‹›()")
# Repetitions never give back what they took (`*+`), so that no text takes long to search.
_BLANK = r"[\s\p{Cf}\p{Cc}\p{DI}]*+"
"""Blanks and characters that nobody sees, as many as there are."""
_HIDDEN = r"\p{DI}*+"
"""Only those that nobody sees."""


def defused(text: str, prompts: Iterable[Prompt], *, tags: Iterable[str] = ()) -> str:
    """The text with every mark that means something in these prompts, or to a chat server, as a look-alike.

    tags: names of further tags, which stand in the prompts by way of a variable, such as `response`.

    Marks are: the tags of the prompts' templates, opening or closing, in any case, with attributes, with blanks or
    invisible characters in them (closing ones even where their `>` is missing); tags of reasoning, because answers
    are read without what stands in them; `[RESULT]` in any case and spacing; control tokens of chats
    (`<|im_start|>`, `[INST]`, `<<SYS>>`, `<s>`, `<start_of_turn>`, `[|user|]`). All else stays: other markup, mathematics
    (`a < b`), the names of tags without their brackets. Only brackets are exchanged, each for one character; done
    twice it changes nothing more.
    """
    names = {*tags, *_REASONING}.union(*map(tags_of, prompts))
    harmless: str = _marks(frozenset(name.casefold() for name in names)).sub(_look_alike, text)
    return harmless


@lru_cache(maxsize=256)
def tags_of(prompt: Prompt) -> frozenset[str]:
    """The names of the tags in a prompt's own templates; those inside worked examples are material."""
    return frozenset(_TAG.findall(f"{prompt.system or ''}\n{prompt.user}"))


def _look_alike(found: regex.Match[str]) -> str:
    return str(found.group()).translate(_LOOK_ALIKES)


@lru_cache(maxsize=64)
def _marks(names: frozenset[str]) -> regex.Pattern[str]:
    """Everything that is exchanged."""
    tag = _any_of(names, _BLANK)
    attributes = rf"[\s\p{{Cf}}]{_BLANK}[\w:.-]++{_BLANK}=[^<>]{{0,300}}+"
    return regex.compile(
        "|".join(
            (
                rf"<{_BLANK}/{_BLANK}{tag}(?!(?!\p{{DI}})[\w-])(?:{_BLANK}>)?",
                rf"<{_BLANK}{tag}(?:{_BLANK}/?{_BLANK}|{attributes})>",
                rf"<{_HIDDEN}/?{_HIDDEN}{_any_of(_TURNS, _HIDDEN)}{_HIDDEN}>",
                rf"<<{_BLANK}/?{_BLANK}{_any_of(['SYS'], _HIDDEN)}{_BLANK}>>",
                rf"<{_HIDDEN}[|｜][ \t\p{{DI}}]*+/?[\p{{L}}_][^<>|｜\n]{{0,60}}+[|｜]{_HIDDEN}>",
                rf"\[{_HIDDEN}[|｜]{_BLANK}{_any_of(_PIPED, _HIDDEN)}{_BLANK}[|｜]{_HIDDEN}\]",
                rf"\[{_BLANK}/?{_BLANK}{_any_of(_BRACKETED, _BLANK)}{_BLANK}\]",
            )
        ),
        regex.IGNORECASE,
    )


def _any_of(words: Iterable[str], between: str) -> str:
    """One of the words, with anything of `between` after each of their characters but the last."""
    return f"(?:{'|'.join(between.join(map(regex.escape, word)) for word in sorted(words))})"
