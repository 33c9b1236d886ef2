"""What a press of a rater has the server send: each message costs it several wake-ups."""

from helpers.processes.at_the_door import Door
from helpers.processes.raw_rater import RawRater
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

MOST_MESSAGES = 36


def test_a_press_sends_few_messages_and_no_style_sheet(door: Door) -> None:
    with RawRater.of_link(door.link().url(door.url)) as rater:
        rater.through_onboarding()
        assert rater.choose(0)
        assert b"<style>" in rater.everything()
        rater.received.clear()
        assert rater.choose(1)
        assert len(rater.received) <= MOST_MESSAGES
        assert b"<style>" not in rater.everything()
        columns = [
            m for m in map(ForwardMsg.FromString, rater.received) if m.delta.add_block.HasField("column")
        ]
        assert len(columns) <= 2, "one row of a container is one message, where columns take one each"
