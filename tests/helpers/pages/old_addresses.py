"""Old addresses with a study that they lead to: what a visitor asks for, and where it leads."""

from helpers.texts.factories import always, dataset, ended, study_in, vote

from core.store import Store
from core.store.kept import keep_file

LIST: dict[str, str] = {}
"""Parameters of the list of studies."""
LEADS: dict[str, dict[str, str]] = {
    "results": LIST,
    "results?study=1&x=y": LIST,
    "check?study=june": {"study": "1", "tab": "judges", "judges": "trust"},
    "check?study=june&judge=file-1&use=monitor&tolerance=0.1&human=ann": {
        "study": "1",
        "tab": "judges",
        "judges": "trust",
        "judge": "file-1",
        "use": "monitor",
        "tolerance": "0.1",
    },
    "check?study=nobody": LIST,
    "metrics?part=votes": {"study": "1", "tab": "judges"},
    "metrics?part=votes&scores=file-1": {"study": "1", "tab": "judges"},
}
"""Old address -> parameters of the page Studies. Of a database with `scored_study`."""


def scored_study(store: Store) -> int:
    """Make an unblinded study of pairs, `june`, whose texts a stored file of scores has scored; its number, 1."""
    done = study_in(store, dataset(6), raters=("ann", "ben"), repeat_share=0, name="june")
    for token in done.tokens.values():
        vote(store, token, always("left"))
    ended(store, done.study_id)
    rows = [(one.item_id, one.level, one.source, len(one.text) % 7) for one in dataset(6).outputs]
    scores = "\n".join(["item,level,system,my-judge", *(",".join(map(str, row)) for row in rows)]).encode()
    keep_file(store, "scores", "judge.csv", scores, {})
    return done.study_id
