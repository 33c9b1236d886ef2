"""The commands whose outputs are kept: every judge and kind of run, every report on them, on the demo and on real data."""

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path

from golden.outputs import Story
from helpers.processes.scripted_server import Body
from helpers.texts.judge_runs import marked_texts, marks, texts, two_models
from helpers.texts.slips import rated_texts
from helpers.texts.specialist_runs import says

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = ROOT / "data" / "demo" / "questions.jsonl"
QUICK = ("--resamples", "200", "--json")
MODELS = ("tiny", "nay")
Step = tuple[str, Sequence[str]]


def reply(body: Body, n: int) -> str:
    """What the scripted model says to any of the prompts."""
    names = (body.get("response_format") or {}).get("json_schema", {}).get("schema", {}).get("properties", {})
    on_ratings = "errors" in names or "scores" in names or "justification" in names or set(names) == {"score"}
    return says(body, n) if on_ratings else two_models(body, n)


def judges(url: str) -> Story:
    """Every judge as it comes and with everything set, the audits of judges, and the reports on both."""
    who = ("--backend", "openai", "--model", "tiny", "--base-url", url, "--concurrency", "4")

    nay = ("--backend", "openai", "--model", "nay", "--base-url", url, "--concurrency", "4")

    def judge(verb: str, out: str, *more: str, texts: str = "texts.jsonl", who: Sequence[str] = who) -> Step:
        return out, ("judge", verb, texts, "--out", out, *who, *more)

    def rated(verb: str, out: str, *more: str, who: Sequence[str] = who) -> Step:
        return judge(verb, out, *more, texts="rated.jsonl", who=who)

    rules = ("--backend", "rules")
    sampling = ("--temperature", "0.5", "--seed", "7", "--attempts", "2", "--name", "named")
    steps: list[Step] = [
        judge("rubric", "rubric"),
        judge("rubric", "rubric-set", "--order", "both", "--repeats", "2", "--rubric", "coverage", *sampling),
        judge("rubric", "rubric-text", "--prompt", "rubric-text", "--limit", "1"),
        judge("claims", "claims"),
        judge("claims", "claims-rules", who=rules),
        judge("claims", "claims-verified-by-rules", "--verifier", "rules", "--input-price", "1"),
        judge("claims", "claims-set", *SET_CLAIMS, *sampling, "--input-price", "1.5", "--output-price", "6"),
        judge("cef", "cef"),
        judge("cef", "cef-again", "--reask", "--repeats", "3", "--questions", "3", "--name", "again"),
        judge("cef", "cef-mixed", "--mode", "reference", "--kind-of-questions", "mixed", "--answers", "each"),
        judge("cef", "cef-round-trip", "--mode", "round-trip", "--source-language", "Dutch", *sampling),
        rated("automqm", "automqm"),
        rated("automqm", "automqm-set", *EXAMPLES, "--repeats", "2", "--filtered", "--only", "A", "--only", "B", *sampling),
        rated("automqm", "parrot", who=rules),
        rated("automqm", "parrot-set", "--occurrences", "first", "--examples", "shuffled", "--rater", "r2", who=rules),
        rated("direct", "direct"),
        rated("direct", "direct-set", "--task", "mqm-and-direct", *EXAMPLES, "--repeats", "2", *sampling),
        rated("quality", "quality"),
        rated("quality", "quality-set", *SET_QUALITY, *sampling),
        judge("cef", "cef-nay", who=nay),
        judge("cef", "marked", texts="marked.jsonl"),
        ("answers", ("judge", "answers", "cef", "cef-nay", "--out", "answers", *who, "--answers", "each")),
        ("answers-nay", ("judge", "answers", "cef", "cef-nay", "--out", "answers-nay", *nay)),
        ("align", ("judge", "align", "marked", "--ratings", "marks.tsv", "--out", "align", *who, "--json")),
        ("align-rules", ("judge", "align", "marked", "--ratings", "marks.tsv", "--out", "align-rules", *rules, "--json")),
        ("consistency", ("report", "consistency", "rubric-set", *QUICK)),
        ("ablation", ("reproduce", "cef", "ablation", "cef-again", "--json")),
        ("reasked", ("reproduce", "cef", "reasked", "cef-again", "--json")),
        ("reliability", ("reproduce", "cef", "reliability", "answers", "answers-nay", *QUICK)),
        ("compare", ("report", "compare", "rubric", "run:4", "--metrics", "rubric-tiny,claims-tiny-f1", *QUICK)),
        ("costs", ("report", "costs", "rubric", "run:7", "claims-rules", "answers", "quality", "--json")),
        ("copying", ("reproduce", "specialist", "copying", "parrot", "automqm", "--rated", "rated.jsonl", *QUICK)),
        ("examples-curve", ("reproduce", "specialist", "examples-curve", "rated.jsonl", "parrot", "parrot-set", *QUICK)),
        ("raters", ("report", "raters", "rated.jsonl", "parrot-set", *QUICK)),
        ("calibrate", ("calibrate", "rated.jsonl", "quality", "--task", "multilingual", *QUICK)),
        ("correlate", ("correlate", "rubric/scores.csv", "--with", "level", "--out", "by-level.csv", *QUICK)),
        ("spans", ("spans", "rated.jsonl", "parrot", "run:12", *QUICK)),
        ("list", ("runs", "list", "--json")),
        ("show", ("runs", "show", "7", "--json")),
        ("write", ("runs", "write", "12", "--out", "written")),
    ]  # fmt: skip
    files = {
        "texts.jsonl": texts(2),
        "rated.jsonl": rated_texts(3),
    }
    files |= {"marked.jsonl": marked_texts().encode(), "marks.tsv": marks().encode()}
    return Story("judges", steps, files)


