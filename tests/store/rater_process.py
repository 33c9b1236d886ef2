"""A rater in a process of their own: answers pair after pair, and says what was acknowledged.

    python rater_process.py DATABASE TOKEN ROUNDS

Prints `number choice` after each save that returned, at once, so that a process that is killed has said it.
"""

import sys
from pathlib import Path

from core.store import open_store
from core.study.blinding import open_desk

CHOICES = ("left", "right", "both_good", "both_bad")


def main(database: str, token: str, rounds: str) -> None:
    for turn in range(int(rounds)):
        number = 0
        while True:
            with open_store(Path(database)) as store:  # a connection per press, as the app has
                desk = open_desk(store, token)
                assert desk is not None
                number += 1
                if number > desk.total:
                    break
                choice = CHOICES[(number + turn) % 4]
                desk.save_choice(number, choice, seconds=1.0, diff_used="none")
            print(number, choice, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
