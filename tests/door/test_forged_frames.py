"""A rater who sends what no browser would: the list of answers changes by real presses on the pair shown, or not."""

from collections.abc import Iterator

import pytest
from helpers.processes.at_the_door import ADMIN, Door, nothing_leaked
from helpers.processes.raw_rater import Gone, RawRater, RawVisitor, pressed
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileURLsRequest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from core.study.raters import Link

FOREIGN_PAGES = (
    "studies",
    "results",
    "operation",
    "annotate",
    "welcome",
    "methods",
    "generate",
    "../studies",
    "pages/studies/__init__.py",
)


@pytest.fixture
def link(door: Door) -> Link:
    return door.link()


@pytest.fixture
def rater(door: Door, link: Link) -> Iterator[RawRater]:
    """A rater before pair 1; whatever a test did, nothing of it may have been sent to them."""
    with door.rater(link) as arrived:
        yield arrived
        nothing_leaked(arrived)


def still_at_work(door: Door, link: Link, rater: RawRater, so_far: int = 0) -> None:
    """After whatever was tried, nothing was saved and the rater goes on as if nothing had been."""
    assert len(door.answers(link)) == so_far
    if rater.number() != so_far + 1:
        rater.go(f"at={so_far + 1}")
    assert rater.choose(0)
    assert len(door.answers(link)) == so_far + 1


def ends_the_connection(rater: RawRater, frame: bytes | str) -> None:
    """Send what cannot be read; the rater then comes back as a tab does."""
    with pytest.raises(Gone):
        _send_and_listen(rater, frame)
    rater.connect()
    rater.go("at=1")


def _send_and_listen(rater: RawRater, frame: bytes | str) -> None:
    rater.send(frame)
    for _ in range(100):
        rater.read()


def test_ids_of_buttons_that_are_not_on_the_screen_press_nothing(
    door: Door, link: Link, rater: RawRater
) -> None:
    own = rater.buttons()["Left"]
    rater.go("at=2")
    elsewhere = door.rater()  # the same questions on another list
    elsewhere.go("at=3")
    with RawVisitor(door.url, door.admin()) as admin:
        admin.go("", page_name="studies")
        of_admin = list(admin.buttons().values())
    assert of_admin
    ids = [elsewhere.buttons()["Right"], *of_admin]
    ids += ["", "$$ID-0-None", "x" * 10_000, "lock", "finish", "$$ID-" + "0" * 32 + "-c2-000000000000-1"]
    for widget_id in ids:
        rater.go("at=2", [pressed(widget_id)])
        assert rater.number() == 2
    elsewhere.close()
    assert door.answers(link) == ()
    rater.go("at=2", [pressed(own)])
    assert (door.choices(link), rater.number()) == (["left"], 2), "a late press means the pair it was on"
    rater.go("at=1")
    assert "Your answer here: Left" in rater.on_screen()


def test_several_buttons_at_once_are_one_answer_at_most(door: Door, link: Link, rater: RawRater) -> None:
    rater.choose(0)
    rater.choose(1)
    everything = [pressed(widget) for widget in rater.buttons().values()]
    rater.go(None, everything)
    rater.go("at=list")
    assert door.choices(link)[:2] == ["left", "right"]
    assert len(door.answers(link)) <= 3
    assert door.lines(link) <= 6, "at most one line for each of the four choices"


@pytest.mark.parametrize(
    "value",
    [
        {"string_value": "1"},
        {"int_value": -1},
        {"double_value": float("nan")},
        {"json_value": '{"a": 1}'},
        {"json_value": "{not json"},
        {"bytes_value": b"\x80\x04N."},
        {"string_trigger_value": {"data": "1"}},
        {"trigger_value": False},
        {},
    ],
    ids=str,
)
def test_a_value_of_another_type_presses_nothing(
    door: Door, link: Link, rater: RawRater, value: dict[str, object]
) -> None:
    before = len(door.answers(link))
    for widget in (rater.buttons()["Left"], rater.comment("").id, rater.widget("checkbox")):
        rater.go(None, [WidgetState(id=widget, **value)])
        rater.go("at=1")
    for answer in door.answers(link)[before:]:
        assert answer.choice is None or value, "only a press chooses"
        assert isinstance(answer.comment, str)
        assert isinstance(answer.invalid, bool)
        assert len(answer.comment) <= 5_000


