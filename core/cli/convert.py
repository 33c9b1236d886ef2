"""`convert`: ratings and marked errors from one form into another."""

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
    name_list,
    print_notes,
    read_one_of,
    run_number,
    write_file,
)
from core.cli.shared.running import telling
from core.cli.shared.sources import SPAN_MEANING, SPAN_NAMES, STUDY, marked, single
from core.errors import InputError
from core.formats.mt_metrics_eval import read_folder_outputs, write_seg_rating, write_seg_score
from core.formats.rated import outputs_of, rated_of, ratings_of, write_rated
from core.formats.registry import has_spans_alone, read_rated, read_ratings, read_spans, read_with_texts
from core.formats.spans.cells import UNITS
from core.formats.spans.mqm import write_mqm
from core.formats.spans.rows import ENDS, write_span_rows_csv, write_span_rows_jsonl
from core.formats.spans.wmt_qe import write_wmt_qe
from core.results.choices import check_names
from core.runs.texts import notes_of
from core.schema.scores import OutputSet, RatedSet, Rating, RatingSet
from core.store import database_path
from core.tables.reading import shown


@dataclass(frozen=True)
class _Given:
    """Ratings, and the texts that they are of where these are known."""

    ratings: RatingSet
    texts: OutputSet | None

    @cached_property
    def rated(self) -> RatedSet:
        """The texts with their ratings. Raises InputError where no rating is of one of them."""
        assert self.texts is not None, "a form with texts is refused without"
        rated = rated_of(self.texts, self.ratings)
        if not any(text.ratings for text in rated.texts):
            raise InputError(
                "--texts: none of the ratings is of a text in it: items, systems and levels have to be named alike."
            )
        return rated


@dataclass(frozen=True)
class _Form:
    """What a form of ratings holds, and how it is written."""

    write: Callable[[_Given], bytes]
    of_errors: bool = True
    """Whether ratings are in it as marked errors alone."""
    with_texts: bool = False
    no_place: str = ""
    """What is not in it; empty: all is."""