EXAMPLES = ("--examples", "fixed", "--n-examples", "2", "--rater", "r1")
SET_CLAIMS = ("--atomicity", "high", "--coverage", "high", "--beta", "2")
SET_QUALITY = (
    *("--prompting", "compound", "--shots", "1", "--held-out", "0.4", "--majority", "median"),
    *("--shuffled-words", "0.3", "--language", "German", "--repeats", "2"),
)


def generation(url: str) -> Story:
    """Answers at levels, by rules and by a model, scored and put into correlations."""
    who = ("--backend", "openai", "--model", "tiny", "--base-url", url, "--concurrency", "4")

    def generate(verb: str, out: str, *more: str, limit: int = 2) -> Step:
        return out, ("generate", verb, str(QUESTIONS), "--out", out, "--limit", str(limit), *more)

    steps: list[Step] = [
        generate("factual", "factual-rules"),
        generate("factual", "factual-set", "--levels", "3", "--seed", "5", "--source", "robot", "--keep", "0.5"),
        generate("factual", "factual", *who),
        generate("factual", "factual-shared", *who, "--edit-calls", "shared", "--attempts", "1"),
        generate("factual", "factual-text", *who, "--prompt", "factual-edit-text"),
        generate("damage", "damage-rules", limit=5),
        generate("damage", "damage", *who, "--levels", "0,2,5", "--task", "qa"),
        ("replay", ("generate", "replay", "factual-rules/report.json", "--json")),
        ("score-long", ("score", "run:6", "--out", "long.csv")),
        ("score-wide", ("score", "damage-rules/outputs.csv", "--out", "wide.csv", "--shape", "wide", *FEW)),
        ("score-more", ("score", "run:6", "--out", "few.csv", "--metrics", "bleu-4,chrf", "--limit", "2")),
        ("score-resumed", ("score", "run:6", "--out", "few.csv", "--metrics", "bleu-4,chrf", "--resume")),
        ("correlate", ("correlate", "long.csv", "--with", "level", "--levels", "--rank", "spearman", *QUICK)),
        ("correlate-run", ("correlate", "run:8", "--with", "level", "--resample", "items", "--redundancy", "pearson", *QUICK)),
        ("score-factual", ("score", "run:1", "--out", "factual.csv")),
        ("against", ("correlate", "factual.csv", "--with", "level", "--out", "factual.json", *QUICK)),
        ("meta", ("meta-correlate", "factual.json", "long.csv", *QUICK)),
        ("list", ("runs", "list", "--json")),
        ("show", ("runs", "show", "8", "--json")),
    ]  # fmt: skip
    return Story("generation", steps, {})


def begun(url: str) -> Story:
    """A run of every kind, its first item done."""
    who = ("--backend", "openai", "--model", "tiny", "--base-url", url, "--limit", "1")
    rules = ("--backend", "rules", "--limit", "1")
    given = [
        *(("generate", verb, str(QUESTIONS), *how) for verb in ("factual", "damage") for how in (rules, who)),
        ("score", "texts.jsonl", "--limit", "1"),
        *(("judge", verb, "texts.jsonl", *who) for verb in ("rubric", "claims", "cef")),
        *(("judge", verb, "rated.jsonl", *who) for verb in ("automqm", "direct", "quality")),
        ("judge", "claims", "texts.jsonl", *rules),
        ("judge", "automqm", "rated.jsonl", *rules),
        ("judge", "cef", "marked.jsonl", *who, "--limit", "2", "--out", "marked"),
        ("judge", "answers", "marked", *who),
        ("judge", "align", "marked", "--ratings", "marks.tsv", *who),
    ]
    steps = [
        (f"run {n}", words if "--out" in words else (*words, "--out", "s.csv" if words[0] == "score" else f"out-{n}"))
        for n, words in enumerate(given, start=1)
    ]  # fmt: skip
    return Story("begun", steps, judges(url).files)


