"""Precision and recall of the spans found in a published A0-A4 report, compared as whole lower-case texts.

.venv/bin/python benchmarks/spans.py PERTURBATION_REPORT      with spaCy, if set up (`./run --with spacy`), and rules
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.formats.trutheval import FactualReport, read_report
from core.generation.factual.spans import BY_RULES, find_spans
from core.generation.parse import Parsers
from core.runs.working.environments import parsers
from core.schema.study import FIRST_LEVEL


def measure(
    report: FactualReport, parser: str, found: Parsers, *, for_rules: bool = False
) -> tuple[str, float, float]:
    """Return the method that found the spans of the last text, and precision and recall over all texts."""
    shared = n_found = n_published = 0
    by = ""
    for question in report.questions:
        spans, by = find_spans(
            question.answers[FIRST_LEVEL], "en", parser, for_rules=for_rules, parsers=found
        )
        ours = {span.text.lower() for span in spans}
        published = {text.lower() for text in question.raw_factual_data or ()}
        shared, n_found, n_published = (
            shared + len(ours & published),
            n_found + len(ours),
            n_published + len(published),
        )
    return by, shared / n_found, shared / n_published


def main() -> None:
    """Print one line for each method of finding spans."""
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    path = Path(sys.argv[1])
    report = read_report(path.read_bytes(), path.name)
    with parsers() as found:
        for title, parser, for_rules in (
            ("auto", "auto", False),
            ("rules, for a model", BY_RULES, False),
            ("rules, with --backend rules", BY_RULES, True),
        ):
            by, precision, recall = measure(report, parser, found, for_rules=for_rules)
            print(f"{title:<28} precision {precision:.3f}  recall {recall:.3f}  ({by})")


if __name__ == "__main__":
    main()
