"""A study by somebody who hears the page: a script that knows only what the accessibility tree says.

It moves by headings and by the names of controls, presses with Enter, and hears what live regions say. It sees no element, class or
colour, and nothing is selected for it.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from helpers.processes.app_server import AppServer, settled
from helpers.texts.factories import dataset, study_in
from playwright.sync_api import Page
from rating_visit import NewPage, given

from core.schema.study import Design
from core.store import Store
from core.store.answers import assignments_of
from core.store.raters import update_rater
from core.study.lifecycle import import_study, move
from core.study.raters import add_raters

_LISTEN = """(() => {
    window.heard = [];
    const LIVE = '[aria-live=polite], [aria-live=assertive], [role=status], [role=alert]';
    const say = (region) => {
        const words = region.innerText.replace(/\\s+/g, ' ').trim();
        if (words) window.heard.push(words);
    };
    // As browsers do: a change inside a region that was there before is announced, and so is an alert that appears.
    new MutationObserver(changes => {
        const regions = new Set();
        for (const {target, addedNodes} of changes) {
            const inside = (target.nodeType === 1 ? target : target.parentElement)?.closest(LIVE);
            if (inside) regions.add(inside);
            for (const node of addedNodes) {
                if (node.nodeType !== 1) continue;
                for (const alert of [node, ...node.querySelectorAll('*')]) if (alert.matches('[role=alert]')) regions.add(alert);
            }
        }
        regions.forEach(say);
    }).observe(document, {childList: true, characterData: true, subtree: true});
})()"""


class Reader:
    """The page as a screen reader has it: nodes in their order, each with role, name and level."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._wire = page.context.new_cdp_session(page)
        self._nodes: list[dict[str, Any]] = []

    def nodes(self) -> list[dict[str, Any]]:
        """What can be heard, in reading order; read once for each press."""
        if self._nodes:
            return self._nodes
        settled(self._page)
        self._page.wait_for_timeout(450)  # a press this soon after a pair appears is taken for a double press
        tree = {node["nodeId"]: node for node in self._wire.send("Accessibility.getFullAXTree")["nodes"]}
        root = next(node for node in tree.values() if "parentId" not in node)
        self._nodes = list(self._walk(tree, root))
        return self._nodes

    def _walk(self, tree: dict[str, Any], node: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if not node["ignored"]:
            properties = {one["name"]: one["value"].get("value") for one in node.get("properties", ())}
            role, name = (node.get(part, {}).get("value", "") for part in ("role", "name"))
            yield {
                "role": role,
                "name": " ".join(name.split()),
                "id": node.get("backendDOMNodeId"),
                **properties,
            }
        for child in node["childIds"]:
            if child in tree:
                yield from self._walk(tree, tree[child])

    def headings(self) -> list[tuple[int, str]]:
        return [(node["level"], node["name"]) for node in self.nodes() if node["role"] == "heading"]

    def under(self, heading: str) -> str:
        """What is read from a heading to the next one of its rank."""
        nodes = self.nodes()
        start = next(
            n for n, node in enumerate(nodes) if (node["role"], node["name"]) == ("heading", heading)
        )
        level, words = nodes[start]["level"], []
        for node in nodes[start + 1 :]:
            if node["role"] == "heading" and node["level"] <= level:
                break
            if node["role"] == "StaticText":
                words.append(node["name"])
        return " ".join(words[1:])  # the first is the heading's own

    def focused(self) -> tuple[str, str]:
        found = [
            (one["role"], one["name"])
            for one in self.nodes()
            if one.get("focused") and one["role"] != "RootWebArea"
        ]
        return found[0] if found else ("", "")

    def press(self, name: str, role: str = "button") -> None:
        """Move to a control by its name and press Enter."""
        found = [node for node in self.nodes() if node["role"] == role and node["name"].startswith(name)]
        assert found, (name, [(node["role"], node["name"]) for node in self.nodes()])
        self._wire.send("DOM.focus", {"backendNodeId": found[0]["id"]})
        self._page.keyboard.press("Enter")
        self._nodes = []

    def heard(self) -> list[str]:
        """What was announced since this was last called."""
        settled(self._page)
        self._page.wait_for_timeout(300)
        return list(self._page.evaluate("window.heard.splice(0)"))


def in_order(headings: list[tuple[int, str]]) -> bool:
    """Whether there is one of the first rank, at the beginning, and none skips a rank."""
    levels = [level for level, _ in headings]
    return levels[0] == 1 and levels.count(1) == 1 and all(b - a <= 1 for a, b in pairwise(levels))


@pytest.mark.slow
def test_a_study_of_five_pairs(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    data = dataset(1)
    design = Design(
        candidate=data.sources[0], comparator=data.sources[1], seed=7, repeat_share=0, blinding_pairs=0
    )
    study = import_study(app_store, "by ear", data, design)
    (link,) = add_raters(app_store, study, ["ann"])
    move(app_store, study, "open")
    page = new_page()
    page.add_init_script(_LISTEN)
    page.goto(link.url(app.url))
    page.get_by_role("button", name="Start with three practice pairs").wait_for(timeout=20_000)
    reader = Reader(page)
    assert in_order(reader.headings())
    reader.heard()

    reader.press("Start with three practice pairs")
    for number in (1, 2, 3):
        assert reader.heard() == [f"Practice {number} of 3: does not count."]
        assert reader.focused() == ("heading", f"Practice {number} of 3: does not count")
        assert in_order(reader.headings())
        reader.press("Both good")
        (said,) = reader.heard()
        assert said.startswith("Most people would")
        reader.press("Start the study" if number == 3 else "Next practice pair")

    listed = assignments_of(app_store, study.study_id, "ann")
    texts = {(one.item_id, one.level, one.source): one.text for one in data.outputs}
    choices = ["Left", "Right", "Both good", "Both bad", "Left"]
    before = "Not answered yet."
    for number, (pair, choice) in enumerate(zip(listed, choices, strict=True), start=1):
        title = f"Pair {number} of {len(listed)}"
        assert reader.heard() == [f"{before} {title}."]
        assert reader.focused() == ("heading", title)
        headings = reader.headings()
        assert in_order(headings)
        assert [name for _, name in headings] == [
            title,
            "Question",
            "Reference (correct and complete)",
            "Left",
            "Right",
        ]
        (item,) = [one for one in data.items if one.item_id == pair.item_id]
        assert item.question in reader.under("Question")
        assert item.reference in reader.under("Reference (correct and complete)")
        for side, source in (("Left", pair.left), ("Right", pair.right)):
            said = "".join(reader.under(side).split())
            assert all(
                "".join(word.split()) in said for word in texts[pair.item_id, pair.level, source].split()
            ), side
        reader.press(choice)
        before = f"Pair {number} saved: {choice}."
    assert reader.heard() == ["All pairs are answered."]
    reader.press("Look at my answers first")
    assert reader.heard() == ["Your pairs."]
    reader.press("1")
    (said,) = reader.heard()
    assert said.endswith("Your answer here: Left (saved; press again to change). Pair 1 of 5.")
    reader.press("Overview and finish")
    reader.press("Finish")
    reader.press("Lock my answers")
    assert reader.heard()[-1] == "Done. Thank you!"
    assert given(app_store, study.study_id) == {
        n: choice.lower().replace(" ", "_") for n, choice in enumerate(choices, start=1)
    }


@pytest.mark.slow
def test_what_is_not_saved_is_said_at_once(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    at_hand = study_in(app_store, dataset(2), raters=("ann",), repeat_share=0)
    update_rater(app_store, at_hand.study_id, "ann", onboarding=9)
    page = new_page()
    page.add_init_script(_LISTEN)
    page.goto(f"{app.url}/r/{at_hand.tokens['ann']}")
    page.get_by_role("heading", name="Pair 1 of ").wait_for(timeout=20_000)
    reader = Reader(page)
    reader.heard()
    move(app_store, at_hand.study, "closed")
    reader.press("Left")
    assert any("was not saved" in words for words in reader.heard())
    assert any(node["role"] == "alert" for node in reader.nodes())
