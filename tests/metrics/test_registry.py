"""Names, aliases and groups of metrics."""

import re
from collections import Counter
from pathlib import Path

import pytest

from core.errors import InputError
from core.formats.scores import family_of
from core.metrics.registry import all_metrics, canonical_name, find_metrics

ROOT = Path(__file__).resolve().parents[2]

LEXICAL = [
    *("bleu-1", "bleu-2", "bleu-3", "bleu-4"),
    *("chrf-4-0", "chrf-4-2", "chrf-6-0", "chrf-6-2"),
    *("rouge-1", "rouge-2", "rouge-4", "rouge-l"),
    *("meteor-a0.2-g0", "meteor-a0.2-g0.5", "meteor-a0.9-g0", "meteor-a0.9-g0.5"),
]


def names(*written):
    return [spec.metric.name for spec in find_metrics(written)]


def test_the_28_of_the_paper_come_first_in_the_order_of_its_tables():
    """000, appendix A and tables 4 to 7."""
    specs = all_metrics()
    assert [spec.of_paper for spec in specs[:28]] == [True] * 28
    assert not any(spec.of_paper for spec in specs[28:])
    assert [spec.metric.name for spec in specs[:16]] == LEXICAL
    families = Counter(spec.metric.family for spec in specs[:28])
    assert families == {
        "BLEU": 4,
        "chrF": 4,
        "ROUGE": 4,
        "METEOR": 4,
        "BERTScore": 4,
        "COMET": 4,
        "BLEURT": 4,
    }


def test_groups():
    assert names("lexical") == LEXICAL
    assert len(names("neural")) == 12
    assert names(" ALL ") == names("lexical", "neural") == [spec.metric.name for spec in all_metrics()[:28]]


def test_in_the_order_asked_for_and_each_once():
    assert names("ter", "rouge-1", "lexical", "ROUGE-1")[:3] == ["ter", "rouge-1", "bleu-1"]
    assert len(names("ter", "lexical", "lexical")) == 17
    assert names() == []


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("BLEU-4", "bleu-4"),
        (" bleu 4 ", "bleu-4"),
        ("BLEU Order 1", "bleu-1"),
        ("Order 3", "bleu-3"),
        ("bleu(max_order=1)", "bleu-1"),
        ("bleu(max_order=2, device=cuda:0)", "bleu-2"),
        ("bleu(smooth=True,max_order=2)", "bleu-2"),
        ("bleu-2, device=cpu", "bleu-2"),
        ("sentence_bleu", "bleu-4-exp"),
        ("c: 4, w: 0", "chrf-4-0"),
        ("chrF c: 6, w: 2", "chrf-6-2"),
        ("chrF++", "chrf-6-2"),
        ("chrF", "chrf-6-0"),
        ("chrf(word_order=2, char_order=4)", "chrf-4-2"),
        ("ROUGE-1", "rouge-1"),
        ("ROUGE ROUGE-L", "rouge-l"),
        ("ROUGE-4*", "rouge-4"),
        ("rougeL", "rouge-l"),
        ("α: 0.2, γ: 0.0", "meteor-a0.2-g0"),
        ("METEOR α: 0.9, γ: 0.5", "meteor-a0.9-g0.5"),
        (r"$\alpha: 0.9, \gamma: 0.0$", "meteor-a0.9-g0"),
        ("meteor(gamma=0.5, alpha=0.2, device=cpu)", "meteor-a0.2-g0.5"),
        ("meteor(alpha=0.9,beta=3.0,gamma=0)", "meteor-a0.9-g0"),
        ("rouge-1-unicode-stem", "rouge-1-unicode-stem"),
        ("bleu", None),
        ("meteor", None),
        ("", None),
        ("device=cpu", None),
        ("GEMBA-MQM", None),
    ],
)
def test_other_names(written, name):
    assert canonical_name(written) == name


def test_every_name_and_alias_stands_for_one_metric():
    claims = {}
    for spec in all_metrics():
        assert canonical_name(spec.metric.name) == spec.metric.name
        for alias in spec.aliases:
            assert canonical_name(alias) == spec.metric.name, alias
            claims.setdefault(alias.casefold(), set()).add(spec.metric.name)
    assert all(len(names) == 1 for names in claims.values())


def test_all_unknown_names_at_once_each_with_the_nearest():
    with pytest.raises(InputError) as error:
        find_metrics(["blue-4", "rouge-1", "zzzzzz", "rogue-l"])
    first, second, third = error.value.problems
    assert "'blue-4'" in first
    assert "bleu-4" in first
    assert "'zzzzzz'" in second
    assert "lexical" in second
    assert "rouge-l" in third


def test_every_metric_says_what_it_is():
    for spec in all_metrics():
        assert spec.about.endswith("."), spec.metric.name
        assert spec.metric.signature.startswith(f"{spec.metric.family}|"), spec.metric.name


def test_every_metrics_family_is_known_by_its_name():
    for spec in all_metrics():
        assert family_of(spec.metric.name) == spec.metric.family


def test_the_document_on_metrics_knows_every_lexical_metric_and_what_signatures_hold():
    document = (ROOT / "docs" / "metrics.md").read_text("utf-8")
    for spec in all_metrics():
        if spec.group == "lexical":
            family = spec.metric.name.replace("bleu-2", "bleu-1").replace("bleu-3", "bleu-1")
            first = re.sub(r"^rouge-\w-", "rouge-1-", family)
            assert f"`{first}`" in document, spec.metric.name
            for key in (part.split(":")[0] for part in spec.metric.signature.split("|")[1:]):
                assert f"|{key}:" in document, spec.metric.name
    assert find_metrics(["bleu-4"])[0].metric.signature in document
    assert find_metrics(["chrf-6-2"])[0].metric.signature in document
