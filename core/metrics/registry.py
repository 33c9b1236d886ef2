"""All metrics by name. `find_metrics` turns what a user typed into configurations."""

import re
from collections.abc import Sequence
from functools import lru_cache

from core.errors import InputError, nearest_names
from core.metrics.lexical.scorer import LEXICAL_FAMILIES
from core.metrics.neural.scorer import NEURAL_FAMILIES
from core.metrics.scorer import Group, MetricSpec

GROUPS = ("lexical", "neural", "all")
"""What stands for several metrics: 000's 16, its 12, its 28."""


def all_metrics() -> tuple[MetricSpec, ...]:
    """Every configuration there is: the 28 of 000 first, in the order of its tables."""
    everything = [spec for family in LEXICAL_FAMILIES.values() for spec in family.specs]
    everything += [spec for family in NEURAL_FAMILIES.values() for spec in family.specs]
    return tuple(sorted(everything, key=lambda spec: not spec.of_paper))


def metrics_of(group: Group) -> tuple[MetricSpec, ...]:
    """Every configuration of a group, those beyond the paper too."""
    return tuple(spec for spec in all_metrics() if spec.group == group)


def find_metrics(names: Sequence[str]) -> tuple[MetricSpec, ...]:
    """Configurations by name, alias, or group: `lexical` and `neural` are 000's 16 and 12, `all` its 28.

    In the order asked for, each once. Raises InputError with all unknown names, each with the names nearest to it.
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
        raise InputError("These metrics are not known", unknown)
    return tuple(found.values())


def canonical_name(written: str) -> str | None:
    """The name of the metric that goes by this name or alias; None: there is none.

    Case, spaces, punctuation, `device=...` and the order of arguments do not matter, nor whether a number ends in `.0`
    or Greek letters are spelled out: `METEOR α: 0.2, γ: 0.0` is `meteor-a0.2-g0`. Arguments stand in parentheses or, as
    in Meta-Judge's files, behind an underscore: `chrf_char_order=6,word_order=0` is `chrf(char_order=6, word_order=0)`.
    """
    return _names_by_key((*LEXICAL_FAMILIES, *NEURAL_FAMILIES)).get(_key(written))


@lru_cache(maxsize=1)
def _names_by_key(_: tuple[str, ...]) -> dict[str, str]:
    """Names win over aliases; an alias that two metrics claim stands for neither. Made anew for other families."""
    specs = all_metrics()
    aliases: dict[str, set[str]] = {}
    for spec in specs:
        for alias in spec.aliases:
            aliases.setdefault(_key(alias), set()).add(spec.metric.name)
    known = {key: next(iter(names)) for key, names in aliases.items() if len(names) == 1}
    return known | {_key(spec.metric.name): spec.metric.name for spec in specs}


@lru_cache(maxsize=4096)
def _key(written: str) -> str:
    """What is compared: letters, digits, points inside numbers and plus signs, arguments sorted."""
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
    """The names that look most like it, for a message."""
    near = nearest_names(written, [*(spec.metric.name for spec in all_metrics()), *GROUPS])
    if not near:
        return f"groups are {', '.join(GROUPS)}"
    return f"nearest: {', '.join(near)}"
