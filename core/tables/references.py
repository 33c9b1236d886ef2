"""Which systems of a file are references, by their names."""

import regex

OF_REFERENCE = "belongs to a reference, not a system"
_REFERENCE = regex.compile(r"(synthetic[_-]?)?ref(erence)?([_-]?[A-Za-z0-9])?", regex.IGNORECASE)


def names_reference(system: str) -> bool:
    """Whether a system's name looks like a reference's: refA, synthetic_ref, reference."""
    return _REFERENCE.fullmatch(system) is not None
