"""Where the files that belong to a database lie."""

from pathlib import Path


def key_path(database: Path) -> Path:
    """Path of the key file, from which a database's personal links are made."""
    return database.with_name(database.name + ".key")


def folders_of(database: Path) -> Path:
    """The folder that holds the folders of a database's runs, whether it exists or not."""
    return database.with_name(f"{database.name}.d")