WRONG_TYPES: list[tuple[str, dict[str, object]]] = [
    ("button_group", {"int_value": 99}),
    ("button_group", {"json_value": "{not json"}),
    ("button_group", {"double_array_value": {"data": [1e99]}}),
    ("button", {"json_value": "{not json"}),
    ("checkbox", {"json_value": "{not json"}),
]
WRONG_FOR_THE_ADMIN: list[tuple[str, dict[str, object]]] = [
    ("number_input", {"string_value": "ten"}),
    ("number_input", {"double_value": float("nan")}),
    ("number_input", {"bytes_value": b"\x80"}),
    ("selectbox", {"int_value": 99}),
    ("selectbox", {"string_array_value": {"data": ["x"]}}),
    ("radio", {"int_value": 99}),
    ("radio", {"string_value": "x"}),
    ("multiselect", {"int_value": 99}),
    ("multiselect", {"double_array_value": {"data": [1e99]}}),
    ("text_input", {"int_value": 99}),
    ("text_area", {"int_value": 99}),
    ("text_area", {"bool_value": True}),
    ("text_area", {"json_value": "{not json"}),
    ("text_area", {"string_array_value": {"data": ["x"]}}),
    ("file_uploader", {"string_value": "x"}),
    ("checkbox", {"json_value": "{not json"}),
]

PLACES_OF_WIDGETS = {
    "text_area": "study=1&tab=design&part=what-raters-read",
    "file_uploader": "study=new",
    "radio": "study=new",
}
"""Kind of widget -> where the page Studies has one, if not in the form of a design."""


def shown_after(visitor: RawVisitor, kind: str, value: dict[str, object]) -> str:
    """Send a widget a value in a form that it never sends; what the page then says."""
    visitor.send(visitor.change([WidgetState(id=visitor.widget(kind), **value)]))
    return visitor.until_drawn().on_screen()


def fails(visitor: RawVisitor) -> bool:
    return any(element.HasField("exception") for element in visitor.elements.values())


@pytest.mark.parametrize(("kind", "value"), WRONG_TYPES, ids=str)
def test_after_a_value_of_another_type_the_rater_goes_on(
    door: Door, link: Link, rater: RawRater, kind: str, value: dict[str, object]
) -> None:
    shown_after(rater, kind, value)
    assert not fails(rater.go("at=1"))
    still_at_work(door, link, rater)


@pytest.mark.parametrize(("kind", "value"), WRONG_FOR_THE_ADMIN, ids=str)
def test_after_a_value_of_another_type_the_admin_goes_on(
    door: Door, kind: str, value: dict[str, object]
) -> None:
    with RawVisitor(door.url, door.admin()) as admin:
        place = PLACES_OF_WIDGETS.get(kind, "study=1&tab=design")
        before = set(admin.go(place, page_name="studies").buttons())
        shown_after(admin, kind, value)
        assert not fails(admin.go(place, page_name="studies"))
        assert admin.on_screen()
    with RawVisitor(door.url, door.admin()) as again:
        assert set(again.go(place, page_name="studies").buttons()) == before


def test_a_value_that_cannot_be_read_is_said_to_be_dropped(rater: RawRater) -> None:
    assert "The value was dropped. Reload the page." in shown_after(
        rater, "checkbox", {"json_value": "{not json"}
    )
    assert not fails(rater)


def test_a_comment_is_kept_within_its_length_and_printable(door: Door, link: Link, rater: RawRater) -> None:
    for number, text in enumerate(
        ["y" * 100_000, "a\x00b", "a\ud800b", "\u202eabc\ufeff", "=cmd|'/c calc'!A1"], start=1
    ):
        rater.go(f"at={number}")
        rater.go(None, [rater.comment(text)])
        rater.choose(2)
    comments = [answer.comment for answer in door.answers(link)]
    assert all(len(comment) <= 5_000 for comment in comments)
    assert "\x00" not in "".join(comments)
    assert door.choices(link) == ["both_good"] * 5


def test_bytes_that_are_no_text_end_the_connection_or_nothing(
    door: Door, link: Link, rater: RawRater
) -> None:
    """A lone surrogate, as UTF-8 would write it: protobuf takes no such text."""
    good = rater.rerun(None, [rater.comment("SURROGATE")])
    for noise in (b"\xed\xa0\x80" * 3, b"\xff" * 9, b"\xc0\x80" + b"a" * 7):
        ends_the_connection(rater, good.replace(b"SURROGATE", noise))
    still_at_work(door, link, rater)


