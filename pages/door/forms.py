"""The few pages that are no Streamlit pages: a link that opens nothing, signing in and out."""

import base64
import hashlib
from html import escape

from starlette.responses import HTMLResponse

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
html { background: light-dark(#fff, #16181d); color: light-dark(#1f2328, #f0f1f3); }
body { max-width: 26rem; margin: 12vh auto 0; padding: 0 1.25rem; }
h1 { font-size: 1.5rem; margin: 0 0 1rem; }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600; }
input { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem .6rem; border-radius: .4rem;
  border: 1px solid light-dark(#6b7280, #9ca3af); background: Field; color: FieldText; }
button { margin-top: 1.25rem; font: inherit; font-weight: 600; padding: .5rem 1.1rem; border: 0; border-radius: .4rem;
  background: light-dark(#2f6690, #5b9bc8); color: light-dark(#fff, #000); cursor: pointer; }
a { color: light-dark(#2f6690, #8ec5ea); }
.problem { border-inline-start: .25rem solid light-dark(#a33, #e99); padding-inline-start: .75rem; }
"""
_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; style-src 'sha256-"
    + base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    + "'"
)


def page(title: str, body: str, status: int = 200) -> HTMLResponse:
    """A small page; `body` is HTML, the title is text."""
    document = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)} · Assay</title><style>{_STYLE}</style></head>"
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )
    headers = {
        "content-security-policy": _POLICY,
        "cache-control": "no-store",
        "referrer-policy": "same-origin",  # with none at all a browser hides where a form comes from
    }
    return HTMLResponse(document, status, headers)


def sentence(text: str) -> str:
    """A paragraph."""
    return f"<p>{escape(text)}</p>"


def problem(text: str) -> str:
    """What went wrong, line by line."""
    return f'<p class="problem" role="alert">{escape(text).replace(chr(10), "<br>")}</p>' if text else ""


def form(button: str, *fields: str) -> str:
    """A form that posts to its own address."""
    return f'<form method="post">{"".join(fields)}<button type="submit">{escape(button)}</button></form>'


def passphrase_field(name: str, label: str, autocomplete: str, *, first: bool = False) -> str:
    """A field for a passphrase, filled by password managers."""
    return (
        f'<label for="{name}">{escape(label)}</label><input id="{name}" name="{name}" type="password" required '
        f'autocomplete="{autocomplete}"{" autofocus" if first else ""}>'
    )
