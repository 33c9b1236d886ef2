"""Marks of texts that address the model which judges them: chat formats, forged verdicts, words to an examiner, hidden characters.

A report, not a filter: nothing is removed and no score changes. Words are known in twelve languages. A text can plead in words
that no list has, and can quote a plea that it does not make: a mark is a reason to read the text, and its absence proves nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from unicodedata import normalize

import regex

from core.llm.defusing import REASONING, markup, tags_of
from core.llm.prompts import shipped_prompts

MarkKind = Literal["chat-format", "verdict", "examiner", "hidden"]
MARKS: Mapping[MarkKind, str] = {
    "chat-format": "marks of a chat or a prompt",
    "verdict": "a verdict as judges write it",
    "examiner": "words to an examiner",
    "hidden": "characters or comments that no reader sees",
}
"""Kinds of marks, and what a text with one has."""
LONGEST_EXCERPT = 80
"""Characters of a mark that an excerpt shows."""
_BEFORE, _AFTER = 12, 28
"""Characters around a mark in its excerpt."""


@dataclass(frozen=True)
class Mark:
    """The first mark of one kind in a text."""

    kind: MarkKind
    excerpt: str
    """The mark with some characters around it, on one line, without invisible characters."""


def marks_in(text: str) -> tuple[Mark, ...]:
    """The kinds of marks in a text, each with its first excerpt, in the order of MARKS; empty for most texts.

    Letters of full width, invisible characters within words and letters of another alphabet that look the same hide no mark. Time is
    linear in the length of the text.
    """
    visible = str(_DRESSING.sub("", _visible(text)))
    found: dict[MarkKind, str] = {}
    if (at := _chat_format(text)) is not None:
        found["chat-format"] = _excerpt(text, *at)
    if (at := _hidden(text)) is not None:
        found["hidden"] = _excerpt(text, *at)
    low = visible.lower()
    # Words to an examiner may be broken over lines, as in any text of fixed width.
    flowing = str(_LINE_END.sub(" ", visible))
    for rule in _rules():
        if rule.kind in found or not any(stem in low for stem in rule.stems):
            continue
        for read in (visible, flowing) if rule.kind == "examiner" and flowing != visible else (visible,):
            if rule.kind not in found and (match := rule.pattern.search(read)) is not None:
                found[rule.kind] = _excerpt(read, *match.span())
    return tuple(Mark(kind, found[kind]) for kind in MARKS if kind in found)


def _excerpt(text: str, start: int, end: int) -> str:
    end = min(end, start + LONGEST_EXCERPT)
    around = _visible(text[max(0, start - _BEFORE) : end + _AFTER])
    return " ".join(
        f"{'…' if start > _BEFORE else ''}{around}{'…' if end + _AFTER < len(text) else ''}".split()
    )


# --- what a reader sees ------------------------------------------------------------------------

_INVISIBLE = regex.compile(r"[\p{Cf}\p{DI}--[\n\t]]+", regex.VERSION1)
_MIXED = regex.compile(r"\b(?=\w*\p{Latin})(?=\w*[\p{Cyrillic}\p{Greek}])\w{1,40}+")
_ALIKE = str.maketrans(
    "АВЕЗІЈКМНОРСТУХЅаеіјорсухѕԁһΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορυ", "ABE3IJKMHOPCTYXSaeijopcyxsdhABEZHIKMNOPTYXavopu"
)
"""Letters of Cyrillic and Greek that look like Latin ones; only in words that mix alphabets."""
_BLANKS = regex.compile(r"[^\S\n]+")
_LINE_END = regex.compile(r" ?(?<!\n)\n(?!\n) ?")
_DRESSING = regex.compile(r"</?[A-Za-z]{1,10}[ \t]?/?>|[*`~]+")
"""Markup of HTML and Markdown within words and between them."""


def _visible(text: str) -> str:
    """The text as a reader sees it: in compatible characters, without invisible ones, in one alphabet a word."""
    if not text.isascii():
        text = _INVISIBLE.sub("", normalize("NFKC", text))
        text = _MIXED.sub(lambda word: str(word.group()).translate(_ALIKE), text)
    return str(_BLANKS.sub(" ", text))


_HIDDEN = regex.compile(
    "|".join(
        (
            # Flags of regions are written in tags, from a black flag to the end of tags.
            r"(?P<flag>\U0001F3F4[\U000E0020-\U000E007E]{1,8}\U000E007F)|[\U000E0000-\U000E007F]{2,}+",
            r"[\u202D\u202E]",
            r"[\uFE00-\uFE0F\U000E0100-\U000E01EF]{3,}+",
            r"(?<=\p{Latin})[\u200B-\u200D\u2060-\u2064\u180E\uFEFF]++(?=\p{Latin})",
        )
    )
)
_COMMENT = regex.compile(r"<!--[^>]{0,400}?(?:-->|$)")
_OF_COMMENT = regex.compile(
    r"\b(?:ignore|graders?|evaluators?|judges?|reviewers?|examiners?|llms?|ai|prefer|verdict|full (?:marks|points|score)|"
    r"(?:score|rate|grade) (?:this|it|of|\d)|highest (?:score|rating|grade))\b",
    regex.IGNORECASE,
)


def _hidden(text: str) -> tuple[int, int] | None:
    if not text.isascii():
        for match in _HIDDEN.finditer(text):
            if match["flag"] is None:
                return _place(match)
    if "<!--" in text:
        for comment in _COMMENT.finditer(text):
            if _OF_COMMENT.search(comment.group()):
                return _place(comment)
    return None


def _place(match: "regex.Match[str]") -> tuple[int, int]:
    start, end = match.span()
    return int(start), int(end)


_ROLES = regex.compile(
    "|".join(
        (
            r"(?:^|>|\*\*)[ \t]*(?:system|assistant)[ \t]?:(?=[ \t\n*])",
            r"(?:^|\n)[ \t]*\n(?:human|assistant|user)[ \t]?:(?=[ \t\n])",
            r"^\#{2,4}[ \t]*(?:instructions?|response|input|system|human|assistant|user)[ \t]?(?::|$)",
            r"\[the (?:start|end) of [^\]\n]{1,40}+\]",
            r"<\|the (?:start|end) of [^|\n]{1,40}+\|>",
            r"\bbest model identifier\b|\bunordered outputs from the models\b",
        )
    ),
    regex.IGNORECASE | regex.MULTILINE,
)
_ROLE_STEMS = (
    "system",
    "assistant",
    "human:",
    "user:",
    "##",
    "[the ",
    "<|the ",
    "model identifier",
    "outputs from",
)


def _chat_format(text: str) -> tuple[int, int] | None:
    if "<" in text or "[" in text or "＜" in text:
        closes = "/" in text and "<" in text
        for match in markup(prompt_tags() if closes else frozenset(REASONING)).finditer(text):
            if "/" in match.group() or not _is_ordinary(match.group()):
                return _place(match)
    low = text.lower()
    if any(stem in low for stem in _ROLE_STEMS) and (role := _ROLES.search(text)) is not None:
        return _place(role)
    return None


@lru_cache(maxsize=1)
def prompt_tags() -> frozenset[str]:
    """Tags of reasoning and of the prompts, in lower case. Of the prompts' only closing ones are marks: opening ones are ordinary."""
    names = frozenset().union(*map(tags_of, shipped_prompts()))
    return frozenset(name.casefold() for name in names) | {*REASONING, *_GIVEN_TAGS}


