"""Settings with a field of every shape, for the tests of all that is made from fields."""

from collections.abc import Iterator, Mapping
from typing import Literal

from core.schema.runs import KindSettings
from core.schema.settings import Remark, Settings, setting


class ToySettings(KindSettings):
    """A field of every shape, with and without a value of its own."""

    tone: Literal["kind", "strict"] = setting(
        "kind", "Tone", "how it speaks", words={"kind": "kindly", "strict": "without mercy"}
    )
    weight: float = setting(
        1.0, "Weight of recall", "1: alike, above 1 recall; 90 % is usual", within=(0.001, 1000.0), step=0.5
    )
    rounds: int = setting(
        2, "Rounds", "how often it is asked", within=(1, 100), option="times", metavar="N", unit="rounds"
    )
    loud: bool = setting(False, "Speak up", "also with {tone=strict}", scored=False)
    polite: bool = setting(True, "Say please", "whether it says please")
    language: str = setting("", "Language", "of the texts", words={"": "their own tags"})
    only: tuple[str, ...] = setting(
        (), "Judge only", "system whose texts are judged", metavar="SYSTEM", words={"": "all"}
    )
    limit: int | None = setting(None, "Limit", "texts at most (default: all there are)", within=(1, 50))
    model: str | None = setting(None, "Model", "that verifies")
    free: float = setting(0.5, "Free", "without bounds")
    device: Literal["cpu"] | Literal["cuda"] | None = setting(None, "Device", "of the model")
    checker: Literal["llm", "nli", "rules"] = setting(
        "llm", "Checked by", "who checks; unless chosen, whoever is there"
    )
    kept: str = ""
    """No door asks for it."""

    def problems(self, backend: str) -> Iterator[Remark]:
        """One between two settings."""
        if self.loud and self.tone == "kind":
            yield Remark("loud", "only with {tone=strict} and with {rounds} of {n}", {"n": 3})

    @classmethod
    def offered(cls, backend: str) -> Mapping[str, tuple[str, ...]]:
        """See KindSettings."""
        return {"checker": ("rules", "nli") if backend == "rules" else ("llm", "nli", "rules")}

    @classmethod
    def usual(cls, given: Mapping[str, object], backend: str) -> Mapping[str, object]:
        """See KindSettings."""
        return {"checker": "nli" if given.get("model") else cls.offered(backend)["checker"][0]}

    def idle(self, backend: str) -> frozenset[str]:
        """By the backend, by what was chosen before, by both."""
        found = {"weight"} if backend == "rules" else set()
        return frozenset(found | ({"device"} if self.model is None else set()))


class ToyAnalysis(Settings):
    """Options of an analysis, which has no model: open bounds, one bound, lists."""

    margin: float = setting(0.1, "Margin", "smallest gain that counts", above=0, at_most=1, step=0.05)
    epsilon: float = setting(0.2, "Price of a rater", "share of texts", at_least=0, below=1, step=0.05)
    advantage: float | None = setting(
        None, "Advantage", "to suppose", above=0, below=1, words={"": "the observed one"}
    )
    resamples: int = setting(1000, "Resamples", "how often", at_least=1)
    items: tuple[int, ...] = setting(
        (30, 50, 100, 200), "Items", "numbers of items", within=(2, 1_000_000), listed=True, metavar="N,..."
    )
    weights: tuple[float, ...] = setting((), "Weights", "of the votes", above=0, listed=True)
    order: tuple[str, ...] | None = setting(
        None, "Order", "labels from worst to best", listed=True, words={"": "alphabetical"}
    )
