"""Markdown as a tree: every construct of CommonMark, tables, and that nothing of a text is lost but its marks."""

import random
import re
from collections import Counter
from typing import get_args

import pytest
from test_hostile_text import HOSTILE

from core.rendering import LONGEST_RENDERED, rendered, text_as_read
from core.rendering.tree import Element, Leaf, Node, Tag, elements, leaves, read
from core.schema.rendering import RENDERINGS, Shown

MARKDOWN, LATEX = Shown("markdown"), Shown("latex")


def tree(node: Node) -> str:
    """A tree in a line: `paragraph('a' strong('b'))`."""
    if isinstance(node, Leaf):
        return repr(node.text)
    level = f" {node.level}" if node.level else ""
    note = f" {node.note}" if node.note else ""
    return f"{node.tag}{level}{note}({' '.join(map(tree, node.children))})"


def shown(text: str, how: Shown = MARKDOWN) -> str:
    """What is in the document of a text."""
    return " ".join(map(tree, rendered(text, how).children))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # leaf blocks
        ("a\nb", "paragraph('a' ' ' 'b')"),
        ("a\n\nb", "paragraph('a') paragraph('b')"),
        ("a  \nb", "paragraph('a' break('\\n') 'b')"),
        ("a\\\nb", "paragraph('a' break('\\n') 'b')"),
        ("# a\n###### b ##", "heading 1('a') heading 6('b')"),
        ("a\n===\nb\n---", "heading 1('a') heading 2('b')"),
        ("####### a\n#b", "paragraph('####### a' ' ' '#b')"),
        ("a\n\n***", "paragraph('a') rule()"),
        ("    x\n      y", "code_block('x\\n  y')"),
        ("```\n<b>\n\n```", "code_block('<b>\\n')"),
        ("~~~~\n```\n~~~~", "code_block('```')"),
        ("```\nnever closed", "code_block('never closed')"),
        # lists
        ("- a\n- b", "list(item(paragraph('a')) item(paragraph('b')))"),
        ("- a\n\n- b", "list(item(paragraph('a')) item(paragraph('b')))"),
        ("- a\n\n  b", "list(item(paragraph('a') paragraph('b')))"),
        ("- a\n  - b", "list(item(paragraph('a') list(item(paragraph('b')))))"),
        ("- a\n+ b", "list(item(paragraph('a'))) list(item(paragraph('b')))"),
        ("3) a\n4) b", "numbered_list 3(item 3(paragraph('a')) item 4(paragraph('b')))"),
        ("1. a\n1. b", "numbered_list 1(item 1(paragraph('a')) item 2(paragraph('b')))"),
        ("1. a\n5. b", "numbered_list 1(item 1(paragraph('a')) item 5(paragraph('b')))"),
        ("- # a\n- > b", "list(item(heading 1('a')) item(quotation(paragraph('b'))))"),
        ("- ```\n  x\n  ```", "list(item(code_block('x')))"),
        # quotations
        ("> a\n> > b\nlazy", "quotation(paragraph('a') quotation(paragraph('b' ' ' 'lazy')))"),
        # inlines
        ("*a* _b_ **c** __d__", "paragraph(emphasis('a') ' ' emphasis('b') ' ' strong('c') ' ' strong('d'))"),
        ("***a** b*", "paragraph(emphasis(strong('a') ' b'))"),
        ("snake_case_name a * b", "paragraph('snake_case_name a * b')"),
        ("\\*a\\* &amp; &copy; &#65; &bogus;", "paragraph('*a* & © A &bogus;')"),
        ("`` a`b `` `*c*`", "paragraph(code('a`b') ' ' code('*c*'))"),
        ("[a *b*](x)", "paragraph(link('a ' emphasis('b') ' (x)'))"),
        ('[a](<x y> "t")', "paragraph(link('a' ' (x y, t)'))"),
        (
            "[a][b] [b] [b][]\n\n[b]: /x 't'",
            "paragraph(link('a' ' (/x, t)') ' ' link('b' ' (/x, t)') ' ' link('b' ' (/x, t)'))",
        ),
        ("<http://a.b/c> <a@b.c>", "paragraph(link('http://a.b/c') ' ' link('a@b.c'))"),
        ("![a](x)", "paragraph(image('a' ' (x)'))"),
        ("![](x)", "paragraph(image('x'))"),
        ("[![a](x)](y)", "paragraph(link(image('a' ' (x)') ' (y)'))"),
        ("[a](javascript:b)", "paragraph('[a](javascript:b)')"),
        # HTML is text
        ("<b>a</b>", "paragraph('<b>a</b>')"),
        ("<div>\n*a*\n</div>", "paragraph('<div>' ' ' emphasis('a') ' ' '</div>')"),
        ("<!-- a -->", "paragraph('<!-- a -->')"),
        ("&lt;b&gt;", "paragraph('<b>')"),
        # tables
        (
            "|a|b|\n|:-|-:|\n|1|2|",
            "table(table_row(heading_cell left('a') heading_cell right('b')) table_row(cell left('1') cell right('2')))",
        ),
        (
            "a|b\n-|-\n1 \\| 2|`3`",
            "table(table_row(heading_cell('a') heading_cell('b')) table_row(cell('1 | 2') cell(code('3'))))",
        ),
        # not of CommonMark: text
        ("~~a~~", "paragraph('~~a~~')"),
        ("- [ ] a\n- [x] b", "list(item(paragraph('[ ] a')) item(paragraph('[x] b')))"),
        ("a[^1]\n\n[^1]: b c", "paragraph('a[^1]') paragraph('[^1]: b c')"),
        ("https://a.b", "paragraph('https://a.b')"),
        ("$x$ costs \\(5\\)", "paragraph('$x$ costs (5)')"),
        # marks alone
        ("", "written('')"),
        (" \n", "written(' \\n')"),
        ("**", "paragraph('**')"),
        ("---", "rule()"),
        ("#", "heading 1()"),
        ("-", "list(item())"),
        ("42.", "written('42.')"),
    ],
    ids=ascii,
)
def test_constructs(text: str, expected: str) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # CommonMark knows definitions that no link uses; a rater would not see them
        ("a\n\n[b]: http://c 'd'", "paragraph('a') paragraph('[b]: http://c d')"),
        ("[b]\n\n[b]: one\n[b]: two", "paragraph(link('b' ' (one)')) paragraph('[b]: two')"),
        # tables end where their heading ends
        ("|a|\n|-|\n|1|2|3|", "table(table_row(heading_cell('a')) table_row(cell('1') cell('2') cell('3')))"),
        (
            "> |a|\n> |-|\n> |1|2|",
            "quotation(table(table_row(heading_cell('a')) table_row(cell('1') cell('2'))))",
        ),
        # the first line of a block of code
        ("```python\nx\n```", "code_block python('x')"),
        ("```Python\nx\n```", "code_block python('x')"),
        ("``` the answer is 5\nx\n```", "paragraph('the answer is 5') code_block('x')"),
        ("```python title=a\nx\n```", "paragraph('python title=a') code_block python('x')"),
    ],
    ids=ascii,
)
def test_words_that_commonmark_drops_are_shown(text: str, expected: str) -> None:
    assert shown(text) == expected


