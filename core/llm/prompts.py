"""Prompts: what is sent to a model, read from YAML files that people write.

Each file is for one purpose (see `core.llm.prompt_files.USES`). Those that Assay ships stand in `prompts/`,
whose README explains every field. A record keeps `Prompt.sha256`, a run keeps `Prompt.dump()`.
"""

import contextlib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from string import Template

from core.errors import InputError
from core.llm.client import Message
from core.llm.prompt_bases import SHIPPED, is_file_name, merged_fields, shipped_path
from core.llm.prompt_checks import problems_of
from core.llm.prompt_files import LADDER, LEVELS, USES, PromptFile, Use
from core.yaml_fields import dumped, read_each, refuse, text_of


@dataclass(frozen=True)
class Example:
    """A worked example: what is asked, and the answer that is wanted."""

    variables: tuple[tuple[str, str], ...]
    answer: str


@dataclass(frozen=True)
class Prompt:
    """What a model is told for one purpose, complete and checked."""

    name: str
    title: str
    """Short, for menus."""
    purpose: str
    """One of PURPOSES."""
    task: str | None
    """What is damaged: qa, qa-passage, summary or translation; None for the other purposes."""
    shots: str
    """`zero`, or `few` where worked examples come first."""
    paper: str
    section: str
    differences: str
    """What is done otherwise than in the paper."""
    system: str | None
    """The same for every item; None: there is no system turn."""
    user: str
    ladder: tuple[str, ...] = ()
    """What the levels 0 to 5 mean; empty for purposes that have no levels."""
    examples: tuple[Example, ...] = ()

    @property
    def use(self) -> Use:
        """What a caller gives to this prompt and gets back."""
        return USES[self.purpose, self.task]

    @property
    def variables(self) -> tuple[str, ...]:
        """What `messages` takes: all that the purpose offers, whether this prompt uses it or not."""
        return self.use.offered

    def messages(self, **variables: str | int) -> tuple[Message, ...]:
        """The turns to send. Values stand in them as they are: a `$` in a value means nothing.

        Raises TypeError unless exactly `self.variables` are given, each a text or a whole number.
        """
        if missing := [name for name in self.variables if name not in variables]:
            raise TypeError(f"prompt {self.name} lacks {', '.join(missing)}")
        if extra := [name for name in variables if name not in self.variables]:
            raise TypeError(f"prompt {self.name} knows no {', '.join(extra)}")
        for name, value in variables.items():
            if not isinstance(value, str | int) or isinstance(value, bool):
                raise TypeError(f"prompt {self.name}: {name} is {value!r}, no text and no whole number")
        return (*self.opening, self._turn(variables))

    @cached_property
    def opening(self) -> tuple[Message, ...]:
        """The turns before the item's own: alike in every request, so that a server computes them once."""
        turns: list[Message] = []
        if self.system is not None:
            turns.append(Message("system", _filled(self.system, {LADDER: self.rendered_ladder})))
        for example in self.examples:
            turns += [self._turn(dict(example.variables)), Message("assistant", example.answer)]
        return tuple(turns)

    @property
    def rendered_ladder(self) -> str:
        """The levels as they stand in the place of `$ladder`."""
        return "\n".join(f"Level {level}: {text}" for level, text in zip(LEVELS, self.ladder, strict=False))

    @cached_property
    def sha256(self) -> str:
        """Of all that reaches the model; name, title, source and the way the file is written do not count."""
        # No text of a file holds U+0000, so these stand-ins cannot be mistaken for one.
        stand_ins = {name: f"\0{name}\0" for name in self.variables}
        turns = [[turn.role, turn.content] for turn in (*self.opening, self._turn(stand_ins))]
        canonical = json.dumps(turns, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def dump(self) -> str:
        """The prompt as one file that needs no other: parse_prompt reads it to the same sha256."""
        fields: dict[str, object] = {"name": self.name, "title": self.title, "purpose": self.purpose}
        fields |= {} if self.task is None else {"task": self.task}
        fields |= {"shots": self.shots}
        fields |= {"source": {"paper": self.paper, "section": self.section, "differences": self.differences}}
        fields |= {} if not self.ladder else {"ladder": dict(zip(LEVELS, self.ladder, strict=True))}
        fields |= {} if self.system is None else {"system": self.system}
        fields |= {"user": self.user}
        if self.examples:
            fields["examples"] = [{"variables": dict(e.variables), "answer": e.answer} for e in self.examples]
        return dumped(fields)

    def _turn(self, variables: Mapping[str, str | int]) -> Message:
        return Message("user", _filled(self.user, {**variables, LADDER: self.rendered_ladder}))


def _filled(template: str, values: Mapping[str, str | int]) -> str:
    return Template(template).substitute(values)


def parse_prompt(text: str, file_name: str, folder: Path | None = None) -> Prompt:
    """The prompt that a file's text describes. Raises InputError with every problem found.

    folder: where a file named in `based_on` is looked for; None: only shipped prompts can be named there.
    """
    own = () if folder is None else ((folder / file_name).resolve(),)
    fields, written, problems = merged_fields(text, folder, own)
    problems += problems_of(fields, written)
    if problems:
        refuse(f"Prompt {file_name}", problems)
    return _prompt(fields)


def _prompt(fields: PromptFile) -> Prompt:
    """The prompt that checked fields make."""
    assert fields.name is not None
    assert fields.title is not None
    assert fields.purpose is not None
    assert fields.shots is not None
    assert fields.source is not None
    assert fields.user is not None
    ladder = fields.ladder or {}
    return Prompt(
        name=fields.name,
        title=fields.title,
        purpose=fields.purpose,
        task=fields.task,
        shots=fields.shots,
        paper=fields.source.paper,
        section=fields.source.section,
        differences=fields.source.differences,
        system=fields.system,
        user=fields.user,
        ladder=tuple(ladder[level] for level in sorted(ladder)),
        examples=tuple(Example(tuple(e.variables.items()), e.answer) for e in fields.examples or ()),
    )


def load_prompt(path: Path | str) -> Prompt:
    """The prompt in a file. Raises InputError with every problem found."""
    path = Path(path)
    return parse_prompt(text_of(path), path.name, path.parent)


def shipped_prompts(purpose: str | None = None, task: str | None = None) -> tuple[Prompt, ...]:
    """Every usable prompt in `prompts/`, the files that somebody put there included; zero-shot before few-shot.

    A list of them says which files cannot be used: see unusable_prompts.
    """
    prompts, _ = _all_shipped(_stats())
    return tuple(p for p in prompts if purpose in (None, p.purpose) and (task is None or p.task == task))


def unusable_prompts() -> tuple[str, ...]:
    """A line for each file in `prompts/` that cannot be used, with the first reason; `find_prompt` names all of them."""
    return _all_shipped(_stats())[1]


def _stats() -> tuple[tuple[str, int, int], ...]:
    """What is read is kept as long as no file changes, so that a page sees a new file without a restart."""
    found = []
    for path in sorted(SHIPPED.glob("*.yaml")):
        with contextlib.suppress(OSError):  # removed since, or a link to nowhere
            stat = path.stat()
            found.append((path.name, stat.st_mtime_ns, stat.st_size))
    return tuple(found)


@lru_cache(maxsize=1)
def _all_shipped(files: tuple[tuple[str, int, int], ...]) -> tuple[tuple[Prompt, ...], tuple[str, ...]]:
    prompts, unusable = read_each([SHIPPED / name for name, _, _ in files], _shipped)
    uses = list(USES)
    prompts.sort(key=lambda p: (uses.index((p.purpose, p.task)), p.shots == "few", p.name))
    return tuple(prompts), unusable


def _shipped(path: Path) -> Prompt:
    prompt = load_prompt(path)
    if prompt.name != path.stem:
        raise InputError(
            f"name: is {prompt.name}; in prompts/ a file is called after its prompt: {prompt.name}.yaml"
        )
    return prompt


def find_prompt(name_or_path: str, purpose: str | None = None, task: str | None = None) -> Prompt:
    """A shipped prompt by name, else the prompt in a file; refused unless it is for this purpose and task."""
    if is_file_name(name_or_path):
        found = load_prompt(name_or_path)
    elif (path := shipped_path(name_or_path)) is not None:
        found = _shipped(path)
    else:
        names = ", ".join(p.name for p in shipped_prompts(purpose, task) or shipped_prompts())
        raise InputError(
            f"There is no prompt {name_or_path}: give one of {names}, or the path of a .yaml file",
            unusable_prompts(),
        )
    return for_use(found, purpose or found.purpose, task, name_or_path)


def for_use(prompt: Prompt, purpose: str, task: str | None = None, called: str = "") -> Prompt:
    """The prompt; refused unless it is for this purpose and, where one is named, this task. called: as a user did."""
    if prompt.purpose != purpose or task not in (None, prompt.task):
        wanted, given = _use_name(purpose, task), _use_name(prompt.purpose, prompt.task)
        raise InputError(f"Prompt {called or prompt.name} is for {given}; one for {wanted} is needed")
    return prompt


def _use_name(purpose: str, task: str | None) -> str:
    return purpose if task is None else f"{purpose} ({task})"
