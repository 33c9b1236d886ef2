"""Write rows as RAGAS's `EvaluationResult.to_pandas().to_csv(index=False)` has them, with a column of people's labels."""

import csv
import sys

from capitals import CAPITALS, question

GRADES = {"C": 1.0, "P": 0.5, "I": 0.0}
writer = csv.writer(sys.stdout, lineterminator="\n")
writer.writerow(
    [
        "user_input",
        "retrieved_contexts",
        "response",
        "reference",
        "faithfulness",
        "factual_correctness(mode=f1)",
        "human",
    ]
)
for _, country, capital, answer, grade, human in CAPITALS:
    said = f"['The capital of {country} is {capital}.']"
    writer.writerow(
        [
            question(country),
            said,
            answer,
            capital,
            GRADES[grade],
            "" if answer == "Bergen" else 1.0 * human,
            human,
        ]
    )
