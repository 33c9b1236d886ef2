"""What the claims judge says of itself: names, signatures, prompts, problems by field, and rows of its table."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers.texts.score_factories import unrated

from core.errors import InputError
from core.judges.claims import KIND, STAND_IN, Claim, ClaimsRecord, ClaimsSettings, Entailed
from core.judges.kind import Bench, Judged
from core.schema.runs import PromptSlot
from core.schema.scores import RatedSet, RatedText
from core.schema.settings import (
    About,
    Remark,
    SettingField,
    SettingsError,
    fields_of,
    option_word,
    page_word,
)

SERVER: dict[str, object] = {"model": "qwen3", "backend": "openai", "engine": "", "attempts": 3}
RULES: dict[str, object] = {"model": "", "backend": "rules", "engine": ""}
BACKEND = SettingField("backend", About("Model by", "", words={"openai": "a server"}), "choice", "rules")
BASE_URL = SettingField("base_url", About("Address", ""), "text", "")


class Loaded:
    """An entailment model that was started."""

    signature = "local|sha256:abc|sentence-transformers:5"


def signatures(
    settings: ClaimsSettings, asked: dict[str, object], helper: Loaded | None = None
) -> dict[str, str]:
    """Column -> signature, of a judge called j."""
    said = KIND.also_signed(settings, Bench(helper=helper))
    return {metric.name: metric.signature for metric in KIND.metrics("j", settings, {**asked, **said})}


@pytest.mark.parametrize(
    ("given", "asked", "f_beta", "signed"),
    [
        (
            {},
            SERVER | {"prompt-decompose": "b695f12c2976", "prompt-verify": "d2414f4936eb"},
            "f1",
            "model:qwen3|backend:openai|attempts:3|prompt-decompose:b695f12c2976|prompt-verify:d2414f4936eb"
            "|atomicity:low|coverage:low|verifier:llm|beta:1|temperature:0|seed:0",
        ),
        (
            {
                "atomicity": "high",
                "coverage": "high",
                "verifier": "nli",
                "nli_model": "/models/cross-encoder/tiny/",
                "device": "cpu",
                "beta": 2,
                "temperature": 0.5,
                "seed": 7,
            },
            SERVER | {"prompt-decompose": "d8f224fd879a"},
            "f2",
            "model:qwen3|backend:openai|attempts:3|prompt-decompose:d8f224fd879a|entailment:tiny"
            "|atomicity:high|coverage:high|verifier:nli|beta:2|temperature:0.5|seed:7",
        ),
        (
            {"verifier": "rules", "beta": 0.5},
            SERVER | {"prompt-decompose": "b695f12c2976"},
            "f0.5",
            "model:qwen3|backend:openai|attempts:3|prompt-decompose:b695f12c2976"
            "|atomicity:low|coverage:low|verifier:rules|beta:0.5|temperature:0|seed:0",
        ),
        (
            {"atomicity": "high", "coverage": "high", "verifier": "rules", "temperature": 0.5, "seed": 7},
            RULES,
            "f1",
            "backend:rules|atomicity:high|verifier:rules|beta:1",
        ),
        ({"verifier": "nli"}, RULES, "f1", "backend:rules|atomicity:low|verifier:nli|beta:1"),
    ],
)
def test_signatures_of_earlier_runs_stay(
    given: dict[str, Any], asked: dict[str, object], f_beta: str, signed: str
) -> None:
    """As `core.judges.specs` wrote them before judges were kinds."""
    columns = (f_beta, "precision", "recall", f"{f_beta}-ragas")
    assert signatures(ClaimsSettings(**given), asked) == {
        f"j-{column}": f"Claims|score:{column}|{signed}" for column in columns
    }


def test_a_signature_says_which_entailment_model_was_loaded() -> None:
    """Not where it lies, which is all that is known before."""
    settings = ClaimsSettings(verifier="nli", nli_model="/x/tiny")
    assert signatures(settings, SERVER, Loaded())["j-f1"] == (
        "Claims|score:f1|model:qwen3|backend:openai|attempts:3|entailment:local|sha256:abc|sentence-transformers:5"
        "|atomicity:low|coverage:low|verifier:nli|beta:1|temperature:0|seed:0"
    )


@pytest.mark.parametrize(
    ("asked", "changed", "another"),
    [
        (SERVER, {"temperature": 0.5}, True),
        (SERVER, {"coverage": "high"}, True),
        (SERVER, {"device": "cpu"}, False),
        (RULES, {"temperature": 0.5}, False),
        (RULES, {"seed": 1}, False),
        (RULES, {"coverage": "high"}, False),
        (RULES, {"atomicity": "high"}, True),
    ],
)
def test_a_signature_changes_with_what_changes_a_score(
    asked: dict[str, object], changed: dict[str, Any], another: bool
) -> None:
    after = signatures(ClaimsSettings(**changed), asked)
    assert (after != signatures(ClaimsSettings(), asked)) == another
    (name,) = changed
    assert all((f"|{name}:" in one) == another for one in after.values())


@pytest.mark.parametrize(
    ("verifier", "by_rules", "called"),
    [
        ("llm", False, ("claims",)),
        ("nli", False, ("claims", "nli")),
        ("rules", False, ("claims", "rules")),
        ("rules", True, ("claims",)),
        ("nli", True, ("claims", "nli")),
    ],
)
def test_the_name_says_who_verifies_unless_it_is_who_finds_the_claims(
    verifier: Any, by_rules: bool, called: tuple[str, ...]
) -> None:
    assert ClaimsSettings(verifier=verifier).called("claims", by_rules=by_rules) == called


@pytest.mark.parametrize(
    ("backend", "nli_model", "verifier"),
    [
        ("rules", "", "rules"),
        ("openai", "", "llm"),
        ("vllm", "", "llm"),
        ("rules", "m", "nli"),
        ("openai", "m", "nli"),
    ],
)
def test_who_verifies_unless_somebody_is_chosen(backend: str, nli_model: str, verifier: str) -> None:
    assert ClaimsSettings.usual({"nli_model": nli_model}, backend) == {"verifier": verifier}


def test_what_a_form_offers_and_asks() -> None:
    assert {
        backend: ClaimsSettings.offered(backend)["verifier"] for backend in ("rules", "vllm", "openai")
    } == {
        "rules": ("rules", "nli"),
        "vllm": ("llm", "rules"),
        "openai": ("llm", "nli", "rules"),
    }
    assert ClaimsSettings().idle("openai") == {"nli_model", "device", "contradictions"}
    assert ClaimsSettings(verifier="nli").idle("openai") == frozenset()
    assert ClaimsSettings(verifier="nli").idle("rules") == {"coverage", "temperature", "seed"}
    assert list(fields_of(ClaimsSettings)) == list(ClaimsSettings.model_fields), "every field is offered"
    assert fields_of(ClaimsSettings)["nli_model"].option == "--nli"


def test_prompts_are_those_of_the_steps_that_a_model_does() -> None:
    decompose = PromptSlot("decompose", "decompose-high-low", "high-low")
    assert ClaimsSettings(atomicity="high").prompts(by_rules=False) == (
        decompose,
        PromptSlot("verify", "verify"),
    )
    assert ClaimsSettings(atomicity="high", verifier="nli").prompts(by_rules=False) == (decompose,)
    assert ClaimsSettings(verifier="nli").prompts(by_rules=True) == ()


def test_an_entailment_model_needs_its_environment_and_is_a_helper() -> None:
    assert (ClaimsSettings().needs, KIND.helper(ClaimsSettings())) == ("base", None)
    by_nli = ClaimsSettings(verifier="nli")
    helper = KIND.helper(by_nli)
    assert by_nli.needs == "neural"
    assert helper is not None


def test_from_the_helper_to_a_score_and_its_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a run goes, with a model in memory that finds every claim of at most two words entailed."""

    class Opened:
        def __init__(self, name: str, device: str, batch_size: int) -> None:
            self.signature = f"{name} on {device} by {batch_size}"

        def judged(self, pairs: Any) -> list[Entailed]:
            short = [len(claim.split()) <= 2 for _, claim in pairs]
            return [Entailed("entailment" if entailed else "neutral", 0.75) for entailed in short]

    monkeypatch.setattr("core.judges.nli._Opened", Opened)
    settings = ClaimsSettings(verifier="nli", nli_model="tiny", device="cpu")

    async def whole() -> tuple[Judged, str]:
        helper = KIND.helper(settings)
        assert helper is not None
        bench = Bench(helper=helper)
        assert KIND.also_signed(settings, bench) == {"entailment": "tiny"}, "as the run is planned"
        await helper.start()
        try:
            judged = await KIND.open(settings, bench)(None).judge(
                unrated("It burned. It was old.", "It stands.")
            )
            return judged, str(KIND.also_signed(settings, bench)["entailment"])
        finally:
            await helper.close()

    judged, entailment = asyncio.run(whole())
    assert [score.value for score in judged.scores[1:3]] == [0.5, 1]
    assert [claim.why for claim in judged.record.response] == ["entailment .75", "neutral .75"]
    assert entailment == "tiny on cpu by 32"


