"""Cut a text into sentences."""

import regex

# At most nine closing marks: looking back over any number of them takes minutes where a text has thousands.
_BOUNDARY = regex.compile(
    r"(?<=[.!?…؟।][\"”»’')]{0,9})(?<!(?:^|[^\p{L}])(?:\p{Lu}|St|Dr|Mr|Mrs|ca|bzw|Nr)\.)(?<!\p{Nd}\.)(?<!\p{Thai}\.)\s+(?=[\"“„«(¿¡]*[\p{Lu}\p{Lo}\p{N}])"
    r"|(?<=\p{Nd}{3}\.)\s+(?=\p{Lu})|(?<=[。！？][」』）]{0,9})(?=[^」』）\s])"
)


def sentences(text: str) -> list[str]:
    """The text's sentences, each with the white space that follows it; joined, they are the text."""
    found: list[str] = []
    start = 0
    for match in _BOUNDARY.finditer(text):
        found.append(text[start : match.end()])
        start = match.end()
    return [part for part in [*found, text[start:]] if part]


def lines_and_sentences(text: str) -> list[str]:
    """The same, cut at line breaks too. Blank lines stay with the piece before them."""
    pieces: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.isspace() and pieces:
            pieces[-1] += line
        else:
            pieces += sentences(line)
    return pieces
