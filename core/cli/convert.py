"""`convert`: convert ratings and marked errors to another format."""

import argparse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from core.cli.shared.options import (
    Commands,
    add_columns_option,
    add_database_option,
    add_pair_option,
    check_columns,
    check_options,
    check_out,
    print_notes,
)
from core.cli.shared.running import telling
from core.cli.shared.sources import reading_of, single
from core.errors import InputError
from core.formats.mt_metrics_eval import write_seg_rating, write_seg_score
from core.formats.rated import outputs_of, rated_of, ratings_of, write_rated
from core.formats.registry import has_spans_alone, read_ratings, read_spans, read_with_texts
from core.formats.spans.cells import UNITS
from core.formats.spans.mqm import write_mqm
from core.formats.spans.rows import ENDS, write_span_rows_csv, write_span_rows_jsonl
from core.formats.spans.wmt_qe import write_wmt_qe
from core.joining.choices import check_names
from core.schema.scores import OutputSet, RatedSet, Rating, RatingSet
from core.sources.named import FileSource, FolderSource, parse_source
from core.sources.spans import SPAN_MEANING, SPAN_NAMES, spans_of
from core.sources.texts import notes_of, rated_texts_of_source, texts_of
from core.store import database_path
from core.tables.files import write_file
from core.tables.reading import shown


@dataclass(frozen=True)
class _Given:
    """Ratings, with the rated texts if they are known."""

    ratings: RatingSet
    texts: OutputSet | None

    @cached_property
    def rated(self) -> RatedSet:
        """The texts with their ratings. Raises InputError if no rating belongs to one of the texts."""
        assert self.texts is not None, "formats that contain texts are refused without texts"
        rated = rated_of(self.texts, self.ratings)
        if not any(text.ratings for text in rated.texts):
            raise InputError(
                "--texts: no rating matches a text. Items, systems and levels must have the same names in both files."
            )
        return rated


@dataclass(frozen=True)
class _Form:
    """A format of ratings: what it contains, and how it is written."""

    write: Callable[[_Given], bytes]
    of_errors: bool = True
    """Whether the format contains marked errors only, without scores."""
    with_texts: bool = False
    no_place: str = ""
    """What the format cannot contain; empty if it loses nothing."""


_OF_MT = "texts, raters, levels and labels"
_FORMS: Mapping[str, _Form] = {
    "mqm": _Form(
        lambda given: write_mqm(given.rated.texts),
        with_texts=True,
        no_place="scores, levels, labels other than the document",
    ),
    "seg-rating": _Form(
        lambda given: write_seg_rating(given.ratings, n_segments=_n_segments(given.texts)), no_place=_OF_MT
    ),
    "seg-score": _Form(
        lambda given: write_seg_score(given.ratings, n_segments=_n_segments(given.texts)),
        of_errors=False,
        no_place=f"errors, {_OF_MT}; a score is the mean over raters",
    ),
    "wmt-qe": _Form(
        lambda given: write_wmt_qe(given.rated.texts),
        with_texts=True,
        no_place="categories, scores, errors in the source, levels, labels other than the document",
    ),
    "spans-csv": _Form(lambda given: write_span_rows_csv(given.ratings), no_place="texts"),
    "spans-jsonl": _Form(lambda given: write_span_rows_jsonl(given.ratings), no_place="texts"),
    "rated": _Form(lambda given: write_rated(given.rated.texts), of_errors=False, with_texts=True),
}


def add_to(nouns: Commands) -> None:
    """Register `convert`."""
    command = nouns.add_parser("convert")
    command.add_argument(
        "given",
        metavar=SPAN_NAMES,
        help=f"{SPAN_MEANING}; for seg-score and rated also ratings without errors: a table, .seg.score, METAL's JSON",
    )
    command.add_argument(
        "--to", required=True, choices=list(_FORMS), help="format to write; docs/formats.md describes each"
    )
    command.add_argument("--out", type=Path, required=True, metavar="FILE", help="file to write")
    command.add_argument(
        "--texts", metavar="FILE|FOLDER", help="the rated texts, if they are in another file"
    )
    command.add_argument(
        "--ratings", metavar="NAME", help="which rating set to read when the folder has several, e.g. mqm"
    )
    add_pair_option(command)
    add_columns_option(command, several=True)
    command.add_argument("--dimension", metavar="D", help="only ratings on this dimension")
    command.add_argument("--rater", metavar="NAME", help="only ratings by this rater")
    command.add_argument(
        "--units", choices=UNITS, default=UNITS[0], help="unit of the file's offsets (default %(default)s)"
    )
    command.add_argument(
        "--ends",
        choices=ENDS,
        default=ENDS[0],
        help="exclusive: an end offset is the position after the last character; inclusive: the position of the last character (default %(default)s)",
    )
    command.add_argument(
        "--flip", metavar="D,D", help="for METAL's JSON: dimensions in which 1 means bad, e.g. H,PC"
    )
    add_database_option(command)
    command.set_defaults(run=_convert)


def _convert(options: argparse.Namespace) -> None:
    form, out = _FORMS[options.to], options.out
    check_out(out, database_path(options.db), [options.given, options.texts, *_output_in_folder(options)])
    check_columns(options, [options.given, options.texts])
    with telling("reading the ratings") as tell:
        given, notes = _ratings_to_write(options, form)
        tell("writing the ratings")
        write_file(out, form.write(given))
    print_notes(dict.fromkeys([*notes, *([f"not in this format: {form.no_place}"] if form.no_place else [])]))
    print(out)


