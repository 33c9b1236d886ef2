"""The scale that raters and judges of a panel share, in one file or several."""

from collections.abc import Collection, Sequence

from core.errors import InputError
from core.formats.panel.judge_files import JudgeFile
from core.formats.panel.sheet import Sheet, sides_of
from core.schema.scale import DeclaredScale
from core.tables.problems import FileFindings, listed
from core.tables.reading import shown
from core.tables.scales import Side, Words, check_cells, check_odd_words, common_scale, odd_word_notes


def aligned(
    sheet: Sheet,
    files: Sequence["JudgeFile"],
    judges: Sequence[str],
    named_judges: Collection[str],
    declared: DeclaredScale,
    findings: FileFindings,
) -> tuple[Words | None, set[str]]:
    """The numbers of all words, and the judges that use another scale than the raters.

    Adds notes. Raises InputError if the raters use several scales, if no judge uses theirs, or one that was named does not,
    and with all cells that are no class of the scale.
    """
    roles = sheet.roles
    sides = sides_of(sheet)
    if roles is None:
        people = [side for side in sides if side.name in sheet.human or side.name not in judges]
    else:
        people = [side for side in sides if side.name in roles.human or side.name in sheet.human]
    scored = [side for side in sides if side.name in judges and side not in people]
    for file in files:
        scored += [Side(name, held) for name, held in file.cells.items()]
    alike = scored if declared.classes else []
    fits, own = common_scale(people, alike, declared)
    if fits:
        check_cells(people, alike, own, declared, findings.file_name)
    else:
        raise InputError(
            f"{findings.file_name}: the raters use different scales. Choose raters who use the same one",
            [f"human: {side.said}" for side in people],
        )
    unfit = {side.name: side for side in scored if not common_scale(people, [side], declared)[0]}
    rest = [side for side in scored if side.name not in unfit]
    fits, words = common_scale(people, rest, declared)
    if (unfit and (not rest or {*named_judges} & {*unfit})) or not fits:
        check_odd_words(people, findings.file_name)
        used = people[0].said if people else ""
        raise InputError(
            f"{shown(findings.file_name)}: a judge can only be compared on the raters' scale. Convert its scores, or choose "
            "other columns",
            [f"judge: {side.said}, but {used}" for side in unfit.values() or rest],
        )
    for side in unfit.values():
        findings.notes.append(
            f"judge {shown(side.name)} is left out, because it uses another scale: {side.said}"
        )
    check_cells(people, rest, words, declared, findings.file_name)
    if words is not None:
        findings.notes.append(words.said)
        if declared.leaves_all_open and not words.scale.ordered:
            findings.notes += odd_word_notes(people)
        if any(side.numbers for side in (*people, *rest)):
            as_numbers = [side.name for side in (*people, *rest) if side.numbers]
            findings.notes.append(
                f"words and numbers are the same classes: {listed(as_numbers)} has the numbers"
            )
    return words, set(unfit)
