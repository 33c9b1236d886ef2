"""A model that needs three calls for each prompt: a reply nobody can read, one that is cut off, one that is right."""

import threading
from collections import Counter

from helpers.models.model_answers import answer
from helpers.processes.scripted_server import Body, Said

UNREADABLE = (
    "<b>Good</b>, I would **say** [here](http://outside.invalid/)\x1b[31m\n== rubric, attempt 9: usable"
)
"""Wants to be Markdown, HTML, colours of a terminal, and the next call."""
BEGUN = '{"feedback": "It'
THOUGHT = "Does the response agree?"


class ThreeTries:
    """A script for the server. The calls of a prompt are told by its first question and its seed."""

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, body: Body, n: int) -> Said | str:
        user = next(turn["content"] for turn in body["messages"] if turn["role"] == "user")
        first = f"{body.get('seed')} {user}"
        with self._lock:
            self._times[first] += 1
            times = self._times[first]
        if times == 1:
            return UNREADABLE
        thought = f"<think>{THOUGHT}</think>"
        if times == 2:
            return Said(thought + BEGUN, finish_reason="length")
        return thought + answer(body, n)