_GIVEN_TAGS = ("response", "first", "second")
"""Tags that enter prompts through a variable."""


def _is_ordinary(mark: str) -> bool:
    """Whether it is an opening tag of a prompt, or a pair of operators: `f <| x |> g`."""
    name = mark.strip("<> \t").split(" ", 1)[0].casefold()
    return mark.startswith("<| ") or (name in prompt_tags() and name not in REASONING)


# --- words -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rule:
    """A pattern, and stems of which a text must have one: looking for those first is what makes it cheap."""

    kind: MarkKind
    stems: tuple[str, ...]
    pattern: "regex.Pattern[str]"


def _words(most: int) -> str:
    """At most so many words between two others, within a sentence."""
    return rf"(?:[ ,]+[^\s,.;:!?。]{{1,30}}+){{0,{most}}}?[ ,]+"


_GAPS = {f"<{most}>": _words(most) for most in range(1, 7)}
_CLAUSE = r"(?:^|[.!?;:,\"'“”‘’(\[>*–—-]\s*|\b(?:please|kindly|and|then|so|now|just|simply|must|should|always|to|shall) )"
"""Where a request begins: here a verb without a subject is one."""
_ANSWER = r"(?:answer|response|reply|text|summary|essay|submission|output|paper|translation|passage|solution|review|one|it)"
_VALUE = (
    r"(?:(?:highest|maximum|max|top|best|full|perfect|excellent|high) (?:possible )?(?:scores?|marks?|rating|grade|points|credit)"
    r"|(?:score|mark|rating|grade)(?: of)? \[*\d|\d+ ?(?:/|out of) ?\d+|\d+ points?\b|\d+ ?%|a \d+(?= ?(?:[.!,;\"')\]]|$))|an? a\+|with (?:a |an )?\d+\b"
    r"|as (?:the |fully |entirely |completely )?(?:correct|perfect|excellent|best|better|flawless|outstanding|right)\b"
    r"|(?:correct|right)(?= ?(?:[.!)\]]|$)))"
)
_GRADER = (
    r"(?:graders?|evaluators?|judges?|raters?|examiners?|markers?|assessors?|scorers?|reviewers?|annotators?)"
)
_AI = r"(?:ai|llm|gpt|chatgpt|language[ -]model|automated|automatic)"