def resumed(url: str) -> Story:
    """The runs that an older Assay began (begun.sql.gz), written as they are and then brought to their end."""
    steps: list[Step] = [("list", ("runs", "list", "--json"))]
    for n in range(1, N_BEGUN + 1):
        steps += [
            (f"show-{n}", ("runs", "show", str(n), "--json")),
            (f"write-{n}", ("runs", "write", str(n), "--out", f"begun-{n}")),
            (f"resume-{n}", ("runs", "resume", str(n), "--out", f"resumed-{n}", "--limit", "2")),
        ]
    return Story("resumed", steps, {}, gzip.decompress(BEGUN.read_bytes()).decode().replace(AT, url))


BEGUN = Path(__file__).parent / "begun.sql.gz"
AT = "http://assay.example/v1"
"""Stands in begun.sql for the server's address."""
N_BEGUN = 16
FEW = ("--metrics", "bleu-4,rouge-l,meteor-a0.9-g0", "--synonyms", "none")


def published(shared: Path) -> Story:
    """The published study, start to end, and the published tables."""
    exports = [
        (f"export-{form}", ("study", "export", "paper", "--format", form, "--out", f"exported.{ending}"))
        for form, ending in (
            ("csv", "csv"),
            ("jsonl", "jsonl"),
            ("guesses", "guesses.csv"),
            ("paper", "json"),
        )
    ]
    steps: list[Step] = [
        ("import", ("study", "import", str(shared / "assessment-dataset.json"), "--name", "paper", "--seed", "1")),
        *(
            (f"votes-{n}", ("study", "votes", "paper", str(shared / f"results-evaluator-{n}.json"), "--rater", f"r{n}"))
            for n in (1, 2)
        ),
        ("progress", ("study", "progress", "paper", "--json")),
        ("audit", ("study", "audit", "paper", "--json")),
        ("results", ("study", "results", "paper", *QUICK)),
        *exports,
        ("score", ("score", "study:paper", "--out", "scores.csv", *FEW)),
        ("metric-votes", ("votes", "study:paper", "scores.csv", *QUICK)),
        ("correlate-votes", ("correlate", "scores.csv", "--with", "human", "--human", "study:paper", *QUICK)),
        ("acc23-votes", ("acc23", "study:paper", "scores.csv", *QUICK)),
        ("judge", ("judge", "claims", "study:paper", "--out", "claims", "--backend", "rules", "--limit", "3")),
        ("replay", ("generate", "replay", str(shared / "perturbation-report.json"), "--json")),
        ("tables", ("published", "--paper", "factual-perturbation", "--json")),
        ("meta-judge", ("published", "--table", "1", "--recompute", "--json")),
    ]  # fmt: skip
    return Story("published", steps, {})


def wmt23(shared: Path) -> Story:
    """Real translations with marked errors: scores, spans, accuracies, and judges that take them as examples."""
    folder = str(shared / "wmt23")
    pair = ("--language-pair", "en-de")
    steps: list[Step] = [
        ("parrot", ("judge", "automqm", folder, *pair, "--out", "parrot", "--backend", "rules", "--n-examples", "3", "--limit", "12")),
        ("spans", ("spans", folder, "parrot", *pair, "--by", "system", *QUICK)),
        ("acc23", ("acc23", folder, folder, *pair, "--resamples", "20", "--json")),
        ("correlate", ("correlate", folder, "--with", "human", *pair, "--resamples", "20", "--json")),
        ("convert", ("convert", folder, *pair, "--to", "seg-score", "--out", "seg.score")),
        ("convert-mqm", ("convert", "parrot", "--to", "mqm", "--out", "mqm.tsv")),
        ("score", ("score", folder, *pair, "--out", "scores.csv", "--metrics", "bleu-4,chrf", "--limit", "20")),
    ]  # fmt: skip
    return Story("wmt23", steps, {})