def test_no_metric_library_is_loaded_before_it_is_needed() -> None:
    code = "import core.judges.claims, sys; print([m for m in sys.modules if '.neural' in m or 'judges.nli' in m])"
    root = Path(__file__).resolve().parents[2]
    ran = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_a_model_s_path_is_kept_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run's process may work in another folder; a name on the hub, and no name, stay."""
    (tmp_path / "tiny").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for given, kept in (
        ("tiny", str(tmp_path / "tiny")),
        ("~/tiny", str(tmp_path / "tiny")),
        ("cross-encoder/tiny", "cross-encoder/tiny"),
        ("", ""),
    ):
        settings = ClaimsSettings(verifier="nli", nli_model=given, beta=2)
        assert settings.settled() == ClaimsSettings(verifier="nli", nli_model=kept, beta=2)


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        ({"atomicity": "middle"}, "atomicity", "Size of a claim: 'middle' is not one of low, high"),
        ({"coverage": "all"}, "coverage", "Which claims: 'all' is not one of low, high"),
        ({"verifier": "me"}, "verifier", "Claims are verified by: 'me' is not one of llm, nli, rules"),
        ({"beta": 0.0}, "beta", "Weight of recall (beta): 0 is not between 0.001 and 1000"),
        ({"beta": float("nan")}, "beta", "Weight of recall (beta): nan is not between 0.001 and 1000"),
        ({"temperature": 2.5}, "temperature", "Temperature: 2.5 is not between 0 and 2"),
        ({"seed": -1}, "seed", "Seed: -1 is not between 0 and 9007199254740991"),
    ],
)
def test_values_that_cannot_be(given: dict[str, object], field: str, said: str) -> None:
    with pytest.raises(SettingsError) as wrong:
        ClaimsSettings.checked(given)
    assert [one.name for one in wrong.value.found_in] == [field]
    assert wrong.value.problems == (said,)


