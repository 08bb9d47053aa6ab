"""What holds of every reply, whatever is in it."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from egomem.answer import read_choice
from egomem.records import Option, Status

TEXTS = ("on the kitchen table", "in the drawer", "on the sofa", "in the car")
LABELS = st.sampled_from("ABCD")

PIECES = st.sampled_from(
    [
        "A", "B", "C", "D", "a", "b", "E", "answer", "Answer:", "the answer is", "not", "is wrong",
        "is correct", "or", "and", "option", "because", "I think", "\n", ". ", ", ", "(", ")", "**",
        "\\boxed{", "}", "<think>", "</think>", "```json", '{"answer": "', '"}', "答案是", "不是",
        "正解は", "in the drawer", "on the sofa", "none", "wait, no", "0.7", ":", "Antwort", "~~",
        "<answer>", "</answer>", "$", "|", "- ", "1.", "final answer", "\u200b", "é", "ß",
        "\U000f0000",
    ]
)  # fmt: skip
REPLIES = st.one_of(st.text(max_size=120), st.lists(PIECES, max_size=14).map(" ".join))

QUICK = settings(max_examples=60, suppress_health_check=list(HealthCheck))


def named(labels: str = "ABCD", texts: tuple[str, ...] = TEXTS) -> list[Option]:
    return [Option(label=label, text=text) for label, text in zip(labels, texts, strict=True)]


@QUICK
@given(REPLIES, st.lists(st.text(max_size=12), max_size=6))
def test_never_raises_and_a_letter_comes_with_parsed_alone(reply: str, texts: list[str]) -> None:
    for options in (texts, list(TEXTS)):
        reading = read_choice(reply, options)
        labels = [chr(65 + i) for i in range(len(options))]
        assert (reading.letter in labels) == (reading.status is Status.PARSED)
        assert reading.status is not Status.ERROR
        assert len(set(reading.ranking)) == len(reading.ranking)
        assert set(reading.ranking) <= set(labels)
        assert set(reading.scores) <= set(labels)
        if reading.letter is not None:
            assert reading.ranking[0] == reading.letter


STATED = st.sampled_from(
    [
        "{}", "({})", "{}.", "Answer: {}", "The answer is {}.", "I choose {}.", "\\boxed{{{}}}",
        '{{"answer": "{}"}}', "<answer>{}</answer>", "答案是{}。", "Antwort: {}", "{} is correct.",
        "**Final answer:** {}", "Option {}", "정답은 {}입니다.", "Ответ: {}",
        "<think>A B C D</think>{}",
        "The correct option is {}, not the others.", "{}\n\nExplanation: the drawer is opened.",
    ]
)  # fmt: skip


@QUICK
@given(STATED, LABELS)
def test_each_form_reads_each_label(form: str, label: str) -> None:
    reading = read_choice(form.format(label), named())
    assert (reading.status, reading.letter) == (Status.PARSED, label)


@QUICK
@given(STATED, LABELS, st.permutations(TEXTS))
def test_a_letter_does_not_depend_on_the_texts(form: str, label: str, texts: list[str]) -> None:
    assert read_choice(form.format(label), named(texts=tuple(texts))).letter == label


@QUICK
@given(STATED, st.sampled_from(range(4)), st.sampled_from(["PQRS", "WXYZ", "1234", "FGHJ"]))
def test_relabelling_options_relabels_the_reading(form: str, index: int, labels: str) -> None:
    if "A B C D" in form:
        form = form.replace("A B C D", " ".join(labels))
    reading = read_choice(form.format(labels[index]), named(labels))
    assert reading.letter == labels[index]


@QUICK
@given(st.sampled_from(TEXTS), st.permutations("ABCD"))
def test_a_text_is_read_by_whatever_label_it_has(text: str, labels: list[str]) -> None:
    options = named("".join(labels))
    label = next(o.label for o in options if o.text == text)
    assert read_choice(f"She left them {text}.", options).letter == label


WRAPPED = st.sampled_from(
    ["**{}**", "*{}*", "`{}`", "  {}  ", "\n{}\n", "```\n{}\n```", "<b>{}</b>", "> {}", "# {}",
     "<think>Perhaps another. A? D?</think>\n{}", "{}\u200b", "\ufeff{}"]
)  # fmt: skip
SHORT = st.sampled_from(
    ["B", "Answer: C", "(d)", "in the drawer", "B. in the drawer", "A or B", "not A",
     "I don't know.", "B. on the sofa", "", "The answer is A", '{"answer": "B"}',
     "I'm sorry, I can't help with that."]
)  # fmt: skip


@QUICK
@given(SHORT, WRAPPED)
def test_wrapping_changes_nothing(reply: str, wrap: str) -> None:
    plain, wrapped = read_choice(reply, named()), read_choice(wrap.format(reply), named())
    assert (wrapped.status, wrapped.letter) == (plain.status, plain.letter)


@QUICK
@given(LABELS, LABELS)
def test_two_statements_agree_or_there_is_no_reading(one: str, other: str) -> None:
    for reply in (
        f"Answer: {one}\nAnswer: {other}",
        f"\\boxed{{{one}}} \\boxed{{{other}}}",
        f"The answer is {one}. The correct answer is {other}.",
        f"{one} or {other}",
        json.dumps({"answer": one}) + json.dumps({"choice": other}),
        json.dumps({"answer": one, "prediction": other}),
    ):
        assert read_choice(reply, named()).letter == (one if one == other else None)


@QUICK
@given(st.permutations("ABCD"), st.sampled_from("ABCD"))
def test_scores_are_read_whatever_their_order(order: list[str], best: str) -> None:
    scores = {label: 0.9 if label == best else 0.1 * i for i, label in enumerate("ABCD")}
    reading = read_choice(json.dumps({label: scores[label] for label in order}), named())
    assert reading.letter == best
    assert dict(reading.scores) == scores
    assert list(reading.ranking) == sorted("ABCD", key=lambda label: -scores[label])


@pytest.mark.parametrize("size", [2, 4, 9, 26, 40])
def test_any_number_of_options(size: int) -> None:
    options = [f"thing number {i} of many" for i in range(size)]
    for index in (0, 1, size - 1):
        label = read_choice(options[index], options).letter
        assert label is not None
        assert read_choice(f"Answer: {label}", options).letter == label


@pytest.mark.timeout(60)
def test_a_long_reply_is_read_without_backtracking() -> None:
    """Linear in the length; patterns that backtrack would take hours, which the timeout ends."""
    reply = "The wearer opens a drawer, and a cup, and a pan (A man is there); " * 800
    assert read_choice(reply + "Answer: B", named()).letter == "B"