def alt_test(_url: str) -> Story:
    """The Alt-test of words and of numbers: JSON, every table as CSV, and the whole result in Markdown and LaTeX."""
    words, numbers = "labels.csv", "numbers.csv"
    long = "item,rater,score\n" + "".join(
        f"q{at},{rater},{score}\n"
        for rater, scores in zip("abcx", ("1224", "1234", "2244", "1233"), strict=True)
        for at, score in enumerate(scores * 5)
    )
    few = "item,system,a,b,c,x,y\n" + "".join(
        f"q{at // 2},s{at % 2},{at % 3},{(at + at // 5) % 3},{'' if at % 7 == 0 else at % 2},{at % 3},1\n"
        for at in range(24)
    )
    chosen = (
        "--human",
        "a,b,c",
        "--judge",
        "x,y",
        "--alignment",
        "rmse",
        "--epsilon",
        "0.1",
        "--resamples",
        "50",
    )
    planned = ("--items", "12,40", "--advantage", "0.8", "--seed", "3", "--confidence", "0.9", "--json")
    tables = ("alt-test", "alt-test-raters", "alt-test-ceiling", "alt-test-power", "alt-test-epsilons")
    named = ("--human", "rater_1,rater_2,rater_3", "--judge", "judge", "--resamples", "50")
    steps: list[Step] = [
        ("words", ("alt-test", words, *named, "--json", "--out", "words.md")),
        ("words-tex", ("alt-test", words, *named, "--out", "words.tex")),
        *((f"words-{table}", ("alt-test", words, *named, "--table", table, "--out", f"{table}.csv")) for table in tables),
        ("long", ("alt-test", "long.csv", "--judge", "x", "--resamples", "50", "--json", "--out", "long.md")),
        ("numbers", ("alt-test", numbers, *chosen, *planned, "--out", "numbers.csv.md")),
        *((f"numbers-{one}", ("alt-test", numbers, *chosen, "--table", one, "--out", f"{one}-2.csv")) for one in tables),
        ("two-raters", ("alt-test", numbers, "--human", "a,b", "--judge", "x", "--resamples", "50", "--json", "--out", "two.md")),
    ]  # fmt: skip
    files = {
        words: (QUESTIONS.parent / "labels.csv").read_bytes(),
        "long.csv": long.encode(),
        numbers: few.encode(),
    }
    return Story("alt-test", steps, files)


def agreement(_url: str) -> Story:
    """Raters without a judge on each scale: JSON, every table as CSV, and the whole result in Markdown and LaTeX."""
    words, numbers, scores, animals = "labels.csv", "numbers.csv", "scores.csv", "animals.csv"
    grades = "item,system,rater_a,rater_b,rater_c,gpt\n" + "".join(
        f"q{at // 2},s{at % 2},{1 + at * 7 % 5},{1 + (at * 7 + (at % 3 == 0)) % 5},{'' if at % 7 == 0 else 1 + at % 4},3\n"
        for at in range(48)
    )
    points = "id,human_1,human_2\n" + "".join(
        f"q{at},{at * 37 % 100 / 7},{(at * 37 % 100 + at % 11) / 7}\n" for at in range(30)
    )
    kinds = "item,rater,score\n" + "".join(
        f"q{at},{rater},{('cat', 'dog', 'bird')[(at + (at % step == 0)) % 3]}\n"
        for at in range(24)
        for rater, step in (("ann", 4), ("bo", 5), ("gpt-4o", 2))
    )
    tables = ("agreement", "agreement-pairs", "agreement-raters")
    quick = ("--resamples", "50")
    steps: list[Step] = [
        ("words", ("agreement", words, "--item", "row", *quick, "--json", "--out", "words.md")),
        ("words-tex", ("agreement", words, "--item", "row", *quick, "--out", "words.tex")),
        ("numbers", ("agreement", numbers, *quick, "--little", "0.05", "--confidence", "0.9", "--json", "--out", "numbers.md")),
        *((f"numbers-{one}", ("agreement", numbers, *quick, "--table", one, "--out", f"{one}.csv")) for one in tables),
        ("scores", ("agreement", scores, *quick, "--json", "--out", "scores.md")),
        ("animals", ("agreement", animals, "--json", "--out", "animals.md")),
        ("named", ("agreement", animals, "--human", "ann,gpt-4o", "--json")),
    ]  # fmt: skip
    files = {
        words: (QUESTIONS.parent / "labels.csv").read_bytes(),
        numbers: grades.encode(),
        scores: points.encode(),
        animals: kinds.encode(),
    }
    return Story("agreement", steps, files)


ON_SERVER: dict[str, Callable[[str], Story]] = {
    "agreement": agreement,
    "alt-test": alt_test,
    "judges": judges,
    "generation": generation,
    "resumed": resumed,
}
ON_SHARED: dict[str, Callable[[Path], Story]] = {"published": published, "wmt23": wmt23}
