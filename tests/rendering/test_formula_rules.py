"""Formulas: which text is one, and that one is set whole or not at all."""

import json
from collections.abc import Iterator

import pytest

from core.rendering import rendered
from core.rendering.formula_rules import has_formula
from core.rendering.formulas import LONGEST_FORMULA, formula
from core.rendering.tree import Formula, leaves
from core.schema.rendering import Shown
from pages.widgets.rendered import document_html

LATEX = Shown("latex")


def formulas_in(text: str) -> list[str]:
    return [leaf.text for leaf in leaves(rendered(text, LATEX)) if leaf.formula]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is $x$.", ["x"]),
        ("$x$ equals 5", ["x"]),
        ("It is \\(x\\) or \\[y\\], $$z$$", ["x", "y", "z"]),
        ("$a_b$ and $c_d$", ["a_b", "c_d"]),
        ("设$x$为$y$", ["x", "y"]),
        ("the $n$th of $5$ km", ["n", "5"]),
        ("$5 \\text{ apples and pears}$", ["5 \\text{ apples and pears}"]),
        ("$x = \\$5$", ["x = \\$5"]),
        ("$$\nx\n=\n1\n$$", ["x\n=\n1"]),
        ("so:\n\\[\nx\n\\]\nthen", ["x"]),
        ("so: $$\nx\n$$\nand $$\ny\n$$", ["x", "y"]),
        ("\\begin{align}\na &= b\n\\end{align}", ["\\begin{align}\na &= b\n\\end{align}"]),
        ("- a\n  \\[\n  x\n  \\]\n- b", ["x"]),
        ("> $$\n> x\n> $$", ["x"]),
        ("|a|b|\n|-|-|\n|$x$|\\(y\\)|", ["x", "y"]),
        # prices and prose
        ("costs $5 and $10", []),
        ("from $5-$10, US$5/US$6, 5$ to 10$", []),
        ("$5 and 10$ more", []),
        ("either $20, or $ 30", []),
        ("a $ b $ c", []),
        ("$HOME and $PATH_X", []),
        ("\\$x\\$", []),
        ("`$x$` and `\\(y\\)`", []),
        ("```\n$$x$$\n```", []),
        ("    $$x$$", []),
        ("never closed \\(x, $$y, \\[z", []),
        ("\\( \\) $$ $$", []),
        ("\\begin{itemize}\\item a\\end{itemize}", []),
    ],
    ids=ascii,
)
def test_what_is_a_formula(text: str, found: list[str]) -> None:
    assert formulas_in(text) == found
    assert has_formula(text) == bool(found) or text.startswith("    ")


