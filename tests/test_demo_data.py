"""The demo study keeps what it promises: languages, facts, levels made step by step."""

import asyncio
import importlib
import json
import re
import unicodedata
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from helpers.texts.demo_metrics import METRICS, level_means

from core.diff import diff_against, tokenize
from core.formats.study.files import read_dataset
from core.schema.rendering import RENDERINGS
from core.schema.study import CHOICES, FIRST_LEVEL, Dataset
from core.study.guidelines import guideline_text, practice_pairs, shipped_languages

DATA = Path(__file__).resolve().parents[1] / "data"
TELLING = r"\b(handwritten|pipeline|machine|model|AI|human|expert|candidate|comparator)\b"


@pytest.fixture(scope="module")
def demo() -> Dataset:
    path = DATA / "demo" / "answers.csv"
    return read_dataset(path.read_bytes(), path.name)


@pytest.fixture(scope="module")
def questions() -> list[dict[str, str]]:
    lines = (DATA / "demo" / "questions.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_enough_questions_domains_and_languages(demo: Dataset, questions: list[dict[str, str]]) -> None:
    assert len(demo.items) >= 12
    assert demo.levels == ("A0", "A1", "A2", "A3", "A4")
    assert set(demo.sources) == {"handwritten", "pipeline"}
    assert not demo.notes
    assert len({q["domain"] for q in questions}) >= 5
    languages = Counter(item.language for item in demo.items)
    assert sum(n for language, n in languages.items() if language != "en") >= 2
    assert languages["ja"] >= 1, "one language whose script has no spaces"
    by_id = {q["item_id"]: q for q in questions}
    for item in demo.items:
        question = by_id[item.item_id]
        assert (item.question, item.reference) == (question["question"], question["reference"])


def facts(text: str) -> int:
    """Numbers and capitalised words inside sentences; in scripts without capitals numbers alone."""
    return len(re.findall(r"\d[\d.,]*|(?<=[a-zäöüß,;] )[A-Z][\w'-]+", text))


def test_every_text_has_facts_that_a_rule_can_find(questions: list[dict[str, str]]) -> None:
    for question in questions:
        for field in ("reference", "paraphrase"):
            assert facts(question[field]) >= 5, (question["item_id"], field)
        assert question["reference"] != question["paraphrase"]


def test_pipeline_starts_with_the_paraphrase_and_changes_only_spans(
    demo: Dataset, questions: list[dict[str, str]]
) -> None:
    texts = {(o.item_id, o.level): o.text for o in demo.outputs if o.source == "pipeline"}
    for question in questions:
        item = question["item_id"]
        assert texts[item, FIRST_LEVEL] == question["paraphrase"]
        kept = [1.0]
        for before, level in zip(demo.levels, demo.levels[1:], strict=False):
            segments = diff_against(texts[item, before], texts[item, level])
            assert any(segment.kind != "same" for segment in segments), (item, level)
            total = diff_against(texts[item, FIRST_LEVEL], texts[item, level])
            same = sum(len(tokenize(s.text)) for s in total if s.kind == "same")
            kept.append(same / len(tokenize(texts[item, FIRST_LEVEL])))
        assert kept == sorted(kept, reverse=True), f"{item}: a later level is closer to A0"
        assert kept[-1] > 0.4, f"{item}: A4 is more than spans"


def test_pipeline_answers_are_the_generators_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """`python scripts/demo_answers.py` would write the very file that is there."""
    monkeypatch.syspath_prepend(str(DATA.parent / "scripts"))
    demo_answers = importlib.import_module("demo_answers")
    assert (DATA / "demo" / "answers.csv").read_text("utf-8") == demo_answers.new_answers()


def test_labels_of_the_example_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """`python scripts/demo_labels.py` would write the very file that is there."""
    monkeypatch.syspath_prepend(str(DATA.parent / "scripts"))
    demo_labels = importlib.import_module("demo_labels")
    assert (DATA / "demo" / "labels.csv").read_text("utf-8") == demo_labels.labels()


@pytest.fixture(scope="module")
def summeval() -> pd.DataFrame:
    return pd.read_csv(DATA / "summeval" / "coherence.csv")


def test_the_ratings_of_summeval_are_whole(summeval: pd.DataFrame) -> None:
    """Means of coherence by system as Fabbri et al. 2021 print them."""
    experts = summeval.filter(regex=r"^expert_\d$")
    assert experts.shape == (1600, 3)
    assert set(experts.to_numpy().ravel()) == {1, 2, 3, 4, 5}
    assert summeval.groupby("item_id").system.nunique().tolist() == [16] * 100
    means = experts.mean(axis=1).groupby(summeval.system).mean().round(2)
    assert means[["M0", "M1", "M11", "M22"]].tolist() == [4.16, 3.22, 2.28, 4.18]


@pytest.mark.shared
def test_the_ratings_of_summeval_are_the_experts_own(summeval: pd.DataFrame, shared_data: Path) -> None:
    columns = ["item_id", "system", "expert_0", "expert_1", "expert_2"]
    pd.testing.assert_frame_equal(
        summeval[columns], pd.read_csv(shared_data / "summeval-coherence.csv")[columns]
    )


def test_the_judge_beside_the_experts_knows_the_family_alone(summeval: pd.DataFrame) -> None:
    extractive = summeval.system.isin(["M0", "M1", "M2", "M5"])
    assert summeval.family.tolist() == ["extractive" if one else "abstractive" for one in extractive]
    assert summeval.family_only.tolist() == [4 if one else 3 for one in extractive]


def test_the_notice_travels_with_the_ratings() -> None:
    notice = (DATA / "summeval" / "LICENSE.txt").read_text("utf-8")
    (holders,) = re.findall(r"Copyright (\(c\) 2021 .+)", notice)
    assert f"copyright {holders}" in " ".join((DATA / "README.md").read_text("utf-8").split())
    assert "The above copyright notice and this permission notice shall be included" in notice


@pytest.mark.parametrize("kind", ["factual", "damage"])
@pytest.mark.parametrize("name", [pytest.param("100 - TER", marks=pytest.mark.slow), "chrF", "BLEU"])
def test_lexical_metrics_fall_with_every_level_of_the_rules(kind: str, name: str) -> None:
    """The figure in docs/generation.md: sacrebleu's chrF, TER (slow on long texts) and BLEU, means over the questions."""
    means = asyncio.run(level_means(kind, [name]))
    assert set(means) == {name} < set(METRICS)
    for metric, levels in means.items():
        found = list(levels.values())
        assert len(found) == (5 if kind == "factual" else 6)
        assert all(before > after for before, after in pairwise(found)), (metric, levels)


def test_no_text_names_its_source_and_all_are_clean(demo: Dataset) -> None:
    texts = [output.text for output in demo.outputs]
    assert len(set(texts)) == len(texts)
    for text in [*texts, *(item.reference for item in demo.items)]:
        assert not re.search(TELLING, text)
        assert unicodedata.is_normalized("NFC", text)


def test_length_does_not_give_the_source_away_at_a_glance(demo: Dataset) -> None:
    for level in demo.levels:
        length = {(o.source, o.item_id): len(o.text) for o in demo.outputs if o.level == level}
        longer = sum(length["handwritten", i.item_id] > length["pipeline", i.item_id] for i in demo.items)
        assert 0.25 <= longer / len(demo.items) <= 0.75, level


def test_practice_and_guidelines_name_no_source() -> None:
    pairs = [
        pair
        for mode in RENDERINGS
        for pair in (*practice_pairs("levels", mode), *practice_pairs("preference", mode))
    ]
    assert len(pairs) == 3 * 2 * len(RENDERINGS)
    assert {pair.expected for pair in pairs} <= set(CHOICES)
    assert "en" in shipped_languages()
    for language in shipped_languages():
        assert not re.search(TELLING, guideline_text({}, language), re.IGNORECASE), language
    for pair in pairs:
        assert not re.search(TELLING, " ".join([pair.left, pair.right, pair.hint, pair.question]))


def test_a_language_without_guidelines_gets_english_and_a_region_its_language() -> None:
    assert guideline_text({}, "xx") == guideline_text({}, "en")
    assert guideline_text({}, "de-AT") == guideline_text({}, "de")
    assert guideline_text({"xx": "Own."}, "xx") == "Own."
