"""Languages on a rater's page: of texts, of the study's words, and which way it is read; the heading of a place that the study words."""

import pytest
from streamlit.testing.v1 import AppTest

from core.study.guidelines import spoken_language
from pages.widgets.blind_pair import language_of
from pages.widgets.own import reading_direction


def test_a_text_says_its_own_language_and_that_nobody_is_to_translate_it() -> None:
    assert language_of("fa") == 'translate="no" dir="auto" lang="fa"'
    assert language_of("und") == 'translate="no" dir="auto" lang=""', "unknown, and not that of the page"
    assert language_of('"><b>') == 'translate="no" dir="auto" lang="&quot;&gt;&lt;b&gt;"'


@pytest.mark.parametrize(
    ("tag", "direction"),
    [
        *((tag, "rtl") for tag in ("ar", "he", "fa-IR", "UR", "az-Arab", "ff-Adlm-GN")),
        *((tag, "ltr") for tag in ("en", "de-AT", "az", "ar-Latn", "und", "zh-Hant", "")),
    ],
)
def test_which_way_a_language_is_read(tag: str, direction: str) -> None:
    assert reading_direction(tag) == direction


@pytest.mark.parametrize(
    ("language", "spoken"), [("de", "de"), ("de-AT", "de"), ("pt-BR", "pt-BR"), ("he", "en"), ("und", "en")]
)
def test_the_language_that_a_rater_reads(language: str, spoken: str) -> None:
    assert spoken_language(language, ["de", "en", "fr", "pt-BR"]) == spoken


def guide(text: str) -> AppTest:
    def page(text: str) -> None:
        from pages.widgets import said

        said.guidelines(text)

    at = AppTest.from_function(page, kwargs={"text": text}, default_timeout=30).run()
    assert not at.exception
    return at


def test_the_guidelines_heading_is_the_heading_of_their_place() -> None:
    at = guide("\n# How *to* vote #\nRead.\n# More\n```\n# code\n```\n")
    assert [one.value for one in at.get("html")] == [
        '<h1 tabindex="-1" class="assay-study-guide">How to vote</h1>'
    ]
    assert [one.value for one in at.markdown] == ["Read.\n## More\n```\n# code\n```"]


def test_guidelines_without_a_heading_get_one() -> None:
    at = guide("Read & vote.\n\nThen\n====\nGo.")
    assert [one.value for one in at.get("html")] == ['<h1 tabindex="-1">Guidelines</h1>']
    assert [one.value for one in at.markdown] == ["Read & vote.\n\nThen\n---\nGo."]
