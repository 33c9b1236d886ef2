"""Material that the tests of the rules share: the demo's questions, and short answers in many scripts."""

import json
from pathlib import Path

from core.schema.study import Item, Material

DEMO = Path(__file__).parents[2] / "data" / "demo" / "questions.jsonl"


def demo_materials() -> list[Material]:
    rows = [json.loads(line) for line in DEMO.read_text("utf-8").splitlines()]
    return [
        Material(Item(row["item_id"], row["question"], row["reference"], row["language"]), row["paraphrase"])
        for row in rows
    ]


def material(item_id: str, reference: str, language: str, question: str = "?") -> Material:
    return Material(Item(item_id, question, reference, language))


SENTENCES = {
    "en": "The Eiffel Tower in Paris was finished in 1889 and is about 330 metres high.",
    "de": "Der Turm in Berlin wurde 1969 eröffnet und ist rund 368 Meter hoch.",
    "fr": "La tour de Paris date de 1889, et elle mesure environ 330 mètres.",
    "es": "La torre de Madrid es de 1957 y mide unos 142 metros.",
    "ru": "Битва произошла 5 сентября 1812 года под Москвой, и около 120 000 человек погибли.",
    "el": "Η Αθήνα έχει περίπου 640000 κατοίκους και είναι μεγάλη πόλη.",
    "ar": "وُلد ابن خلدون في تونس عام 1332، وتوفي في القاهرة.",
    "he": "הקרב היה בשנת 1948 ליד ירושלים, ובו נהרגו כ-300 איש.",
    "hi": "ताजमहल १६३२ में आगरा में शाहजहाँ ने बनवाया था।",
    "ja": "東京タワーは1958年12月23日に東京で開業した。高さは約333メートルである。",
    "zh": "长城全长约21,196公里，始建于公元前7世纪，位于中国北部。",
    "ko": "서울은 대한민국의 수도이며 1394년에 도읍이 되었다.",
    "th": "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทยตั้งแต่ปี 2325",
}
