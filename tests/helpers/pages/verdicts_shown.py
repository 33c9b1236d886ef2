"""The verdicts that a check shows, as a test reads them."""

from helpers.pages.generate_visit import html_of
from streamlit.testing.v1 import AppTest


def verdicts(at: AppTest) -> list[str]:
    """The words in the boxes."""
    boxes = [body for body in html_of(at) if 'class="assay-verdict' in body]
    return [body.partition('"assay-word">')[2].split(" ", 1)[1].partition(" <span")[0] for body in boxes]