@pytest.mark.parametrize("page", FOREIGN_PAGES)
def test_pages_of_others_cannot_be_asked_for(door: Door, link: Link, rater: RawRater, page: str) -> None:
    with RawVisitor(door.url, door.admin()) as admin:
        admin.go("", page_name=page)
        page_hash = admin.page
    for asked in (
        {"page_name": page},
        {"page_script_hash": page_hash},
        {"page_script_hash": page_hash, "page_name": page},
        {"page_script_hash": "0" * 32},
        {"page_script_hash": "../" * 50},
    ):
        rater.go("at=1", **asked)
        assert not {"Backup", "Create the draft", "Sign out"} & set(rater.buttons())
    for by_itself in (True, False):  # part of a page that is not there: nothing comes of it
        rater.send(rater.rerun("at=1", fragment_id="f" * 32, is_auto_rerun=by_itself))
    still_at_work(door, link, rater.go("at=1", page_script_hash="", page_name=""))


@pytest.mark.parametrize(
    "query",
    [
        "at=99999",
        "at=-1",
        "at=0",
        "at=1e3",
        "at=%D9%A3",
        "at=" + "9" * 300,
        "at=again-1",
        "at=again-99999",
        "at=again--1",
        "at=again-x",
        "at=try-9",
        "at=end",
        "at=finish",
        "at=consent",
        "at=list&at=1",
        "at[]=1",
        "at=%00",
        "at=%ff%fe",
        "at=1;drop table answer",
        "x=" + "y" * 5_000,
        "&&&===?#",
    ],
)
def test_a_place_that_is_not_there_leads_to_one_that_is(
    door: Door, link: Link, rater: RawRater, query: str
) -> None:
    rater.go(query)
    assert "Lock my answers" not in rater.buttons()
    assert "Done." not in rater.on_screen()
    assert "one last question" not in rater.on_screen().lower()
    still_at_work(door, link, rater.go("at=1"))


def test_noise_text_and_floods_end_that_connection_only(door: Door, link: Link, rater: RawRater) -> None:
    bystander = door.rater()
    too_big = rater.rerun(None, [WidgetState(id="x", string_value="z" * (300 * 1024))])
    for frame in (b"\xff\xfe\xfd", b"\x08", "a text frame", too_big, b"\x0a" + b"\xff" * 40):
        ends_the_connection(rater, frame)
    rater.send(b"")  # an empty message asks for nothing
    assert bystander.choose(0)
    bystander.close()
    nothing_leaked(bystander)
    still_at_work(door, link, rater.go("at=1"))


MESSAGES = {
    "clear_cache": BackMsg(clear_cache=True),
    "load_git_info": BackMsg(load_git_info=True),
    "set_run_on_save": BackMsg(set_run_on_save=True),
    "debug_shutdown_runtime": BackMsg(debug_shutdown_runtime=True),
    "debug_disconnect_websocket": BackMsg(debug_disconnect_websocket=True),
    "file_urls_request": BackMsg(
        file_urls_request=FileURLsRequest(request_id="r", file_names=["a.csv"], session_id="s")
    ),
    "stop_script": BackMsg(stop_script=True),
    "app_heartbeat": BackMsg(app_heartbeat=True),
}
for _payload in ("deferred_file", "install_skills", "dismiss_skills_nudge", "dataframe_chunk"):
    _message = BackMsg()
    _message.backend_operation_request.request_id = "r"
    getattr(_message.backend_operation_request, _payload).SetInParent()
    MESSAGES[_payload] = _message


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_for_developers_do_nothing(door: Door, link: Link, rater: RawRater, name: str) -> None:
    frame = MESSAGES[name].SerializeToString()
    with RawVisitor(door.url) as nobody:
        nobody.go("")
        for visitor in (rater, nobody):
            before = len(visitor.received)
            visitor.send(frame)
            visitor.go()
            kinds = {_kind(data) for data in visitor.received[before:]}
            assert not kinds & {"git_info_changed", "file_urls_response", "backend_operation_response"}
        nothing_leaked(nobody)
    still_at_work(door, link, rater)


def _kind(data: bytes) -> str:
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    return ForwardMsg.FromString(data).WhichOneof("type") or ""


def test_a_request_to_speak_as_another_session_is_not_heard(door: Door, link: Link, rater: RawRater) -> None:
    """Some messages carry a session id of their own: the admin's here."""
    with RawVisitor(door.url, door.admin(ADMIN)) as admin:
        admin.go("", page_name="operation")
        message = BackMsg()
        message.backend_operation_request.request_id = "r"
        message.backend_operation_request.session_id = admin.session_id
        message.backend_operation_request.deferred_file.file_id = "0"
        rater.send(message.SerializeToString())
        rater.go("at=1")
    still_at_work(door, link, rater)
