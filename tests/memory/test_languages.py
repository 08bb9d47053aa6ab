"""Every script finds its own, no text is an error, and English scores do not move."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egomem.memory import Store
from egomem.text import terms, tokens
from egomem.text.tokenise import MAX_TOKEN_LENGTH

from .conftest import caption, recording

# language: (what was observed, questions that have to find it first, something else observed)
SPOKEN = {
    "Chinese": ("我把红色的茶杯放在桌子上", ["茶杯在哪里", "红色", "桌子"], "他在街上骑自行车"),
    "one character": ("猫睡在沙发上", ["猫"], "狗在花园里"),
    "Japanese": (
        "赤いカップをテーブルに置いた",
        ["カップはどこ", "赤い", "テーブル"],
        "自転車に乗る",
    ),
    "Korean": ("고양이가 소파에서 잔다", ["고양이", "소파", "고양이는 어디"], "자전거를 탄다"),
    "German": (
        "Ich lege die Schlüssel auf den Tisch in der Küche",
        ["Wo ist der Schlüssel?", "Küche", "Tische", "KÜCHEN"],
        "Ein Mann fährt mit dem Fahrrad",
    ),
    "Spanish": (
        "Dejo las llaves en la mesa de la cocina",
        ["¿Dónde está la llave?", "mesas", "cocinas"],
        "Un hombre monta en bicicleta por la calle",
    ),
    "French": (
        "Je pose les clés sur la table de la cuisine",
        ["Où est la clé ?", "tables", "cuisines"],
        "Un homme roule à vélo dans la rue",
    ),
    "Hindi": ("लाल प्याला मेज़ पर रखा है", ["प्याला कहाँ है", "मेज़", "लाल"], "एक आदमी साइकिल चलाता"),
    "Arabic": (
        "وَضَعْتُ المفاتيح على الطاولة",
        ["أين المفاتيح", "طاولة", "وضعت"],
        "رجل يركب الدراجة في الشارع",
    ),
    "Russian": ("Я положил ключи на стол", ["где ключ", "столы"], "Человек едет на велосипеде"),
    "Thai": ("ฉันวางกุญแจไว้บนโต๊ะ", ["กุญแจ", "โต๊ะ"], "เขาขี่จักรยาน"),
    "English": ("she walks to the red door", ["walking", "doors", "RED"], "a man on a bicycle"),
    "full width": ("ＢＵＳ　Ｂ１２　arrives", ["bus B12", "b12", "Ｂ１２"], "bus C7 leaves"),
    "mixed": ("スーパーで iPhone15 を買った", ["iphone15", "スーパー", "買った"], "スーツを洗う"),
    "kana of every sentence": ("鍵をキッチンに置いた", ["鍵はどこですか"], "四階の部屋はここ"),
    "Arabic digits": ("٤٠٢ غرفة", ["402", "غرفة ٤٠٢"], "غرفة ٣٠٥"),
    "Hindi digits": ("कमरा ४०२", ["402", "कमरा ४०२"], "कमरा ३०५"),
    "accents": ("a naïve façade of the Café", ["cafe", "facade", "CAFÉ"], "a coffee machine"),
}


@pytest.mark.parametrize(("text", "questions", "other"), SPOKEN.values(), ids=SPOKEN)
def test_a_language_finds_its_own(
    store: Store, text: str, questions: list[str], other: str
) -> None:
    store.put_recording(recording("r"))
    store.add([caption("r", 0, 1, other), caption("r", 1, 2, text)])
    for question in questions:
        texts = [hit.observation.text for hit in store.view().search(question)]
        assert texts[:1] == [text], question


CODES = ["B-17", "10:30", "km/h", "u.s.a", "a_b", "3.5", "e-mail@x.org", "don't"]


@pytest.mark.parametrize("code", CODES)
def test_a_code_is_found_whole_and_by_its_parts(store: Store, code: str) -> None:
    assert tokens(f"at {code}, today")[1] == code.lower()
    store.put_recording(recording("r"))
    parts = tokens(code)[1:]
    store.add(
        [caption("r", 0, 1, f"at {code}, today"), caption("r", 1, 2, " ".join(parts) or "no")]
    )
    for query in (code, code.upper(), f"({code})", f"{code}?"):
        assert store.view().search(query)[0].observation.text == f"at {code}, today"
    for part in parts:
        assert len(store.view().search(part)) == 2


def test_a_possessive_is_its_word() -> None:
    assert tokens("my wife's car, the boys’ and the dog’s") == [
        *("my", "wife", "car", "the", "boys", "and", "the", "dog")
    ]


def test_combining_marks_belong_to_their_letter() -> None:
    assert tokens("हिन्दी में") == ["हिन्दी", "में"]
    assert tokens("e\u0301te\u0301") == tokens("été") == ["été"]


ODD = [
    *("AND", "OR NOT", "*", '"open', "what?", "wife's", "text:(", "a^2~", "[1 TO 2]", "\\", "/x/"),
    *("", " ", "\0", "😀🎉", "\ud800", "\u202e", "'", "--", "a" * 100_000, "a b c " * 20_000),
    *("é" * 100_000, "水" * 100_000, "-" * 100_000, "x-" * 50_000),
]


@pytest.mark.parametrize("query", ODD, ids=lambda q: repr(q[:8]))
def test_no_text_of_a_query_is_an_error(store: Store, query: str) -> None:
    store.put_recording(recording("r"))
    store.add([caption("r", 0, 1, "what is open and what is not")])
    assert len(store.view().search(query)) <= 1


@given(st.text())
def test_tokens_of_any_text(text: str) -> None:
    words = tokens(text)
    assert all(0 < len(token) <= MAX_TOKEN_LENGTH for token in words)
    assert not any(space in token for token in words for space in " \t\n")
    assert terms(text)[1] == len(words)


ENGLISH = [
    "the wearer puts the red mug on the table",
    "a man walks past the door of the cafe",
    "no one is in the kitchen, the tap drips",
    "he reads a note: meet at 10:30 on platform B-17",
]


def test_other_languages_do_not_move_english_scores(store: Store, tmp_path) -> None:
    """The marked stems of another language add nothing to a text's length or to English terms."""
    for text in ENGLISH:
        counts, length = terms(text)
        assert len(counts) == length
        assert not any("·" in term for term in counts)
    german = SPOKEN["German"][0]
    counts, length = terms(german)
    assert length == len(german.split())
    assert sum("·" in term for term in counts) == length


def test_the_same_word_of_two_languages_is_one_in_each() -> None:
    assert "die·ge" in terms("die Katze ist auf dem Tisch")[0]
    assert terms("they die in the end") == (["they", "die", "in", "the", "end"], 5)
