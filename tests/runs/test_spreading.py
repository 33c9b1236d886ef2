"""Batches on a cluster: what comes back, what is tried again, and what is given up, without Ray."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from helpers.toys.scorer import DIES, open_toy

from core.errors import InputError
from core.metrics.kind import KIND as METRICS
from core.metrics.parts import DIED, ClusterPart, PairScores
from core.metrics.scorer import ScoringPair
from core.runs.asked import Running, ask, environment_for
from core.runs.working import cluster
from core.runs.working.cluster import LOST, MOST_LOST, TRIES, Cluster, Lost, pieced


class Workers:
    """Workers that die of some items, and once of others."""

    def __init__(self, deadly: Sequence[int] = (), once: Sequence[int] = ()) -> None:
        self.deadly, self.once = set(deadly), set(once)
        self.rounds: list[tuple[int, list[int]]] = []
        """(Tries, sizes of the pieces) of each round."""

    def __call__(self, pieces: Sequence[Sequence[int]], tries: int) -> Iterator[tuple[int, list[int]]]:
        self.rounds.append((tries, [len(piece) for piece in pieces]))
        for at, piece in reversed(list(enumerate(pieces))):
            for _ in range(tries):
                died = self.deadly & set(piece) or self.once & set(piece)
                self.once -= set(piece)
                if not died:
                    yield at, [10 * item for item in piece]
                    break


def test_every_item_has_its_result_in_its_place() -> None:
    workers = Workers()
    found = dict(pieced(workers, [[1, 2, 3], [], [4]]))
    assert found == {0: [10, 20, 30], 1: [], 2: [40]}
    assert workers.rounds == [(TRIES, [3, 1])]


def test_a_worker_that_dies_once_costs_no_more_than_its_batch_again() -> None:
    workers = Workers(once=[2])
    assert dict(pieced(workers, [[1, 2], [3]])) == {0: [10, 20], 1: [30]}
    assert len(workers.rounds) == 1


@pytest.mark.parametrize("deadly", [[13], [0], [99], [13, 14, 77]])
def test_only_what_kills_its_workers_is_lost(deadly: list[int]) -> None:
    workers = Workers(deadly)
    (_, found), *others = pieced(workers, [range(100), range(100, 120)])
    results = dict([(_, found), *others])
    expected = [LOST if item in deadly else 10 * item for item in range(100)]
    assert results == {0: expected, 1: [10 * item for item in range(100, 120)]}
    assert Lost("its worker died 2 times") == LOST
    # 100 items: pieces of 12 or 13, then of 1 or 2, then single ones.
    assert next(tries for tries, _ in workers.rounds) == TRIES
    assert len(workers.rounds) <= 5
    assert workers.rounds[-1][0] == TRIES, "the item itself is tried as often as a batch"


def test_a_batch_that_is_whole_does_not_wait_for_one_that_is_not() -> None:
    found = pieced(Workers([1]), [[1, 2], [3]])
    assert next(found) == (1, [30])
    assert next(found) == (0, [LOST, 20])


class Here:
    """A cluster in this process: what a worker would die of does not come back."""

    width = 2

    def start(self) -> None:
        """Do nothing."""

    def spread(
        self,
        function: Callable[[Sequence[Any]], Sequence[Any]],
        batches: Sequence[Sequence[Any]],
        *,
        gpus: float,
    ) -> Iterator[tuple[int, Sequence[Any]]]:
        def worked(pieces: Sequence[Sequence[Any]], tries: int) -> Iterator[tuple[int, Sequence[Any]]]:
            for at, piece in enumerate(pieces):
                if not any(text is not None and text[0] == DIES for text in piece):
                    yield at, function(piece)

        return pieced(worked, batches)

    def close(self) -> None:
        """Do nothing."""


def test_a_text_that_no_worker_survives_has_a_reason_instead_of_scores() -> None:
    async def scored() -> list[PairScores]:
        part = ClusterPart("neural", open_toy, Here())
        await part.start()
        found = await part.score([ScoringPair(DIES if n == 3 else "one " * n, "one") for n in range(9)])
        await part.close()
        return found

    found = asyncio.run(scored())
    reason = "the metric failed on this text (its worker died 2 times)"
    assert found.pop(3) == PairScores((None, None), {0: reason, 1: reason}, 0.0, DIED)
    assert [one.values for one in found] == [(float(n), float(n > 0)) for n in range(9) if n != 3]


def test_a_cluster_on_which_nothing_works_is_blamed_and_not_the_items() -> None:
    items = range(MOST_LOST + 1)
    with pytest.raises(InputError, match="No worker of the Ray cluster survives"):
        list(pieced(Workers(items), [items]))
    assert dict(pieced(Workers(range(MOST_LOST)), [range(MOST_LOST)])) == {0: [LOST] * MOST_LOST}


def test_a_function_that_forgets_an_item_is_a_programmers_error() -> None:
    def forgets(pieces: Sequence[Sequence[int]], tries: int) -> Iterator[tuple[int, list[int]]]:
        yield 0, [1]

    with pytest.raises(RuntimeError, match="2 items got 1 results"):
        list(pieced(forgets, [[1, 2]]))


def test_stopping_gives_up_what_is_open() -> None:
    assert list(pieced(Workers(), [[1], [2]], lambda: True)) == []


def test_what_lacks_ray_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError) as refused:
        Cluster().start()
    assert "\n" not in str(refused.value)
    assert "pip install" in str(refused.value)
    assert "requirements-ray.txt" in str(refused.value)


@pytest.mark.parametrize(
    ("model", "environment"),
    [({}, "ray"), ({"backend": "vllm", "model": "tiny"}, "vllm")],
)
def test_a_run_on_ray_starts_where_ray_is(model: dict[str, Any], environment: str) -> None:
    metrics, running = ask(METRICS, {"metrics": ("bleu-1",)}, {}, {"engine": "ray"})
    assert environment_for(metrics, running) == "ray"
    neural, running = ask(METRICS, {"metrics": ("bertscore-en-l5",)}, {}, {"engine": "ray"})
    assert environment_for(neural, running) == "neural", "Ray must be installed there"
    from core.runs.kinds import KINDS

    asked, how = ask(KINDS["damage"], {}, model, {"engine": "ray", "address": "10.0.0.1:6379"})
    assert environment_for(asked, how) == environment
    assert environment_for(asked, Running()) == ("vllm" if model else "base")
