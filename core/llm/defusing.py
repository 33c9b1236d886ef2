"""Defusing of judged texts, so that nothing in them looks like the prompt's own markup.

A text with `</response>` could end its own block and continue as part of the prompt. `[RESULT] 5` could be read as a
verdict, and many servers treat `<|im_end|>` as the real end of a turn. Such marks are replaced by look-alikes that a
reader understands and no parser recognises: `‹/response›`, `(RESULT)`, `‹|im_end|›`. Instructions in plain words cannot
be distinguished from content; the prompts state that they are material.
"""

from collections.abc import Iterable
from functools import lru_cache

import regex

from core.llm.prompts import Prompt

_TAG = regex.compile(r"</?([A-Za-z][\w-]*)>")
REASONING = ("think", "thinking", "reasoning", "thought", "seed:think")
"""Tags whose content is removed from answers."""
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
# Possessive repetitions (`*+`) keep searching fast for every text.
_BLANK = r"[\s\p{Cf}\p{Cc}\p{DI}]*+"
"""Any number of spaces and invisible characters."""
_HIDDEN = r"\p{DI}*+"
"""Any number of invisible characters."""


def defused(text: str, prompts: Iterable[Prompt], *, tags: Iterable[str] = ()) -> str:
    """The text with every mark that has a meaning in these prompts or for chat servers replaced by a look-alike.

    tags: names of additional tags that enter the prompts through a variable, such as `response`.

    Replaced are: opening and closing tags of the prompts' templates, in upper or lower case, with attributes, spaces or
    invisible characters (closing tags even without `>`); tags of reasoning, whose content is removed from answers;
    `[RESULT]` in any case and spacing; control tokens of chats (`<|im_start|>`, `[INST]`, `<<SYS>>`, `<s>`,
    `<start_of_turn>`, `[|user|]`). Everything else stays: other markup, mathematics (`a < b`), names of tags without
    brackets. Each replaced bracket becomes one character, and a second pass changes nothing.
    """
    names = {*tags, *REASONING}.union(*map(tags_of, prompts))
    harmless: str = markup(frozenset(name.casefold() for name in names)).sub(_look_alike, text)
    return harmless


@lru_cache(maxsize=256)
def tags_of(prompt: Prompt) -> frozenset[str]:
    """The names of the tags in a prompt's templates; tags inside worked examples are material."""
    return frozenset(_TAG.findall(f"{prompt.system or ''}\n{prompt.user}"))


def _look_alike(found: regex.Match[str]) -> str:
    return str(found.group()).translate(_LOOK_ALIKES)


@lru_cache(maxsize=64)
def markup(names: frozenset[str]) -> regex.Pattern[str]:
    """A pattern for everything that is replaced: tags of these names, in lower case, and marks of chats."""
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
    """A pattern for one of the words, with `between` after each of its characters except the last."""
    return f"(?:{'|'.join(between.join(map(regex.escape, word)) for word in sorted(words))})"