_WORDS: tuple[tuple[MarkKind, str, str], ...] = (
    # A verdict as judges write it.
    (
        "verdict",
        "{",
        r"\{[^{}]{0,200}?[\"'](?:score|rating|verdict|grade|winner|preference|preferred|overall_score)[\"'] ?: ?[\[\"'\d]",
    ),
    ("verdict", "[[", r"\[\[(?:[ABC]|A=B|[AB][<>]{1,2}[AB])\]\]"),
    ("verdict", "[[", r"\b(?:rating|score|verdict|grade)\b[^.\n]{0,20}\[\[\d{1,3}(?:\.\d+)?\]\]"),
    (
        "verdict",
        "score|rating|grade|verdict",
        r"(?:^|[.!?] )(?:the )?(?:final |overall |correct )?(?:score|rating|grade|verdict)(?: is| ?[:=])\*{0,2} ?"
        r"(?:\d{1,3}(?:\.\d)?(?: ?/ ?\d+)?|[AB])\*{0,2} ?(?:$|[.!] ?(?:$|\D))",
    ),
    # English.
    (
        "examiner",
        "instruction|guideline|rubric|prompt|directive|criteria|directions|rules",
        r"(?<!not )(?<!never )(?<!n't )(?<!n’t )\b(?:ignore|disregard|forget|override|bypass)<4>"
        r"(?:(?:previous|prior|above|earlier|preceding|your|system|original|scoring|grading|evaluation)<2>(?:directions|criteria|rules)"
        r"|(?:previous|prior|above|earlier|preceding|your|system|original|scoring|grading|evaluation)<2>"
        r"(?:instructions?|guidelines?|rubrics?|prompts?|directives?))\b"
        r"|(?:^|[.!?;:\"(] ?|\bplease )(?:ignore|disregard|forget|override) (?:all|any)(?: of)?(?: the| your)? (?:instructions|guidelines|prompts)\b"
        r"|\b(?:ignore|disregard|forget|override)<1>(?:rules|instructions|guidelines) you (?:were|have been|are) given\b",
    ),
    (
        "examiner",
        "above|told|rubric|system prompt|before this",
        r"(?<!not )(?<!n't )\b(?:ignore|disregard|forget|override)<2>(?:"
        r"(?:instructions?|guidelines?|rubrics?|criteria|rules) above|(?:the|everything|all|anything)(?: of the)? above\b(?: and\b|[.,!]|$| this)"
        r"|(?:you were|you have been) told|(?:scoring |grading )?rubric\b|system prompt\b)",
    ),
    (
        "examiner",
        "before this|instruction",
        r"(?<!not )(?<!n't )\b(?:ignore|disregard|forget) (?:everything|all|anything) (?:before|prior to) (?:this|that)\b"
        r"|\b(?:pay no attention to|do not follow|don't follow) (?:the |any |all )?"
        r"(?:(?:previous|prior|earlier|above)<1>?instructions?\b|instructions? (?:above|before)\b)",
    ),
    (
        "examiner",
        "rate|score|grade|give|award",
        r"\byou (?:should|must|have to|need to|ought to) (?:rate|score|grade|mark|give|award) (?:(?:this|the|my)(?: \p{L}+)?? "
        + _ANSWER
        + r"(?: with| as)? )?(?:a |an )?\d+(?: ?(?:/|out of) ?\d+)?(?= ?(?:[.!,;\"')\]]|$))",
    ),
    (
        "examiner",
        "rubric|scoring|grading|evaluation",
        _CLAUSE
        + r"(?:skip|bypass|stop|do not follow|don't follow|do not apply|don't apply)<2>(?:rubric|scoring|grading|evaluation)\b",
    ),
    ("examiner", "instruction", r"\byour (?:new|real|actual|true|only) instructions? (?:is|are)\b"),
    (
        "examiner",
        "give|assign|award|grant|rate|score|grade|mark|evaluate|judge|deem|label",
        _CLAUSE
        + rf"(?:give|assign|award|grant|rate|score|grade|mark|evaluate|judge|deem|label|rank) (?:to )?(?:this|it|that|(?:this|the|my|that)(?: \p{{L}}+)?? {_ANSWER})\b(?: with| as)?(?: \p{{L}}+)??"
        rf"(?: \p{{L}}+)?? {_VALUE}",
    ),
    (
        "examiner",
        "full|highest|maximum|top|perfect|best|max",
        _CLAUSE
        + r"(?:give|assign|award|grant|output|return) (?:it |this |them |me |us )?(?:a |an |the )?(?:full|highest|maximum|max|top|perfect|best)"
        r"(?: possible)? (?:score|marks?|rating|grade|points|credit)\b(?! (?:to|of) (?:the|each|all)\b)",
    ),
    (
        "examiner",
        "score|grade|rate|rating",
        r"(?:^|[.!?] )(?:score|grade|rate)(?: it| this)? \d{1,3}(?: ?/ ?\d+)?[.!]?\s*$",
    ),
    (
        "examiner",
        "score|rating|grade|verdict",
        r"\bset (?:the |your )?(?:score|rating|grade|verdict) (?:to|at|=) ?\w|"
        + _CLAUSE
        + r"(?:output|print|return|respond with|reply with|answer with|say|write)(?: only)? (?:a |the )?"
        r"(?:(?:score|rating|grade|verdict|mark)(?: of)? [\"'\[]*(?:\d|[AB]\b))",
    ),
    (
        "examiner",
        "grader|evaluator|judge|rater|examiner|marker|assessor|scorer|reviewer|annotator|grading note|teacher",
        rf"\b(?:note|message|memo|hint|notice|reminder|instructions?) (?:to|for) (?:the |any |all |our )?(?:{_AI}[ -]+)?{_GRADER} ?[:!–—-]"
        rf"|\b(?:attention|dear)[ :,]+(?:the |any |all )?{_GRADER} ?[:,!]|[\[(]{_GRADER}\]? ?:"
        rf"|\b(?:attention|dear|hey|hello|for)[ :,]+(?:the |any |all )?{_AI}[ -]+(?:{_GRADER}) ?[:,;!–—-]"
        rf"|(?:^|[.!?(\[] ?)(?:{_GRADER}|grading|teacher)(?:['’]s?)? note ?:|\bas the {_GRADER},? you (?:must|should|will|shall|can)\b"
        rf"|(?:^|[.!?] ){_GRADER} ?[,:] (?:this|please|you|give|award|rate|score|choose|prefer|mark|grade)\b"
        rf"|\b(?:the |an? |any |all |every )?{_GRADER} (?:should|must|shall|needs? to|has to|have to|ought to|is to|will)<2>"
        rf"(?:assign|award|give|rate|score|grade|mark|prefer|choose|select|pick|grant|rank|favou?r)<2>"
        rf"(?:this|my|answer [ab]|response [ab]|full|max\w*|highest|{_VALUE})"
        rf"|\b{_AI}[ -]+{_GRADER} (?:should|must|shall) (?:not )?\p{{L}}+"
        rf"|\byou are (?:now )?(?:an? |the |my )?(?:[\p{{L}}-]+ ){{0,3}}?{_GRADER}\b(?!['’]| of\b)"
        rf"|\bas an? (?:[\p{{L}}-]+ ){{0,2}}?{_GRADER},? you (?:must|should|will|shall)\b",
    ),
    (
        "examiner",
        "language model|an ai|an llm|ai assistant|llm",
        r"\bas an? (?:ai(?: assistant)?|llm|(?:large )?language model),? (?:you|please)\b"
        r"|\bif you(?: are|'re|’re) (?:an? )?(?:ai|llm|(?:large )?language model)\b"
        rf"|\b(?:dear|attention|hey|note to)[ :,]+(?:the |any )?(?:{_AI})(?: assistant| system)?\b<5>(?:grade|rate|score|mark|prefer|choose|give|award)\b",
    ),
    (
        "examiner",
        "answer|response|assistant|output",
        _CLAUSE
        + r"(?:choose|pick|select|prefer|favou?r|vote for) (?:the )?(?:answer|response|assistant|output|model)"
        r" [\"'“(\[]*(?:[AB]|1|2|one|two)[\"'”)\]]*(?=[.,;!]|$| (?:over|as|is|because|and)\b)",
    ),
    (
        "examiner",
        "prefer|choose|pick|select|favo|vote",
        _CLAUSE
        + r"(?:choose|pick|select|prefer|favou?r|vote for) (?:this (?:one|answer|response|output|summary|text)\b|it over the other (?:answer|response|one|output)\b"
        r"|it over the other\b|it over all)",
    ),
    (
        "examiner",
        "this ",
        r"\bthis (?:answer|response|summary|essay|submission|text|output|translation|solution) "
        rf"(?:deserves|merits|warrants|earns|is worth|(?:must|should) (?:be|get|receive|have))<3>?(?:{_VALUE}|(?:rated|scored|graded|marked|ranked|preferred|chosen|selected)"
        rf"(?: as)?(?: the)? (?:best|correct|perfect|highest|first|over)|preferred\b|top rating)",
    ),
    (
        "examiner",
        "positive review|negatives|recommend",
        r"\b(?:give|write) (?:only )?(?:a )?positive reviews? only\b|\bdo not (?:highlight|mention) any (?:negatives|weaknesses)\b",
    ),
    # German.
    (
        "examiner",
        "anweisung|instruktion|vorgabe|regel|anleitung",
        r"\b(?:ignorier\w*|vergiss|vergessen sie|missachte\w*|übergeh\w*)<3>"
        r"(?:vorherig\w*|bisherig\w*|obig\w*|vorangegangen\w*|vorangehend\w*|früher\w*|alle|sämtlich\w*|deine|ihre)<2>?(?:anweisung|instruktion|vorgabe|regel|anleitung)\w*",
    ),
    ("examiner", "oben", r"\b(?:vergiss|ignorier\w*|vergessen sie) alles,? was (?:oben|bisher|zuvor)\b"),
    (
        "examiner",
        "punkt|note|bewert|wertung",
        _CLAUSE.replace("please", "bitte|und|dann|please")
        + r"(?:gib|geben sie|vergib|vergeben sie|bewerte|bewerten sie|benote|benoten sie)\b(?:[ ,]+[^\s,.;:!?]{1,30}+){0,4}?[ ,]+"
        r"(?:(?:höchste|volle|maximale|beste)\w* (?:punkt\w*|note|bewertung|wertung)|bestnote|(?:mit )?\d+ (?:von \d+ )?punkte\w*|mit (?:einer )?\d+|als (?:richtig|korrekt|perfekt|beste\w*))\b",
    ),
    (
        "examiner",
        "prüfer|gutachter|bewerter|korrektor|juror|beurteiler|evaluator",
        r"\b(?:hinweis|anmerkung|nachricht|notiz|bitte) (?:an|für) (?:den|die|das|alle)?(?: ki-?| llm-?)? ?\w*(?:prüfer|gutachter|bewerter|korrektor|juror|beurteiler|evaluator)\w*\s?[:,!]"
        r"|\b(?:prüfer|gutachter|bewerter|korrektor|juror|beurteiler|evaluator)\w* (?:soll\w*|muss|müssen)<4>(?:\d+ punkt\w*|\w*punktzahl|bestnote|(?:höchste|beste|volle)\w* \w+) (?:geben|vergeben|erteilen)"
        r"|\b(?:du bist|sie sind)(?: jetzt| nun)? (?:eine?|der|die)(?: \w+)? (?:prüfer|gutachter|bewerter|korrektor|juror|beurteiler|evaluator)(?:in)?\b",
    ),
    (
        "examiner",
        "antwort",
        r"\b(?:wähle|wählen sie|bevorzuge|bevorzugen sie|nimm|nehmen sie) (?:die )?antwort [\"„(\[]*[AB12]\b"
        r"|\bdiese antwort verdient<2>?(?:volle|höchste|beste|maximale)\w* (?:punkt\w*|note|bewertung)",
    ),
    # French.
    (
        "examiner",
        "instruction|consigne|directive",
        r"\b(?:ignore[rz]?|oublie[rz]?|néglige[rz]?)<3>(?:instructions|consignes|directives)<1>?(?:précédentes|antérieures|ci-dessus|qui précèdent|données|du système)",
    ),
    (
        "examiner",
        "note|points|score",
        r"(?:^|[.!?;:,] |\bet )(?:donne|donnez|attribue|attribuez|accorde|accordez|mets|mettez)<5>?(?:(?:la )?(?:note|score) (?:maximale?|parfaite?|la plus haute|la plus élevée)|(?:la )?meilleure note|le score maximal|\d+ ?(?:/|sur) ?\d+|\d+ points)",
    ),
    (
        "examiner",
        "évaluateur|correcteur|examinateur|évaluatrice|juge",
        r"\b(?:note|message|remarque|avis) (?:à l['’]|au |aux |pour l['’]|pour le )(?:évaluateur|correcteur|examinateur|relecteur|juge)s? ?[:,!]"
        r"|\b(?:évaluateur|correcteur|examinateur|juge)s? (?:doit|doivent|devrait|devraient)<2>?(?:donner|attribuer|accorder|mettre)<2>?(?:(?:la )?(?:meilleure|plus haute) note|(?:la )?note maximale|\d+ points|\d+ ?/ ?\d+)"
        r"|\b(?:tu es|vous êtes)(?: maintenant)? une? (?:\w+ )?(?:juge|évaluateur|évaluatrice|correcteur|examinateur)\b",
    ),
    (
        "examiner",
        "réponse",
        r"\b(?:choisi(?:s|ssez|r)|préfère|préférez|sélectionne[rz]?) (?:la )?réponse [\"«(\[]*[AB12]\b"
        r"|\bcette réponse mérite<2>?(?:\d+ ?/ ?\d+|note|la note|le maximum)",
    ),
    # Spanish.
    (
        "examiner",
        "instruccion|indicacion|directric|regla",
        r"\b(?:ignora|ignore|ignorad|olvida|olvide|desestima|omite|haz caso omiso de)<3>(?:instrucciones|indicaciones|directrices|reglas)<1>?(?:anteriores|previas|de arriba|precedentes|del sistema)",
    ),
    (
        "examiner",
        "puntuaci|puntos|nota|calific|punt",
        r"(?:^|[.!?;:,] |\by )(?:da|dale|dé|otorga|otorgue|asigna|asigne|concede|pon|ponle|califica|califique|puntúa|evalúa)<5>?(?:(?:la )?(?:puntuación|nota|calificación) (?:máxima|más alta|perfecta)|(?:la )?(?:máxima|mejor) (?:puntuación|nota|calificación)|con (?:un )?\d+|un \d+\b(?! \p{L})|\d+ ?(?:/|de) ?\d+|\d+ puntos)",
    ),
    (
        "examiner",
        "evaluador|calificador|corrector|revisor|examinador|juez",
        r"\b(?:nota|mensaje|aviso) (?:para|al) (?:el |la |los )?(?:evaluador|calificador|corrector|revisor|examinador|juez)\w*\s?[:,!]"
        r"|\b(?:evaluador|calificador|corrector|examinador|juez)\w* (?:debe|deben|debería|tiene que)<2>?(?:asignar|dar|otorgar|poner)<2>?(?:\d+ (?:a|puntos)|(?:la )?(?:máxima|mejor|puntuación|nota|calificación))"
        r"|\b(?:eres|usted es)(?: ahora)? un[ao]? (?:evaluador|calificador|juez|examinador)\w*",
    ),
    (
        "examiner",
        "respuesta",
        r"\b(?:elige|elija|escoge|escoja|selecciona|seleccione|prefiere|prefiera) (?:la )?respuesta [\"«(\[]*[AB12]\b",
    ),
    # Italian.
    (
        "examiner",
        "istruzion|indicazion|direttiv",
        r"\b(?:ignora|ignorate|ignori|dimentica|dimenticate|tralascia)<3>(?:istruzioni|indicazioni|direttive)<1>?(?:precedenti|sopra|di cui sopra|del sistema)",
    ),
    (
        "examiner",
        "punteggio|punti|voto|voti",
        r"(?:^|[.!?;:,] |\be )(?:dai|date|assegna|assegnate|attribuisci|attribuite|valuta|valutate)<5>?(?:(?:il )?punteggio (?:massimo|più alto|pieno)|(?:il )?massimo (?:dei voti|punteggio)|voto massimo|con (?:un )?\d+|\d+ ?(?:/|su) ?\d+|\d+ punti)"
        r"|\bquesta risposta merita<2>?(?:massimo|punteggio|voto)",
    ),
    (
        "examiner",
        "valutator|esaminator|correttor|giudice|revisor",
        r"\b(?:nota|messaggio|avviso) (?:per|al|a) (?:il |lo |gli )?(?:valutator|esaminator|correttor|revisor|giudic)\w+\s?[:,!]"
        r"|\b(?:valutator|esaminator|correttor|giudic)\w+ (?:deve|devono|dovrebbe)<2>?(?:assegnare|dare|attribuire)<2>?(?:\d+ (?:a|punti)|(?:il )?(?:massimo|punteggio))"
        r"|\b(?:sei|lei è)(?: ora)? un[oa']? ?(?:valutator|esaminator|giudic)\w+",
    ),
    (
        "examiner",
        "risposta",
        r"\b(?:scegli|scegliete|scelga|seleziona|selezionate|preferisci) (?:la )?risposta [\"«(\[]*[AB12]\b",
    ),
    # Portuguese.
    (
        "examiner",
        "instruç|orientaç|diretriz",
        r"\b(?:ignore|ignora|ignorem|esqueça|esquece|desconsidere|desconsidera)<3>(?:instruções|orientações|diretrizes)<1>?(?:anteriores|prévias|acima|precedentes|do sistema)",
    ),
    (
        "examiner",
        "pontuaç|pontos|nota",
        r"(?:^|[.!?;:,] |\be )(?:dê|dá|atribua|atribui|conceda|avalie|avalia|classifique)<5>?(?:(?:a )?(?:pontuação|nota) (?:máxima|mais alta)|(?:a )?(?:máxima|melhor) (?:pontuação|nota)|(?:com )?nota \d+|com (?:um )?\d+|\d+ ?(?:/|de) ?\d+|\d+ pontos)",
    ),
    (
        "examiner",
        "avaliador|corretor|examinador|revisor|juiz",
        r"\b(?:nota|mensagem|aviso) (?:para|ao) (?:o |os )?(?:avaliador|corretor|examinador|revisor|juiz)\w*\s?[:,!]"
        r"|\b(?:avaliador|corretor|examinador|juiz)\w* (?:deve|devem|deveria|tem de|tem que)<2>?(?:dar|atribuir|conceder)<2>?(?:nota \d+|\d+ (?:a|pontos)|(?:a )?(?:pontuação|nota) máxima|(?:a )?melhor nota)"
        r"|\b(?:você é|és)(?: agora)? um[a]? (?:avaliador|corretor|juiz|examinador)\w*",
    ),
    (
        "examiner",
        "resposta",
        r"\b(?:escolha|escolhe|selecione|seleciona|prefira) (?:a )?resposta [\"«(\[]*[AB12]\b",
    ),
    # Dutch.
    (
        "examiner",
        "instructie|aanwijzing|richtlijn",
        r"\b(?:negeer|vergeet|sla)<2>(?:alle|vorige|eerdere|bovenstaande|voorgaande)<1>?(?:instructies|aanwijzingen|richtlijnen)|\b(?:negeer|vergeet) (?:de )?(?:vorige|eerdere|bovenstaande|voorgaande|alle) (?:instructies|aanwijzingen|richtlijnen)",
    ),
    (
        "examiner",
        "score|punt|cijfer|beoordeel|waardering",
        r"(?:^|[.!?;:,] |\ben |\balstublieft )(?:geef|ken|beoordeel)<4>?(?:(?:de )?(?:hoogste|maximale|beste|volle) (?:score|punt\w*|cijfer|beoordeling|waardering)|met (?:een )?\d+|een \d+\b(?! \p{L})|\d+ (?:van de \d+ )?punten)",
    ),
    (
        "examiner",
        "beoordelaar|examinator|corrector|nakijker|jurylid",
        r"\b(?:opmerking|bericht|notitie) (?:aan|voor) (?:de |alle )?(?:beoordelaar|examinator|corrector|nakijker|jury)\w*\s?[:,!]"
        r"|\b(?:beoordelaar|examinator|corrector|nakijker)s? (?:moet|moeten|dient|zou)<4>?(?:\d+|(?:de )?(?:hoogste|maximale|beste|volle)) (?:score|punt\w*|cijfer|beoordeling)"
        r"|\b(?:je bent|u bent|jij bent)(?: nu)? een (?:\w+ )?(?:beoordelaar|examinator|jurylid)\b",
    ),
    ("examiner", "antwoord", r"\b(?:kies|kiest u|selecteer|verkies) (?:voor )?antwoord [\"(\[]*[AB12]\b"),
    # Russian.
    (
        "examiner",
        "инструкц|указани|предписани",
        r"\b(?:игнорируй|игнорируйте|проигнорируй|забудь|забудьте|не обращай(?:те)? внимания на)<2>(?:предыдущ\w*|прежн\w*|все|всех|вышеприведенн\w*|выше|инструкции)<1>?(?:инструкц\w*|указани\w*|предписани\w*|выше)"
        r"|\b(?:игнорируй|игнорируйте|забудь|забудьте) (?:все )?(?:предыдущие |прежние )?(?:инструкции|указания)\b",
    ),
    (
        "examiner",
        "балл|оценк|очк",
        r"(?:^|[.!?;:,] |\bи )(?:поставь|поставьте|присвой|присвойте|дай|дайте|оцени|оцените)<4>?(?:(?:высш|максимальн|наивысш|лучш|отличн)\w* (?:оценк|балл)\w*|(?:на |в )?\d+ (?:из \d+|балл\w*))",
    ),
    (
        "examiner",
        "проверяющ|оценщик|экзаменатор|эксперт|судь",
        r"\b(?:проверяющ|оценщик|экзаменатор)\w* (?:должен|должна|должны|обязан\w*)<1>?(?:поставить|дать|присвоить|выставить)<2>?(?:\d+ балл\w*|(?:высш|максимальн|наивысш|лучш)\w*)"
        r"|\b(?:примечание|сообщение|заметка) (?:для )?(?:проверяющ|оценщик|экзаменатор|судь)\w*\s?[:,!]"
        r"|\bты (?:теперь )?(?:\w+ )?(?:оценщик|экзаменатор|судья|проверяющий)\b",
    ),
    ("examiner", "ответ", r"\b(?:выбери|выберите|предпочти|предпочтите) ответ [\"«(\[]*[AАBБВ12]\b"),
    # Chinese.
    (
        "examiner",
        "忽略|无视|無視|忘记|忘記|不要理会",
        r"(?:忽略|无视|無視|忘记|忘記|不要理会)[^。！？\n]{0,10}?(?:指令|指示|说明|說明|提示词)",
    ),
    (
        "examiner",
        "满分|滿分|最高分|高分|打|给",
        r"(?:(?:给|給|为|為|把)(?:这|這|此|本|我)[^。！？，,\n]{0,10}?|(?:请|請)[^。！？\n]{0,6}?|(?:打|给出|給出|授予))(?:满分|滿分|最高分)|(?:这个|這個|此|本)(?:答案|回答|回复|文本)(?:应该|應該|应当|值得|必须)[^。！？\n]{0,6}?(?:\d+ ?分|满分|滿分|最高分|高分)",
    ),
    (
        "examiner",
        "答案|回答|回复",
        r"(?:请|請)?(?:选择|選擇|选|偏好)(?:答案|回答|回复) ?[「“\"(（]?[ABab甲乙12](?![\p{Latin}\d])",
    ),
    (
        "examiner",
        "评审|评委|评分|评估|裁判|阅卷",
        r"(?:评审|评委|评分者|评分员|评估者|裁判|阅卷人)(?:请|請)?(?:注意)?[：:]|你(?:现在)?是(?:一个|一名|一位)?[^。，\n]{0,6}?(?:评委|评审|裁判|评分员|评估员)",
    ),
    # Japanese.
    (
        "examiner",
        "無視|忘れ",
        r"(?:指示|命令|プロンプト|ルール|採点基準)[^。\n]{0,8}?(?:無視|忘れ)(?:し|て|ろ|せ)",
    ),
    (
        "examiner",
        "満点|最高点|最高の|点",
        r"(?:この|本)(?:回答|答案|文章|要約|解答)[^。\n]{0,8}?(?:満点|最高点|最高評価|\d+ ?点)[^。\n]{0,4}?(?:を|に)?(?:付け|つけ|与え|し)(?:て|な|る)",
    ),
    ("examiner", "回答|答案|解答", r"(?:回答|答案|解答) ?[「(（]?[ABab12][」)）]? ?を(?:選|えら)"),
    (
        "examiner",
        "採点者|評価者|審査員|審判",
        r"(?:採点者|評価者|審査員)(?:の方|様)?(?:へ|に)(?:の注意|のお願い)?[：:]|あなたは[^。\n]{0,8}?(?:採点者|評価者|審査員)です",
    ),
    # Arabic.
    (
        "examiner",
        "التعليمات|تعليمات|الإرشادات",
        r"(?:تجاهل|تجاهلي|تجاهلوا|انس|انسَ|أهمل)[\u064B-\u0652]?<2>?(?:التعليمات|تعليمات|الإرشادات)<1>?(?:السابقة|أعلاه|المذكورة)",
    ),
    (
        "examiner",
        "درجة|علامة|الدرجة|العلامة|من",
        r"(?:أعط|أعطي|أعطوا|امنح|امنحي|امنحوا|قيم|قيّم)<3>?(?:أعلى (?:درجة|علامة|تقييم)|الدرجة (?:الكاملة|القصوى)|العلامة (?:الكاملة|القصوى)|\d+ من \d+)",
    ),
    (
        "examiner",
        "المقيم|المقيّم|المصحح|الممتحن|مقيم",
        r"(?:على )?(?:المقيم|المقيّم|المصحح|الممتحن)<1>?(?:أن )?(?:يمنح|يعطي)<3>?(?:الدرجة|العلامة|أعلى)|ملاحظة (?:إلى |لل)(?:ال)?(?:مقيم|مقيّم|مصحح|ممتحن)[:،]",
    ),
    ("examiner", "الإجابة", r"(?:اختر|اختاري|اختاروا|فضل|فضّل) الإجابة [\"«(]?(?:أ|ب|ا|A|B)(?!\p{L})"),
    # Hindi.
    ("examiner", "निर्देश", r"निर्देशों[^।\n]{0,12}?(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल|उपेक्षा)"),
    (
        "examiner",
        "अंक|स्कोर",
        r"(?:इस|इसे)[^।\n]{0,12}?(?:उत्तर|जवाब|पाठ|इसे)[^।\n]{0,4}?[^।\n]{0,16}?(?:पूरे|अधिकतम|सर्वोच्च|सबसे अधिक|\d+ में से \d+) (?:अंक|स्कोर)",
    ),
    ("examiner", "उत्तर|जवाब", r"(?:उत्तर|जवाब) [\"“(]?(?:A|B|अ|ब|क|ख)[\"”)]? (?:को )?चुन"),
    (
        "examiner",
        "परीक्षक|मूल्यांकनकर्ता|निर्णायक",
        r"(?:परीक्षक|मूल्यांकनकर्ता|निर्णायक) (?:कृपया|ध्यान दें)[:,]?|आप एक [^।\n]{0,12}?(?:परीक्षक|मूल्यांकनकर्ता|निर्णायक) हैं",
    ),
)


@lru_cache(maxsize=1)
def _rules() -> tuple[_Rule, ...]:
    found = []
    for kind, stems, pattern in _WORDS:
        for gap, words in _GAPS.items():
            pattern = pattern.replace(gap + "?", f"(?:{words})").replace(gap, words)
        found.append(
            _Rule(kind, tuple(stems.split("|")), regex.compile(pattern, regex.IGNORECASE | regex.MULTILINE))
        )
    return tuple(found)