SET = r"""
\frac{1}{2} | \dfrac{3}{4} + \tfrac{1}{4} = 1 | \boxed{42} | \boxed{\frac{\sqrt{3}}{2}} | \text{The answer is } 5 | x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}
\left( \frac{a}{b} \right)^2 | \left[ 0, 1 \right) | \left\{ x \in \mathbb{R} \mid x > 0 \right\} | \binom{n}{k} = \frac{n!}{k!(n-k)!} | \dbinom{5}{2} = 10
f(x) = \begin{cases} x^2 & \text{if } x \ge 0 \\ -x & \text{otherwise} \end{cases} | \begin{align*} a &= b + c \\ &= d \end{align*}
\begin{align} 2x + 3 &= 7 \\ 2x &= 4 \\ x &= 2 \end{align} | \begin{aligned} a &= b \\[4pt] c &= d \end{aligned} | \begin{alignedat}{2} a &= b \end{alignedat}
\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} | \begin{bmatrix} a & b \\ c & d \end{bmatrix} | \begin{vmatrix} a & b \\ c & d \end{vmatrix} = ad - bc
\begin{array}{c|c} x & y \\ \hline 1 & 2 \end{array} | \begin{split} a &= b \\ &= c \end{split} | \begin{gathered} a = b \\ c = d \end{gathered}
\begin{equation} a = b \end{equation} | \begin{gather*} a = b \\ c = d \end{gather*} | \begin{dcases} x & y \\ z & w \end{dcases} | \begin{smallmatrix} a & b \end{smallmatrix}
a = b \\ c = d | \left\{ \begin{array}{l} x = 1 \\ y = 2 \end{array} \right. | \overline{AB} \parallel \overline{CD} | \overrightarrow{AB} | \vec{v} = (1, 2, 3)
\hat{y} = \beta_0 + \beta_1 x | \sum\limits_{i=1}^{n} i = \frac{n(n+1)}{2} | \sum_{k=0}^{\infty} \frac{x^k}{k!} = e^x | \prod_{i=1}^n a_i | \sum_{\substack{i<j \\ j<k}} a
\int_0^1 x^2 \, dx = \frac{1}{3} | \int_{-\infty}^{\infty} e^{-x^2} dx = \sqrt{\pi} | \oint_C \mathbf{F} \cdot d\mathbf{r} | \iint_D f(x,y) \, dA | \iiint_V dV
\lim_{x \to 0} \frac{\sin x}{x} = 1 | \limsup_{n\to\infty} a_n | \operatorname{lcm}(4, 6) = 12 | \operatorname*{arg\,max}_{\theta} L(\theta) | \arg\min_x f(x) | \gcd(a, b) = 1
\mathbb{R}, \mathbb{Z}, \mathbb{N} | \mathcal{L}(\theta) | \mathfrak{g} | \mathbf{A}\mathbf{x} = \mathbf{b} | \mathrm{kg} \cdot \mathrm{m/s}^2 | \cancel{5} \cdot 3
\frac{\cancel{4}x}{\cancel{4}} | \bcancel{x} + \xcancel{y} | \xrightarrow{f} | A \xrightarrow[\text{heat}]{\Delta} B | x^2 + y^2 = r^2 \tag{1} | E = mc^2
\sqrt[3]{27} = 3 | x_1, x_2, \ldots, x_n | 1 + 2 + \cdots + n | \pi r^2 \approx 3.14159 | \theta = 30^\circ | 90^{\circ} | \angle ABC = 60^\circ
\triangle ABC \sim \triangle DEF | AB \perp CD | p \implies q | p \iff q | \forall x \, \exists y | A \cup B \cap C \setminus D | A \subseteq B | x \notin A
\emptyset | \varnothing | \neg p \land q \lor r | x \equiv 3 \pmod{7} | 17 \bmod 5 = 2 | 7 \equiv 2 \mod 5 | \lfloor x \rfloor + \lceil y \rceil
\left\lfloor \frac{100}{7} \right\rfloor = 14 | \|v\| | \lvert x \rvert | \frac{dy}{dx} = 2x | \frac{\partial f}{\partial x} | \nabla \cdot \mathbf{E} = \frac{\rho}{\varepsilon_0}
f'(x) = 2x | f''(x) | \dot{x} + \ddot{x} | \bar{x} = 5 | \tilde{x} | \widehat{ABC} | \underbrace{1 + 1 + \cdots + 1}_{n \text{ times}} | \overbrace{a + b}^{c}
\stackrel{?}{=} | \overset{!}{=} | \underset{x}{\max} | 3 \times 4 = 12 | 12 \div 4 = 3 | 2 \cdot 3 | a \ne b | a \le b \leq c | a \geq b \ge c | a \ll b \gg c
\frac12 | \frac{1}{1 + \frac{1}{1 + x}} | \cfrac{1}{1+\cfrac{1}{2}} | 2^{10} = 1024 | 10^{-3} | x^{y^z} | x_{i_j} | a_{n+1} = 2a_n + 1 | \log_2 8 = 3
\sin^2\theta + \cos^2\theta = 1 | \arcsin x | \det A | \Pr(A \mid B) | P(A|B) = \frac{P(B|A)P(A)}{P(B)} | E[X] = \mu | \sigma^2 = \text{Var}(X)
X \sim \mathcal{N}(\mu, \sigma^2) | \alpha, \beta, \gamma | \Gamma, \Delta | \varphi, \phi | \infty | \pm 5 | \Rightarrow x = 2 | \therefore x = 5 | \quad \text{and} \quad
\$5 + \$10 = \$15 | 50\% \times 200 = 100 | \text{50\%} | \text{Cost} = \$3.50 | 1{,}000{,}000 | 1,000 | 5 \text{ apples} \times \$2 = \$10 | \frac{60\text{ min}}{1\text{ hr}}
\textbf{Answer: } 12 | \mathit{diff} | \mathtt{code} | \mathsf{T} | A^T | A^{\top} | A^{-1} | \langle u, v \rangle | \left\langle u, v \right\rangle | \left\| x \right\|_2
\left. \frac{x^3}{3} \right|_0^1 | \bigl( x \bigr) | \Big[ y \Big] | \displaystyle \sum_{i=1}^n i | \color{red}{x} + y | \textcolor{blue}{x} | a \not= b | \propto
\oplus \otimes | \ldots \cdots \vdots \ddots | \hbar | \ell | \Re z, \Im z | \aleph_0 | \square | \bigcup_{i} A_i | x := 5 | n! | 0.\overline{142857} | \underline{x}
\mathrm{H_2O} | \text{m}^2 | x\,\mathrm{d}x | \hspace{1em} x | \mathop{\text{lim}} | \overset{\frown}{AB} | \text{Let } x = \text{number of apples} | \mbox{abc}
"""