_OF_MT = "texts, raters, levels and labels"
_FORMS: Mapping[str, _Form] = {
    "mqm": _Form(
        lambda given: write_mqm(given.rated.texts),
        with_texts=True,
        no_place="scores, levels, labels but the document",
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
        no_place="categories, scores, errors in the source, levels, labels but the document",
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
        "--to", required=True, choices=list(_FORMS), help="the form; docs/formats.md says what each holds"
    )
    command.add_argument("--out", type=Path, required=True, metavar="FILE")
    command.add_argument(
        "--texts", metavar="FILE|FOLDER", help="what was rated, where the ratings stand apart from it"
    )
    command.add_argument(
        "--ratings", metavar="NAME", help="which ones of a folder that holds several, such as mqm"
    )
    add_pair_option(command)
    add_columns_option(command, several=True)
    command.add_argument("--dimension", metavar="D", help="ratings on this dimension alone")
    command.add_argument("--rater", metavar="NAME", help="ratings of this rater alone")
    command.add_argument(
        "--units", choices=UNITS, default=UNITS[0], help="what the file's offsets count (%(default)s)"
    )
    command.add_argument(
        "--ends",
        choices=ENDS,
        default=ENDS[0],
        help="an end is the place behind the last character, or its own (%(default)s)",
    )
    command.add_argument(
        "--flip", metavar="D,D", help="of METAL's JSON: dimensions in which 1 is bad, such as H,PC"
    )
    add_database_option(command)
    command.set_defaults(run=_convert)


def _convert(options: argparse.Namespace) -> None:
    form, out = _FORMS[options.to], options.out
    check_out(out, database_path(options.db), [options.given, options.texts, *_in_folder(options)])
    check_columns(options, [options.given, options.texts])
    with telling("reading the ratings") as tell:
        given, notes = _to_write(options, form)
        tell("writing them")
        write_file(out, form.write(given))
    print_notes(dict.fromkeys([*notes, *([f"not in this form: {form.no_place}"] if form.no_place else [])]))
    print(out)


def _to_write(options: argparse.Namespace, form: _Form) -> tuple[_Given, list[str]]:
    """What the form is written from, and what is to be known of it."""
    given = _chosen(_given(options, form), options)
    if form.with_texts and given.texts is None:
        raise InputError(
            f"--texts is missing: {options.to} holds the texts, and they are not in the ratings."
        )
    n_unmarked = 0
    if form.of_errors:
        given, n_unmarked = _marked_alone(given)
    left_out = [f"left out, {why}: {n:,}" for why, n in given.ratings.left_out.items()]
    notes = list(notes_of(given.rated)) if form.with_texts else [*given.ratings.notes, *left_out]
    return given, notes + ([f"left out, ratings without marked errors: {n_unmarked:,}"] if n_unmarked else [])


def _in_folder(options: argparse.Namespace) -> list[Path]:
    """The file that is written, where it is there already in a folder that is read."""
    folders = [Path(one).resolve() for one in (options.given, options.texts) if one and Path(one).is_dir()]
    there = options.out.exists() and any(folder in options.out.resolve().parents for folder in folders)
    return [options.out] if there else []


def _given(options: argparse.Namespace, form: _Form) -> _Given:
    """What is given, with its texts. Raises InputError, also for options that do not fit it."""
    path = Path(options.given)
    is_file = run_number(options.given) is None and not options.given.startswith(STUDY) and not path.is_dir()
    problems = []
    if options.ratings is not None and not path.is_dir():
        problems.append("--ratings: names ratings of a folder; leave it out")
    if not is_file:
        ours = (options.units, options.ends) == (UNITS[0], ENDS[0])
        problems += [] if ours else ["--units, --ends: are of a file; leave them out"]
        problems += [] if options.flip is None else ["--flip: is for METAL's JSON; leave it out"]
    check_options(problems)
    if is_file:
        return _of_file(path, options, form)
    found = marked(options.given, options)
    if options.texts is not None and found.texts is not None:
        raise InputError(f"--texts: {shown(options.given)} holds texts itself; leave the option out.")
    return _Given(single(found, "one file cannot hold them"), found.texts or _texts(options))


def _of_file(path: Path, options: argparse.Namespace, form: _Form) -> _Given:
    data, name, flip = read_one_of(path, options), path.name, name_list(options.flip) or ()
    ours = (options.units, options.ends) == (UNITS[0], ENDS[0])
    if ours and (rated := read_with_texts("ratings", data, name, flip=flip)) is not None:
        if options.texts is not None:
            raise InputError(f"--texts: {shown(name)} holds texts itself; leave the option out.")
        if not any(text.ratings for text in rated.texts):
            raise InputError(f"{shown(name)} holds texts, but nobody rated one: there is nothing to write.")
        return _Given(ratings_of(rated), outputs_of(rated))
    texts = _texts(options)
    if not flip and (form.of_errors or not ours or has_spans_alone(data, name)):
        return _Given(read_spans(data, name, texts, units=options.units, ends=options.ends), texts)
    return _Given(read_ratings(data, name, flip=flip), texts)


def _texts(options: argparse.Namespace) -> OutputSet | None:
    """What was rated, where it was named apart."""
    if options.texts is None:
        return None
    path = Path(options.texts)
    if path.is_dir():
        return read_folder_outputs(path, language_pair=options.language_pair)
    return outputs_of(read_rated(read_one_of(path, options), path.name))


def _chosen(given: _Given, options: argparse.Namespace) -> _Given:
    """The ratings of one rater or dimension, where one is named. Raises InputError where one has to be."""
    ratings = given.ratings.ratings
    dimensions = list(dict.fromkeys(one.dimension for one in ratings))
    if options.dimension is not None:
        check_names("dimension", [options.dimension], dimensions)
        ratings = tuple(one for one in ratings if one.dimension == options.dimension)
    elif options.to == "seg-score" and len(dimensions) > 1:
        raise InputError(
            f"--dimension is missing: the form holds one, the ratings have {', '.join(map(shown, dimensions))}."
        )
    if options.rater is not None:
        check_names("rater", [options.rater], dict.fromkeys(one.rater for one in ratings if one.rater))
        ratings = tuple(one for one in ratings if one.rater == options.rater)
    elif options.to == "seg-rating" and (key := _marked_by_several(ratings)):
        raise InputError(
            f"--rater is missing: the form holds one rater's errors of a text, but several marked item {shown(key[0])}, "
            f"system {shown(key[1])}."
        )
    return replace(given, ratings=replace(given.ratings, ratings=ratings))


def _marked_by_several(ratings: Iterable[Rating]) -> tuple[str, str] | None:
    """Item and system of the first text that has errors of two raters."""
    seen: dict[tuple[object, ...], str | None] = {}
    for one in ratings:
        key = (one.item_id, one.system, one.level, one.language, *sorted(one.labels.items()))
        if one.spans is not None and seen.setdefault(key, one.rater) != one.rater:
            return one.item_id, one.system or "output"
    return None


def _marked_alone(given: _Given) -> tuple[_Given, int]:
    """Ratings with marked errors, and how many there are besides. Raises InputError where there are none."""
    kept = tuple(one for one in given.ratings.ratings if one.spans is not None)
    if not kept:
        raise InputError(f"{shown(given.ratings.file_name)} has ratings, but no marked errors to write.")
    return replace(given, ratings=replace(given.ratings, ratings=kept)), len(given.ratings.ratings) - len(
        kept
    )


def _n_segments(texts: OutputSet | None) -> int | None:
    """The last segment among the texts, rated or not, where their items are numbers."""
    items = {one.item_id for one in texts.outputs} if texts is not None else set()
    numbered = bool(items) and all(item.isascii() and item.isdigit() for item in items)
    return max(map(int, items)) if numbered else None
