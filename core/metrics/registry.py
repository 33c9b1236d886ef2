"""All metrics by name; `find_metrics` turns a user's input into configurations."""

import re
from collections.abc import Sequence
from functools import lru_cache

from core.errors import InputError, nearest_names
from core.metrics.lexical.scorer import LEXICAL_FAMILIES
from core.metrics.neural.scorer import NEURAL_FAMILIES
from core.metrics.scorer import Group, MetricSpec

GROUPS = ("lexical", "neural", "all")
"""Names for several metrics: Meta-Judge's 16 lexical ones, its 12 neural ones, all its 28."""


def all_metrics() -> tuple[MetricSpec, ...]:
    """Every configuration, Meta-Judge's 28 first, in the order of its tables."""
    everything = [spec for family in LEXICAL_FAMILIES.values() for spec in family.specs]
    everything += [spec for family in NEURAL_FAMILIES.values() for spec in family.specs]
    return tuple(sorted(everything, key=lambda spec: not spec.of_paper))


def metrics_of(group: Group) -> tuple[MetricSpec, ...]:
    """Every configuration of a group, including those beyond Meta-Judge's."""
    return tuple(spec for spec in all_metrics() if spec.group == group)


def find_metrics(names: Sequence[str]) -> tuple[MetricSpec, ...]:
    """Configurations by name, alias or group: `lexical` and `neural` are Meta-Judge's 16 and 12, `all` its 28.

    Each configuration once, in the given order. InputError lists all unknown names, each with similar ones.
    """
    by_name = {spec.metric.name: spec for spec in all_metrics()}
    found: dict[str, MetricSpec] = {}
    unknown = []
    for written in names:
        group = written.strip().casefold()
        if group in GROUPS:
            found |= {
                name: spec for name, spec in by_name.items() if spec.of_paper and group in (spec.group, "all")
            }
        elif (name := canonical_name(written)) is not None:
            found[name] = by_name[name]
        else:
            unknown.append(f"{written!r} is unknown ({_nearest(written)})")
    if unknown:
        raise InputError("Unknown metrics", unknown)
    return tuple(found.values())


def canonical_name(written: str) -> str | None:
    """The metric's name for a name or alias; None if there is no such metric.

    Ignores case, spaces, punctuation, `device=...`, the order of arguments, a final `.0`, and whether Greek letters are
    spelled out: `METEOR α: 0.2, γ: 0.0` is `meteor-a0.2-g0`. Arguments are in parentheses or, as in Meta-Judge's files,
    after an underscore: `chrf_char_order=6,word_order=0` is `chrf(char_order=6, word_order=0)`.
    """
    return _names_by_key((*LEXICAL_FAMILIES, *NEURAL_FAMILIES)).get(_key(written))


@lru_cache(maxsize=1)
def _names_by_key(_: tuple[str, ...]) -> dict[str, str]:
    """Key -> metric's name. Names win over aliases; an alias of two metrics is dropped. Cached by the families' names."""
    specs = all_metrics()
    aliases: dict[str, set[str]] = {}
    for spec in specs:
        for alias in spec.aliases:
            aliases.setdefault(_key(alias), set()).add(spec.metric.name)
    known = {key: next(iter(names)) for key, names in aliases.items() if len(names) == 1}
    return known | {_key(spec.metric.name): spec.metric.name for spec in specs}


@lru_cache(maxsize=4096)
def _key(written: str) -> str:
    """The part of a name to compare: letters, digits, points inside numbers and plus signs, with sorted arguments."""
    plain = written.casefold().replace("α", "alpha").replace("β", "beta").replace("γ", "gamma")
    plain = re.sub(r"(?<![\w.])(\d+)\.0+(?![\w.])", r"\1", plain)
    called = re.fullmatch(r"([^()]*)\((.*)\)\W*", plain, re.DOTALL) or re.fullmatch(
        r"([a-z]+)_(\w+=.*)", plain, re.DOTALL
    )
    if called:
        arguments = (part.strip() for part in called[2].split(","))
        kept = sorted(part for part in arguments if not re.match(r"device\s*=", part))
        plain = ",".join((called[1], *kept))
    else:
        plain = re.sub(r"[,;\s]*\bdevice\s*=\s*[^,;)]*", "", plain)
    return re.sub(r"(?<!\d)\.|\.(?!\d)|[^\w.+]|_", "", plain)


def _nearest(written: str) -> str:
    """The most similar names, for a message."""
    near = nearest_names(written, [*(spec.metric.name for spec in all_metrics()), *GROUPS])
    if not near:
        return f"groups are {', '.join(GROUPS)}"
    return f"nearest: {', '.join(near)}"
