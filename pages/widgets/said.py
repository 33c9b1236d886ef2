"""What the page says of where a rater is and what was saved: HTML that is replaced as a whole, so that it stays right in a page that the
browser has translated.

A translator puts elements of its own in the place of a page's texts. What Streamlit changes later in a text is then changed in what is no
longer on the screen.
"""

import re
from collections.abc import Sequence
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

STUDY_WORDS, GUIDELINES = "study-words", "study-guide"
"""Names of what is in the language of the study's words, and of its guidelines: the browser marks it (own.page_language)."""
_FIRST_HEADING = re.compile(r"\A\s*#[ \t]+(?P<words>[^\n]*?)[ \t]*#*[ \t]*(?:\n|\Z)")
_MARKUP = re.compile(r"[*_`\\]")
_UNDERLINED = re.compile(r" {0,3}=+[ \t]*")
_FENCE = ("```", "~~~")


def study_words(text: str) -> str:
    """Words of the study within the page's own, as HTML."""
    return f'<bdi class="assay-{STUDY_WORDS}">{escape(text)}</bdi>'


def study_part(number: int) -> DeltaGenerator:
    """A place for words of the study; each on a page has a number of its own."""
    return st.container(key=f"{STUDY_WORDS}-{number}")


def title(text: str, part: str = "", *, small: bool = False) -> None:
    """The place's only heading of the first rank; it can take the focus.

    part: STUDY_WORDS or GUIDELINES; empty for the page's own words. small: where the answers below it are what counts.
    """
    st.html(_title(text, part, small))


def _title(text: str, part: str, small: bool) -> str:
    classes = [*(["assay-place"] if small else []), *([f"assay-{part}"] if part else [])]
    named = f' class="{" ".join(classes)}"' if classes else ""
    return f'<h1 tabindex="-1"{named}>{escape(text)}</h1>'


def place(text: str, progress: str, marks: Sequence[str], none: str) -> None:
    """Where the rater is in a list, how far, and what is saved.

    progress: in words. marks: HTML, what is saved; without any it says `none`.
    """
    saved = " · ".join(f'<span aria-hidden="true">✓</span> {mark}' for mark in marks) or escape(none)
    st.html(
        f'<div class="assay-where">{_title(text, "", True)}<div>{escape(progress)}</div>'
        f'<div class="assay-status">{saved}</div></div>'
    )


def status(html: str, where: DeltaGenerator | None = None, *, framed: bool = False) -> None:
    """What became of a press, as HTML; it is announced. framed: in a box of its own."""
    classes = "assay-status assay-framed" if framed else "assay-status"
    (where or st).html(f'<div class="{classes}">{html}</div>')


def line(text: str, *, narrow: bool = False) -> None:
    """A sentence whose numbers change. narrow: no wider than its words."""
    st.html(f"<p>{escape(text)}</p>", width="content" if narrow else "stretch")


def guidelines(text: str) -> None:
    """A study's Markdown under the heading it begins with, which is the place's heading; its other headings are lower.

    Where it begins with none, the place is named in the page's words.
    """
    heading = _FIRST_HEADING.match(text)
    words = _MARKUP.sub("", heading["words"]).strip() if heading else ""
    if heading and words:
        title(words, GUIDELINES)
    else:
        title("Guidelines")
    with st.container(key=GUIDELINES):
        st.markdown(lowered(text[heading.end() :] if heading else text))


def lowered(text: str) -> str:
    """The same Markdown, whose headings of the first rank have the second: the first is the place's."""
    lines: list[str] = []
    fenced = False
    for one in text.splitlines():
        fenced ^= one.lstrip().startswith(_FENCE)
        if not fenced and one.startswith(("# ", "#\t")):
            lines.append(f"#{one}")
        else:
            underlines = not fenced and lines and lines[-1].strip() and _UNDERLINED.fullmatch(one)
            lines.append("---" if underlines else one)
    return "\n".join(lines)
