"""Texts for each way to show them: ordinary ones, and hostile ones that want to be more than text."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.schema.rendering import Rendering, Shown
from core.schema.study import Dataset

SET_SO: Mapping[Rendering, str] = {
    "plain": "{}",
    "markdown": "## Answer\n\n- **{}**\n- `f(x)`\n\n| a | b |\n|---|---:|\n| one | 2 |\n\n```python\nreturn 1\n```",
    "latex": "{} It holds that $\\frac{{a}}{{b}} \\neq 1$:\n\n$$x^2 = 2$$",
    "code": "def answer():\n    # A comment.\n    return '{}'",
}
"""How a text is written in each mode; it stands in the place of `{}`."""


def written_so(data: Dataset, rendering: Rendering) -> Dataset:
    """The data set with its answers written in a mode."""
    outputs = tuple(replace(one, text=SET_SO[rendering].format(one.text)) for one in data.outputs)
    return replace(data, outputs=outputs)


def design_of(rendering: Rendering) -> dict[str, Any]:
    """The fields of a design whose texts are shown so."""
    shown = shown_so(rendering)
    return {"rendering": shown.rendering, "code_language": shown.code_language}


def shown_so(rendering: Rendering) -> Shown:
    """The way to show texts; code is Python."""
    return Shown(rendering, "python" if rendering == "code" else "")


_EVERYWHERE = (
    "<b>SEEN-tag</b> <img src={outside}/1.png onerror=alert(1)> <script>alert(2)</script>",
    "<svg onload=alert(3)><a href='javascript:alert(4)'>SEEN-svg</a></svg>",
    "<iframe src={outside}/2></iframe> <link rel=stylesheet href={outside}/3.css> SEEN-frame",
    "</div></span></style><style>body{{display:none;background:url({outside}/4.png)}}</style> SEEN-style",
    "![SEEN-image]({outside}/5.png) ![SEEN-data](data:image/png;base64,iVBORw0KGgo=)",
    "[SEEN-script](javascript:alert(5)) [SEEN-link]({outside}/6) <{outside}/SEEN-auto>",
    '[SEEN-named][n] and ![SEEN-pictured][n]\n\n[n]: {outside}/7.png "a\\" onload=\'alert(6)"',
    "&lt;img src={outside}/8.png&gt; &#60;script&#62;alert(7)&#60;/script&#62; SEEN-entity",
    "zero\u200bwidth\u200d \u202eSEEN-turned\u202c \u2066SEEN-isolated\u2069 \ufeff",
    "> - # SEEN-nested <video src={outside}/9.mp4 autoplay></video>",
    '```py" onmouseover="alert(8)" x="\nSEEN-fence = \'<img src={outside}/10.png>\'\n```',
    "~~~<img/src={outside}/11.png>\nSEEN-tilde\n~~~",
    '| SEEN-cell | <img src={outside}/12.png> |\n|:---" onclick="alert(9)|---|\n| a | b |',
    "| SEEN-head | b |\n|:--|--:|\n| <script>alert(10)</script> | ![x]({outside}/13.png) |",
)
_FORMULAS = (
    "$\\href{{javascript:alert(11)}}{{x}}$ SEEN-href $\\url{{{outside}/14}}$",
    "$\\style{{background:url({outside}/15.png)}}{{x}} \\class{{a}}{{y}} \\id{{z}}{{w}}$ SEEN-class",
    "$\\text{{\"'><img src={outside}/16.png onerror=alert(12)>}} &quot;$ SEEN-quoted",
    "$$\\includegraphics{{{outside}/17.png}} \\color{{red}}{{x}}$$ SEEN-graphics",
    '\\(\\htmlData{{a="b" onload="alert(13)}}{{x}}\\) SEEN-data-of-html \\[\\unicode{{x41}}\\]',
    "\\begin{{align}} a &= b \\tag{{<img src={outside}/18.png>}} \\end{{align}} SEEN-align",
    "<math href='{outside}/19'><mi onclick='alert(14)'>SEEN-mathml</mi></math> $\\mathrm{{</math><img src={outside}/20.png>}}$",
    '<span class="assay-math" data-math=\'["script",{{"onload":"alert(15)"}},"alert(16)",[]]\'>SEEN-span</span>',
)


def hostile_text(outside: str) -> str:
    """A text that tries every way out at once. outside: a host that nobody may ask; words that begin with SEEN must be shown."""
    return "\n\n".join((*_EVERYWHERE, *_FORMULAS)).format(outside=outside)