@pytest.mark.parametrize(
    ("given", "backend", "field", "as_a_page", "as_a_command"),
    [
        (
            {},
            "rules",
            "verifier",
            'Claims are verified by: llm needs a model, but "Model by: rules" has none; choose rules or nli',
            "--verifier: llm needs a model, but --backend rules has none; choose rules or nli",
        ),
        (
            {"verifier": "nli"},
            "vllm",
            "backend",
            "Model by: vllm and an entailment model cannot share an environment; serve the model (`vllm serve`) and choose "
            '"Model by: a server" with its "Address"',
            "--backend: vllm and an entailment model cannot share an environment; serve the model (`vllm serve`) and choose "
            "--backend openai with its --base-url",
        ),
    ],
)
def test_settings_that_do_not_fit_together(
    given: dict[str, Any], backend: str, field: str, as_a_page: str, as_a_command: str
) -> None:
    problems = list(ClaimsSettings(**given).problems(backend))
    assert [one.name for one in problems] == [field]
    wrong = SettingsError(
        problems, fields_of(ClaimsSettings) | {one.name: one for one in (BACKEND, BASE_URL)}
    )
    assert wrong.in_words(page_word).problems == (as_a_page,)
    assert wrong.in_words(option_word).problems == (as_a_command,)


@pytest.mark.parametrize(
    ("verifier", "backend"),
    [("llm", "openai"), ("llm", "vllm"), ("rules", "vllm"), ("rules", "rules"), ("nli", "rules")],
)
def test_settings_that_fit(verifier: Any, backend: str) -> None:
    assert list(ClaimsSettings(verifier=verifier).problems(backend)) == []