def cut(listed: str) -> list[str]:
    """Formulas of a list; a sign of its own between them is ` | `."""
    return [one for line in listed.strip().split("\n") for one in line.split(" | ")]


def texts(tree: Formula) -> Iterator[str]:
    yield tree.text
    for child in tree.children:
        yield from texts(child)


@pytest.mark.parametrize("latex", cut(SET))
def test_what_people_write_is_set(latex: str) -> None:
    tree = formula(latex, display=True)
    assert tree is not None
    seen = "".join(texts(tree))
    assert "\\" not in seen
    assert "&" not in seen


@pytest.mark.parametrize(
    "latex",
    [
        # commands and environments that the converter does not know, or sets without a part
        *(
            "\\unknown{5}",
            "\\ce{H2O}",
            "\\SI{5}{m}",
            "\\begin{tabular}{c} a \\end{tabular}",
            "\\begin{bmatrix} {c} & d \\end{bmatrix}",
        ),
        *(
            "5 % of x",
            "50%",
            "\\mathchoice{a}{b}{c}{d}",
            "\\phantom{hidden words}",
            "\\text{a \\textbf{b} c}",
            "\\label{eq:1} x",
        ),
        # what is not closed
        *(
            "\\frac{a}{b",
            "a}",
            "x_",
            "\\left( x",
            "\\begin{cases} x",
            "x \\end{cases}",
            "\\begin{cases} x \\end{align}",
            "",
        ),
        # what is more than letters
        *(
            "\\href{http://a.b}{x}",
            "\\url{http://a.b}",
            "\\style{color:red}{x}",
            "\\class{a}{x}",
            "\\cssId{a}{x}",
            "\\htmlData{a=b}{x}",
        ),
        *("\\unicode{x202e}", "\\includegraphics{a}", "\\colorbox{red}{x}"),
        # what would cover other words, or lie out of sight
        *(
            "\\kern-50em x",
            "\\hspace{1000em} x",
            "\\hspace{99cm} x",
            "\\rule{5em}{5em}",
            "\\llap{abc} x",
            "\\raise50em{x}",
            "\\mathrlap{abc}",
        ),
        # macros
        *("\\def\\x{5}\\x", "\\newcommand{\\a}{b}\\a", "\\let\\a=b", "\\DeclareMathOperator{\\a}{b}\\a"),
        # too long or too deep
        *(
            "x" * (LONGEST_FORMULA + 1),
            "{" * 100 + "x" + "}" * 100,
            "\\frac" * 900 + "12",
            "x" + "^x" * 900,
            "\\sqrt" * 900 + "2",
        ),
    ],
    ids=lambda latex: ascii(latex[:30]),
)
def test_what_cannot_be_set_whole_is_shown_as_its_source(latex: str) -> None:
    assert formula(latex, display=False) is None


def test_macros_and_doubling_commands_do_not_grow() -> None:
    laughs = "\\def\\a{x}" + "".join(
        f"\\def\\{new}{{\\{old}\\{old}}}"
        for old, new in zip("abcdefghijklmnop", "bcdefghijklmnopq", strict=True)
    )
    assert formula(laughs + "\\q", display=True) is None
    doubled = "x"
    for _ in range(40):
        doubled = f"\\sideset{{}}{{}}{{{doubled}}}"
    assert formula(doubled, display=True) is None


def test_a_formula_reaches_the_page_as_data_from_closed_lists() -> None:
    text = "\\(\\boxed{x} \\text{<img src=a onerror=b>} \\color{red} y\\) and \\(\\href{http://a}{b}\\)"
    html = document_html(rendered(text, LATEX))
    assert "<img" not in html
    (tree,) = (leaf.formula for leaf in leaves(rendered(text, LATEX)) if leaf.formula)
    names = {name for one in every(tree) for name, _ in one.attributes}
    assert names <= {"display", "class", "stretchy", "fence", "mathvariant"}
    assert json.dumps([one.tag for one in every(tree)]).count("href") == 0
    assert "<code>\\href{http://a}{b}</code>" in html


def every(tree: Formula) -> Iterator[Formula]:
    yield tree
    for child in tree.children:
        yield from every(child)


@pytest.mark.parametrize("sign", [r"\pm", r"\mp", r"\times"])
def test_a_sign_between_two_terms_has_space_around_it(sign: str) -> None:
    there = formula(f"a {sign} b", display=False)
    assert there is not None
    (row,) = there.children
    assert [one.tag for one in row.children] == ["mi", "mo", "mi"]