def _ratings_to_write(options: argparse.Namespace, form: _Form) -> tuple[_Given, list[str]]:
    """Return the ratings to write, and notes on them."""
    given = _chosen(_given(options, form), options)
    if form.with_texts and given.texts is None:
        raise InputError(
            f"--texts is missing: {options.to} needs the texts, and the ratings do not contain them."
        )
    n_unmarked = 0
    if form.of_errors:
        given, n_unmarked = _marked_alone(given)
    left_out = [f"left out, {why}: {n:,}" for why, n in given.ratings.left_out.items()]
    notes = list(notes_of(given.rated)) if form.with_texts else [*given.ratings.notes, *left_out]
    return given, notes + ([f"left out, ratings without marked errors: {n_unmarked:,}"] if n_unmarked else [])


def _output_in_folder(options: argparse.Namespace) -> list[Path]:
    """Return the output file if it already exists inside a folder that the command reads."""
    folders = [Path(one).resolve() for one in (options.given, options.texts) if one and Path(one).is_dir()]
    there = options.out.exists() and any(folder in options.out.resolve().parents for folder in folders)
    return [options.out] if there else []


def _given(options: argparse.Namespace, form: _Form) -> _Given:
    """Read the ratings with their texts. Raises InputError, also for options that do not apply."""
    source = parse_source(options.given)
    problems = []
    if options.ratings is not None and not isinstance(source, FolderSource):
        problems.append("--ratings: only for a folder; leave it out")
    if not isinstance(source, FileSource):
        ours = (options.units, options.ends) == (UNITS[0], ENDS[0])
        problems += [] if ours else ["--units, --ends: only for a file; leave them out"]
        problems += [] if options.flip is None else ["--flip: only for METAL's JSON; leave it out"]
    check_options(problems)
    if isinstance(source, FileSource):
        return _read_file(source, options, form)
    found = spans_of(source, reading_of(options, ratings=options.ratings, ratings_called="--ratings"))
    if options.texts is not None and found.texts is not None:
        raise InputError(f"--texts: {shown(options.given)} already contains the texts; leave the option out.")
    return _Given(single(found, "one file cannot contain them"), found.texts or _texts(options))


def _read_file(source: FileSource, options: argparse.Namespace, form: _Form) -> _Given:
    reading = reading_of(options)
    data, name, flip = reading.table(source), source.name, reading.flip
    ours = (options.units, options.ends) == (UNITS[0], ENDS[0])
    if ours and (rated := read_with_texts("ratings", data, name, flip=flip)) is not None:
        if options.texts is not None:
            raise InputError(f"--texts: {shown(name)} already contains the texts; leave the option out.")
        if not any(text.ratings for text in rated.texts):
            raise InputError(f"{shown(name)} contains texts, but no ratings.")
        return _Given(ratings_of(rated), outputs_of(rated))
    texts = _texts(options)
    if not flip and (form.of_errors or not ours or has_spans_alone(data, name)):
        return _Given(read_spans(data, name, texts, units=options.units, ends=options.ends), texts)
    return _Given(read_ratings(data, name, flip=flip), texts)


def _texts(options: argparse.Namespace) -> OutputSet | None:
    """Return the rated texts if `--texts` names them."""
    if options.texts is None:
        return None
    source, reading = parse_source(options.texts), reading_of(options)
    if isinstance(source, FolderSource):
        return texts_of(source, reading)
    return outputs_of(rated_texts_of_source(source, reading))


def _chosen(given: _Given, options: argparse.Namespace) -> _Given:
    """Select the ratings of `--rater` and `--dimension`. Raises InputError if the format needs one that is missing."""
    ratings = given.ratings.ratings
    dimensions = list(dict.fromkeys(one.dimension for one in ratings))
    if options.dimension is not None:
        check_names("dimension", [options.dimension], dimensions)
        ratings = tuple(one for one in ratings if one.dimension == options.dimension)
    elif options.to == "seg-score" and len(dimensions) > 1:
        raise InputError(
            f"--dimension is missing: the format takes one, the ratings have {', '.join(map(shown, dimensions))}."
        )
    if options.rater is not None:
        check_names("rater", [options.rater], dict.fromkeys(one.rater for one in ratings if one.rater))
        ratings = tuple(one for one in ratings if one.rater == options.rater)
    elif options.to == "seg-rating" and (key := _marked_by_several(ratings)):
        raise InputError(
            f"--rater is missing: the format takes one rater for each text, but several marked item {shown(key[0])}, "
            f"system {shown(key[1])}."
        )
    return replace(given, ratings=replace(given.ratings, ratings=ratings))


def _marked_by_several(ratings: Iterable[Rating]) -> tuple[str, str] | None:
    """Return item and system of the first text with errors from two raters; None if there is none."""
    seen: dict[tuple[object, ...], str | None] = {}
    for one in ratings:
        key = (one.item_id, one.system, one.level, one.language, *sorted(one.labels.items()))
        if one.spans is not None and seen.setdefault(key, one.rater) != one.rater:
            return one.item_id, one.system or "output"
    return None


def _marked_alone(given: _Given) -> tuple[_Given, int]:
    """Return the ratings with marked errors, and the number of others. Raises InputError if there are none."""
    kept = tuple(one for one in given.ratings.ratings if one.spans is not None)
    if not kept:
        raise InputError(f"{shown(given.ratings.file_name)} has ratings, but no marked errors.")
    return replace(given, ratings=replace(given.ratings, ratings=kept)), len(given.ratings.ratings) - len(
        kept
    )


def _n_segments(texts: OutputSet | None) -> int | None:
    """Return the number of the last segment, rated or not, if the items are numbers; else None."""
    items = {one.item_id for one in texts.outputs} if texts is not None else set()
    numbered = bool(items) and all(item.isascii() and item.isdigit() for item in items)
    return max(map(int, items)) if numbered else None
