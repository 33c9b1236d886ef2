"""The made-up questions and answers that every log evaluates, with one judge's grades and people's labels."""

CAPITALS = (
    # id, country, capital, answer, the judge's grade, the people's label
    ("q1", "France", "Paris", "Paris", "C", 1),
    ("q2", "Spain", "Madrid", "It is Barcelona.", "I", 0),
    ("q3", "Italy", "Rome", "Rome, I think", "P", 1),
    ("q4", "Austria", "Vienna", "Vienna", "C", 1),
    ("q5", "Kenya", "Nairobi", "Mombasa", "C", 0),
    ("q6", "Chile", "Santiago", "Lima", "I", 0),
    ("q7", "Japan", "Tokyo", "Tokyo is the capital.", "C", 1),
    ("q8", "Norway", "Oslo", "Bergen", "I", 0),
)


def question(country: str) -> str:
    """The question about a country."""
    return f"What is the capital of {country}?"