def test_settings_of_earlier_runs_are_read() -> None:
    """Saved ones lack what came later, and hold what is gone."""
    kept = {"atomicity": "high", "coverage": "low", "verifier": "rules", "beta": 2.0, "gone": 1}
    assert ClaimsSettings.checked(kept) == ClaimsSettings(atomicity="high", verifier="rules", beta=2)
    assert list(ClaimsSettings.model_fields) == [
        *(
            "atomicity",
            "coverage",
            "verifier",
            "nli_model",
            "contradictions",
            "device",
            "beta",
            "temperature",
        ),
        "seed",
    ]


def a_file(*texts: RatedText) -> RatedSet:
    return RatedSet(texts, "0" * 64, "texts.csv")


@pytest.mark.parametrize(
    ("verifier", "by_rules", "told"),
    [("rules", True, True), ("rules", False, True), ("nli", True, True), ("llm", False, False)],
)
def test_what_rules_say_is_told_to_be_a_stand_in(verifier: Any, by_rules: bool, told: bool) -> None:
    remarks = KIND.check(
        ClaimsSettings(verifier=verifier), Bench(), a_file(unrated("A.", "B.", "Why?")), by_rules
    )
    assert remarks == ((Remark("", STAND_IN),) if told else ())


def test_texts_need_references() -> None:
    """A source plays no part, so that no question in it is remarked on either."""
    some = a_file(unrated("A longer text.", "B."), unrated("A longer text.", None, "Why?"))
    (remark,) = KIND.check(ClaimsSettings(), Bench(), some, False)
    assert remark.values == {"lacking": 1, "n": 2, "needed": "reference"}
    with pytest.raises(InputError, match=r"texts\.csv has no reference for any text"):
        KIND.check(ClaimsSettings(), Bench(), a_file(unrated("A longer text.", None, "Why?")), False)


def test_a_row_a_claim_and_a_step_that_failed() -> None:
    record = ClaimsRecord(
        (Claim("One.", True, "It says so."), Claim("Two.", False, "neutral .51")),
        (Claim("Three.", reason="claim without verdict"),),
        (("verify the reference", "claim without verdict"),),
    )
    about: dict[str, Any] = {"what": "claim", "side": "response", "why": "", "reason": None}
    assert list(KIND.details(record)) == [
        about | {"text": "One.", "verdict": "yes", "why": "It says so."},
        about | {"text": "Two.", "verdict": "no", "why": "neutral .51"},
        about | {"side": "reference", "text": "Three.", "verdict": None, "reason": "claim without verdict"},
        {"what": "step: verify the reference", "reason": "claim without verdict"},
    ]
    assert {name for row in KIND.details(record) for name in row} <= set(KIND.detail_columns)
    assert list(KIND.details(ClaimsRecord(None, None))) == []
    assert list(KIND.record_problems(record, "One. Two.")) == []
    assert KIND.score_bounds("claims-f1") == (0, 1)