def spec_like_examples() -> list[str]:
    """Texts made of all marks of Markdown, in random orders; words in them are numbered, so that each can be looked for."""
    draw = random.Random(54)
    before = [
        "# ",
        "## ",
        "> ",
        "> > ",
        "- ",
        "  - ",
        "1. ",
        "7) ",
        "    ",
        "\t",
        "```\n",
        "~~~ ",
        "    - ",
        "$$\n",
        "\\[\n",
        "\\begin{align}\n",
        ": ",
        "",
    ]
    around = [
        *("*_", "**", "__", "***", "`", "``", "~~", "$", "$$", '"', "\\"),
        *(
            "[|](adr%dx)",
            "[|](<adr%dx> 'adr%dx')",
            "![|](adr%dx)",
            "[|][r]",
            "<|>",
            "<b>|</b>",
            "\\(|\\)",
            "\\[|\\]",
            "||",
            "&amp;|",
            "(|)",
            "{|}",
        ),
        *(
            "\\text{|}",
            "\\frac{|}{2}",
            "$\\foo{|}$",
            "$|_1$",
            "{{|}}",
            "<!-- | -->",
            "[^|]",
            "[ ] |",
            "| ",
            "|  ",
            "|\\",
        ),
    ]
    after = [
        "\n",
        "\n\n",
        "\n",
        "  \n",
        " ",
        "|",
        "\n|-|-|\n|",
        "\n---\n",
        "\n===\n",
        "\n```\n",
        "\n$$\n",
        "\n\\]\n",
        "\n> ",
        "\n[r]: ",
        "\n\\end{align}\n",
    ]
    texts = []
    for _ in range(1_500):
        pieces: list[str] = []
        for number in range(draw.randrange(1, 12)):
            mark = draw.choice(around)
            word = f"word{number}x"
            body = mark.replace("|", word, 1) if "|" in mark else mark + word + mark
            body = body.replace("%d", str(number))
            pieces += [draw.choice(before) if draw.random() < 0.4 else "", body, draw.choice(after)]
        texts.append("".join(pieces))
    return texts


@pytest.mark.parametrize(
    "how",
    [Shown(mode, "python" if mode == "code" else "") for mode in RENDERINGS],
    ids=lambda how: how.rendering,
)
def test_no_word_is_lost_and_every_element_is_known(how: Shown) -> None:
    for text in [*HOSTILE, *spec_like_examples()]:
        document = rendered(text, how)
        assert {element.tag for element in elements(document)} <= set(get_args(Tag))
        as_read = read(document).text
        assert as_read == text_as_read(text, how) or how.as_written
        there, left = (Counter(re.findall(r"(?:word|adr)\d+x", one)) for one in (text, as_read))
        assert not there - left, (text, as_read)
        if how.rendering in ("plain", "code"):
            assert as_read == text
        notes = {element.note for element in elements(document)}
        assert notes <= {"", "left", "right", "center", "python"}, "nothing of a text is an attribute"


def test_a_document_holds_no_address_but_as_words() -> None:
    """A tree has tags, numbers, alignments and the names of languages: no field in which an address could lie."""
    document = rendered(
        "[a](http://x) ![b](http://y) <http://z>\n\n```http://w\nc\n```\n\n```python\nd\n```", MARKDOWN
    )
    for element in elements(document):
        assert element.note in ("", "python")
    assert [leaf.text for leaf in leaves(document) if "http" in leaf.text] == [
        " (http://x)",
        " (http://y)",
        "http://z",
        "http://w",
    ]


@pytest.mark.parametrize(
    "text",
    [
        ">" * 10_000 + "a",
        "".join("  " * level + "- a\n" for level in range(400)),
        "*a " * 5_000 + "b* " * 5_000,
        "**" * 5_000 + "a" + "**" * 5_000,
        "[" * 5_000 + "a" + "](x)" * 5_000,
        "a" * (LONGEST_RENDERED + 1) + "*b*",
    ],
    ids=lambda text: ascii(text[:6]),
)
def test_deeper_or_longer_than_people_write_is_shown_as_written(text: str) -> None:
    as_read = text_as_read(text, LATEX)
    assert as_read.count("a") == text.count("a")
    assert isinstance(rendered(text, LATEX), Element)
