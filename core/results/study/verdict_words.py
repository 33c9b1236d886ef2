"""The verdict of a study in words, the same on the page and in the terminal."""

from collections.abc import Mapping

from core.results.decimals import decimal
from core.results.study.results import AS_DECLARED, StudyResults
from core.stats.non_inferiority import MOST_QUESTIONS, Verdict
from core.study.analysis_set import rules_in_words


def headline(results: StudyResults) -> list[str]:
    """The verdict first, then what limits it; a few sentences each. The first sentence is the verdict alone."""
    lines = [
        _said(results),
        _missing(results),
        _exploratory(results),
        _undeclared(results),
        _disagreement(results),
        _changed(results),
        *(
            f"Check rater {name}. {' '.join(map(_sentence, said))}"
            for name, said in results.rater_warnings.items()
        ),
    ]
    return [line for line in lines if line]


def described(results: StudyResults) -> str:
    """The analysis set in one sentence."""
    rules = results.analysis_set
    return _sentence(rules_in_words(rules.levels, rules.votes_needed, rules.score, rules.flagged))


def votes_of_pairs(results: StudyResults) -> str:
    """How many pairs have how many votes."""
    counts = [
        f"{pairs} with {votes} {'vote' if votes == 1 else 'votes'}"
        for votes, pairs in results.pairs_by_votes.items()
    ]
    return f"Pairs by number of votes: {', '.join(counts) or 'none'}."


def verdict_name(value: str) -> str:
    """A verdict as a short sentence without its full stop."""
    names = {
        "non-inferior": "Non-inferior",
        "not shown": "Non-inferiority not shown",
        "not enough information": "Not enough information",
    }
    return names[value]


def _said(results: StudyResults) -> str:
    found, bound = results.verdict, results.non_inferiority
    name = verdict_name(found.value)
    sentences = [f"Exploratory: {name[0].lower()}{name[1:]}." if found.exploratory else f"{name}."]
    if found.bound is None:
        sentences.append(_no_pair(results))
    else:
        places = 3 if decimal(found.bound) != decimal(-bound.margin) else 6
        sentences.append(
            f"The lower {100 * bound.confidence_level:g} % bound for {results.candidate} against {results.comparator} is "
            f"{decimal(found.bound, places)}, {'above' if found.value == 'non-inferior' else 'not above'} the margin of "
            f"{decimal(-bound.margin, places)}."
        )
    if found.method == "gaffke":
        sentences.append(f"It is Gaffke's bound: the bootstrap over questions fails here ({found.reason}).")
    if found.value == "not shown":
        sentences.append(f"This does not show that {results.candidate} is worse.")
    return " ".join(sentences)


def _no_pair(results: StudyResults) -> str:
    left_out = results.overall.n_left_out
    return f"No pair counts: {reasons(left_out)}." if left_out else "No pair counts."


def reasons(left_out: Mapping[str, int]) -> str:
    """Why something is left out, each with how many, as a list in words; `none` where nothing is."""
    return "; ".join(f"{reason} ({n:,})" for reason, n in left_out.items()) or "none"


def _missing(results: StudyResults) -> str | None:
    found = results.verdict
    if found.value != "not enough information" or found.bound is None:
        return None
    if found.questions_missing is None:
        return f"If further questions repeat the observed mix, even {MOST_QUESTIONS:,} questions would not be enough."
    questions = (
        "1 more question" if found.questions_missing == 1 else f"{found.questions_missing} more questions"
    )
    return (
        f"If further questions repeat the observed mix, {questions} would be enough to show non-inferiority."
    )


def _exploratory(results: StudyResults) -> str | None:
    if not results.filtered:
        return None
    chosen = "; ".join(
        f"{what.replace('_', ' ')} {', '.join(names)}" for what, names in results.filtered.items()
    )
    return f"This is not the declared main analysis. Chosen: {chosen}."


def _undeclared(results: StudyResults) -> str | None:
    if results.analysis_set.declared:
        return None
    return "Nobody declared this main analysis before the votes: the study is older than that step. Defaults apply."


def _disagreement(results: StudyResults) -> str | None:
    others = [
        f"{line.name}: {line.value}"
        for line in results.sensitivity
        if line.name != AS_DECLARED and line.value != results.verdict.value
    ]
    return f"The verdict depends on what counts. {_sentence('; '.join(others))}" if others else None


def _changed(results: StudyResults) -> str | None:
    after = results.after_unblinding
    if not after.any or after.since is None:
        return None
    changes = [
        *([f"excluded {', '.join(after.excluded)}"] if after.excluded else []),
        *([f"counted again {', '.join(after.included)}"] if after.included else []),
        *([f"{after.votes} votes added or changed"] if after.votes else []),
        *([f"{after.flags} flags added or removed"] if after.flags else []),
    ]
    return (
        f"Changed after the results could be seen ({after.since[:16].replace('T', ' ')} UTC): {'; '.join(changes)}. "
        f"The verdict at that time: {_short(after.verdict)}."
    )


def _short(found: Verdict | None) -> str:
    if found is None:
        return "none"
    return found.value if found.bound is None else f"{found.value}, lower bound {decimal(found.bound)}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."
