"""A rater of texts in a process of their own: saves score after score and mark after mark, and says what was acknowledged.

    python rating_process.py DATABASE TOKEN ROUNDS

Prints `number score end done` after each save that returned, at once, so that a process that is killed has said it.
end: where the only marked error ends; 0: none is marked.
"""

import sys
from pathlib import Path

from core.schema.scores import ErrorSpan
from core.store import open_store
from core.study.blinding import RatingDesk, open_rating_desk


def main(database: str, token: str, rounds: str) -> None:
    for turn in range(int(rounds)):
        number, total = 0, 1
        while number < total:
            number += 1
            for step in range(3):
                with open_store(Path(database)) as store:  # a connection per press, as the app has
                    desk = open_rating_desk(store, token)
                    assert desk is not None
                    total = desk.total
                    press(desk, number, turn, step)
                    text = desk.text(number)
                end = text.spans[0].end if text.spans else 0
                print(number, text.scores["overall"], end, int(text.done), flush=True)


def press(desk: RatingDesk, number: int, turn: int, step: int) -> None:
    """One save: the scores, the marks, or that the text is done."""
    if step == 0:
        desk.save_scores(number, {"overall": float((7 * number + turn) % 101), "H": turn % 2})
    elif step == 1:
        desk.save_spans(number, [ErrorSpan(0, 1 + (number + turn) % 4, "minor", "fluency/grammar")])
    else:
        desk.complete(number, seconds=1.0)


if __name__ == "__main__":
    main(*sys.argv[1:])
