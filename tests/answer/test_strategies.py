"""Strategies through real HTTP: a small memory, pictures of one grey each, a scripted server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from egomem.answer import Budget, answer, compare
from egomem.answer.strategy import get
from egomem.errors import ConfigError
from egomem.media import Frame
from egomem.memory import Store
from egomem.memory.failed_windows import FailedWindow, to_completed
from egomem.models import Limits, ModelClient, RequestPolicy, Role
from egomem.observe.frame_encoding import frame_label
from egomem.records import Answer, Evidence, Observation, Question, Recording, Status, Track
from egomem.testing import Rule, Script, ScriptedServer
from egomem.timeline import Clock, RecordingTime, Span

START = datetime.fromisoformat("2026-03-02T08:10:00+01:00")
TRACK = Track(source="caption", observer="vlm", model="m", prompt="p@1", window=30.0)
CAPTIONS = [
    "The wearer walks through a hall past a green door.",
    "A blue bicycle leans on the fence beside the gate.",
    "The wearer puts the keys into the drawer under the mirror.",
    "Two people drink coffee at a round table.",
    "The wearer waters a fern on the window sill.",
    "A red tram passes the corner.",
    "The wearer buys bread and pays with coins.",
    "The bakery's sign says OPEN.",
    "Rain falls on the square.",
    "The wearer closes an umbrella.",
]
OPTIONS = ["on the sofa", "in the drawer", "on the fence", "in the bakery"]
QUESTION = Question.of("Where were the keys put?", OPTIONS, id="q1", recording="walk")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "memory", create=True) as memory:
        memory.put_recording(
            Recording(id="walk", name="walk.mp4", duration=300.0, clock=Clock(START), path="x")
        )
        memory.put_track(TRACK)
        memory.add(
            Observation(
                recording="walk",
                span=Span(30.0 * k, 30.0 * (k + 1)),
                text=text,
                source="caption",
                track=TRACK.id,
            )
            for k, text in enumerate(CAPTIONS)
        )
        yield memory


def pictures(recording: str, times: Sequence[float], side: int | None = None) -> Iterable[Frame]:
    """A frame a second, as a decoder gives them: the last one that was on screen."""
    for time in times:
        level = int(time) % 200
        yield Frame(float(int(time)), time, np.full((36, 64, 3), level, np.uint8))


@pytest.fixture
def serve() -> Iterator[Callable[..., ScriptedServer]]:
    started: list[ScriptedServer] = []

    def start(*rules: Rule, **fields: Any) -> ScriptedServer:
        started.append(ScriptedServer(Script(rules=rules, **fields)).start())
        return started[-1]

    yield start
    for server in started:
        server.stop()


def models_of(server: ScriptedServer, **fields: Any) -> ModelClient:
    policy = RequestPolicy(deadline=10, backoff=0.01, max_attempts=1)
    return ModelClient(
        {"all": f"openai-compatible:fake@{server.url}"}, policy=policy, environ={}, **fields
    )


def answer_of(server: ScriptedServer, store: Store, strategy: str, **fields: Any) -> Answer:
    """One answer through real HTTP, from the whole memory unless `at` says otherwise."""
    question = fields.pop("question", QUESTION)
    at = fields.pop("at", None)
    fields.setdefault("frames", pictures)
    fields.setdefault("models", models_of(server))
    return asyncio.run(answer(question, store.view(at), strategy, **fields))


def sent(server: ScriptedServer, number: int = -1) -> str:
    return server.requests[number].text


# ------------------------------------------------------------------------------------- clean


def test_clean_shows_nothing_of_the_recording(serve: Any, store: Store) -> None:
    server = serve(Rule(reply='{"answer": "B", "scores": {"A": 0.1, "B": 0.6, "C": 0.2, "D": 0}}'))
    reply = answer_of(server, store, "clean")
    assert (reply.status, reply.choice, reply.text) == (Status.PARSED, "B", "in the drawer")
    assert reply.scores == {"A": 0.1, "B": 0.6, "C": 0.2, "D": 0.0}
    assert not server.requests[0].images
    assert not any(text in sent(server) for text in CAPTIONS)
    assert all(
        f"{label}. {text}" in sent(server) for label, text in zip("ABCD", OPTIONS, strict=True)
    )
    assert reply.usage.requests == 1
    assert reply.usage.tokens_in > 0


def test_a_letter_alone_is_first_and_the_rest_is_open(serve: Any, store: Store) -> None:
    reply = answer_of(serve(Rule(reply="C")), store, "clean", settings={"format": "letter"})
    assert (reply.choice, reply.scores) == ("C", {"C": 1.0})


def test_scores_come_from_log_probabilities_where_the_server_gives_them(
    serve: Any, store: Store
) -> None:
    probabilities = {"B": -0.2, " A": -2.0, "(C": -4.0, "The": -3.0}
    server = serve(Rule(reply="B", logprobs=probabilities))
    reply = answer_of(server, store, "clean", settings={"format": "logprobs"})
    assert reply.choice == "B"
    assert list(reply.scores) == ["A", "B", "C"]
    assert reply.scores["B"] > reply.scores["A"] > reply.scores["C"] > 0
    assert sum(reply.scores.values()) == pytest.approx(1.0)
    without = answer_of(serve(Rule(reply="B")), store, "clean", settings={"format": "logprobs"})
    assert without.scores == {"B": 1.0}


def test_a_reply_that_is_no_json_is_read_as_text(serve: Any, store: Store) -> None:
    reply = answer_of(serve(Rule(reply="I think the answer is **B**.")), store, "clean")
    assert (reply.status, reply.choice) == (Status.PARSED, "B")


@pytest.mark.parametrize(
    ("rule", "status"),
    [
        (Rule(reply="A or B"), Status.UNPARSABLE),
        (Rule(reply='{"answer": "B", "scores"', finish="length"), Status.TRUNCATED),
        (Rule(reply="<think>Maybe A"), Status.TRUNCATED),
        (Rule(refusal="no"), Status.REFUSED),
        (Rule(status=500), Status.ERROR),
        (Rule(reply="It cannot be told."), Status.ABSTAINED),
    ],
)
def test_every_ending_is_a_status_and_no_letter(
    serve: Any, store: Store, rule: Rule, status: Status
) -> None:
    reply = answer_of(serve(rule), store, "clean")
    assert (reply.status, reply.choice, reply.text) == (status, None, "")
    assert reply.reason
    assert reply.trace[-1]["status"] in [s.value for s in Status]


def test_the_key_never_reaches_the_model(serve: Any, store: Store) -> None:
    server = serve(Rule(reply="B"))
    keyed = QUESTION.model_copy(update={"answer": "C", "tags": {"secret": "zebra"}})
    plain = answer_of(server, store, "clean", question=QUESTION)
    reply = answer_of(server, store, "clean", question=keyed)
    assert sent(server, 0) == sent(server, 1)
    assert reply.choice == plain.choice


# ------------------------------------------------------------------------------------- caption


def reply(answer_: str | None, *listed: object, **scores: float) -> str:
    given = dict.fromkeys("ABCD", 0.0) | scores
    return json.dumps({"answer": answer_, "scores": given, "evidence": listed})


NOTED = reply("B", 3, "[3]", 99, B=0.9, C=0.05)


def test_caption_reads_every_caption_and_no_frame(serve: Any, store: Store) -> None:
    server = serve(Rule(reply=NOTED))
    reply = answer_of(server, store, "caption")
    text = sent(server)
    assert all(caption in text for caption in CAPTIONS)
    assert not server.requests[0].images
    assert text.index(CAPTIONS[-1]) < text.index(QUESTION.text), "shared context comes first"
    (evidence,) = reply.evidence
    assert (evidence.recording, evidence.span) == ("walk", Span(60.0, 90.0))
    assert evidence.quote == CAPTIONS[2]
    assert evidence.when is not None
    assert evidence.when.isoformat() == "2026-03-02T08:11:00+01:00"


def test_caption_sees_the_past_alone(serve: Any, store: Store) -> None:
    server = serve(Rule(reply=NOTED))
    answer_of(server, store, "caption", at=RecordingTime("walk", 95.0))
    assert CAPTIONS[2] in sent(server)
    assert not any(text in sent(server) for text in CAPTIONS[3:])


def test_the_context_of_two_questions_begins_the_same(serve: Any, store: Store) -> None:
    server = serve(Rule(reply=NOTED))
    other = Question.of("What is beside the gate?", ["a bicycle", "a fern"], recording="walk")
    answer_of(server, store, "caption")
    answer_of(server, store, "caption", question=other)
    first, second = sent(server, 0), sent(server, 1)
    assert first[: first.index("Question:")] == second[: second.index("Question:")]


def test_caption_abstains_over_nothing_and_asks_nobody(serve: Any, store: Store) -> None:
    server = serve(Rule(reply=NOTED))
    reply = answer_of(server, store, "caption", at=RecordingTime("walk", 10.0))
    assert reply.status is Status.ABSTAINED
    assert not server.requests


def lose(store: Store, *numbers: int) -> None:
    """These windows of TRACK are refused, in a second recording whose others are captioned."""
    store.put_recording(Recording(id="lost", name="lost.mp4", duration=120.0, path="x"))
    for k in range(4):
        span = Span(30.0 * k, 30.0 * (k + 1))
        note = {"recording": "lost", "span": span, "source": "caption", "track": TRACK.id}
        if k in numbers:
            store.add([], completed=[to_completed("lost", TRACK.id, FailedWindow(span, "refused"))])
        else:
            store.add([Observation(text=f"Room {k}.", **note)])


LOST = QUESTION.model_copy(update={"recording": "lost"})


def test_a_reader_is_told_where_nothing_could_be_noted(serve: Any, store: Store) -> None:
    lose(store, 0, 2)
    server = serve(Rule(reply=NOTED.replace("[3]", "[2]")))
    reply = answer_of(server, store, "caption", question=LOST)
    lines = [line for line in sent(server).splitlines() if line.startswith("[")]
    assert lines == [
        "[-] 0:00-0:30 (nothing could be noted of this stretch)",
        "[1] 0:30-1:00 Room 1.",
        "[-] 1:00-1:30 (nothing could be noted of this stretch)",
        "[2] 1:30-2:00 Room 3.",
    ]
    (step,) = [s for s in reply.trace if s["step"] == "notes"]
    assert [(g["start"], g["status"]) for g in step["without"]] == [(0, "refused"), (60, "refused")]


def test_what_could_not_be_noted_later_is_not_told(serve: Any, store: Store) -> None:
    lose(store, 0, 2)
    server = serve(Rule(reply=NOTED))
    answer_of(server, store, "caption", question=LOST, at=RecordingTime("lost", 70.0))
    assert "0:00-0:30 (nothing" in sent(server)
    assert "1:00-1:30" not in sent(server)


def test_gaps_stand_under_their_own_recording(serve: Any, store: Store) -> None:
    lose(store, 3)
    server = serve(Rule(reply=NOTED))
    answer_of(server, store, "caption", question=QUESTION.model_copy(update={"recording": None}))
    text = sent(server)
    assert text.index("Recording walk.mp4") < text.index("Recording lost.mp4")
    assert text.index("Room 2.") < text.index("[-] 1:30-2:00")
    assert text.count("[-]") == text.count("Recording lost.mp4") == 1


def test_nothing_noted_at_all_asks_nobody_and_says_why(serve: Any, store: Store) -> None:
    lose(store, 0, 1, 2, 3)
    server = serve(Rule(reply=NOTED))
    settings = {"track": TRACK.id}
    reply = answer_of(server, store, "caption", question=LOST, settings=settings)
    assert reply.status is Status.ABSTAINED
    assert "4 windows have no caption" in reply.reason
    assert not server.requests


def test_one_of_two_tracks_is_read_and_a_model_s_before_a_composed_one(
    serve: Any, store: Store
) -> None:
    composed = Track(source="caption", observer="composed", window=30.0)
    store.put_track(composed)
    store.add(
        [
            Observation(
                recording="walk", span=Span(0, 300), text="In view: fern.", source="caption",
                track=composed.id,
            )
        ]
    )  # fmt: skip
    server = serve(Rule(reply=NOTED))
    answer_of(server, store, "caption")
    assert "In view: fern." not in sent(server)
    answer_of(server, store, "caption", settings={"track": composed.id})
    assert "In view: fern." in sent(server)
    assert CAPTIONS[0] not in sent(server)


def test_open_questions_get_a_sentence_or_none(serve: Any, store: Store) -> None:
    question = Question.of("Where were the keys put?")
    server = serve(
        Rule(reply='{"answer": "Into the drawer.", "evidence": [3]}', times=1),
        Rule(reply='{"answer": null, "evidence": []}', times=1),
    )
    reply = answer_of(server, store, "caption", question=question)
    assert (reply.status, reply.text, reply.choice) == (Status.PARSED, "Into the drawer.", None)
    assert reply.evidence[0].quote == CAPTIONS[2]
    none = answer_of(server, store, "caption", question=question)
    assert (none.status, none.text) == (Status.ABSTAINED, "")


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("The notes do not say.", Status.ABSTAINED),
        ('{"answer": "cannot be determined", "evidence": []}', Status.ABSTAINED),
        ("无法从笔记中得知。", Status.ABSTAINED),
        ("I'm sorry, but I can't help with that.", Status.REFUSED),
        ('{"answer": "", "evidence": [1]}', Status.UNPARSABLE),
        ("It is not stated, but probably in the drawer.", Status.PARSED),
        ('{"answer": "In the drawer; the sofa is not mentioned."}', Status.PARSED),
    ],
)
def test_open_answers_abstain_and_refuse_as_choices_do(
    serve: Any, store: Store, text: str, status: Status
) -> None:
    question = Question.of("Where were the keys put?")
    reply = answer_of(serve(Rule(reply=text)), store, "caption", question=question)
    assert (reply.status, bool(reply.text)) == (status, status is Status.PARSED)


@pytest.mark.parametrize("form", ["scores", "letter", "logprobs"])
def test_every_form_of_reply_asks_for_evidence_where_something_was_shown(
    serve: Any, store: Store, form: str
) -> None:
    server = serve(Rule(reply="B\nEvidence: 3, note 4", logprobs={"B": -0.1}))
    reply = answer_of(server, store, "caption", settings={"format": form})
    assert "vidence" in sent(server).rpartition("Question:")[2]
    assert (reply.choice, [e.span.start for e in reply.evidence]) == ("B", [60, 90])
    clean = answer_of(server, store, "clean", settings={"format": form})
    assert "vidence" not in sent(server)
    assert clean.evidence == ()


@pytest.mark.parametrize("form", ["scores", "letter", "logprobs"])
@pytest.mark.parametrize("strategy", ["caption", "video", "evidence-captions", "evidence-frames"])
def test_without_cite_no_reader_is_asked_for_evidence(
    serve: Any, store: Store, strategy: str, form: str
) -> None:
    server = serve(Rule(reply="B", logprobs={"B": -0.1}))
    question = QUESTION.model_copy(
        update={"evidence": (Evidence(recording="walk", span=Span(61, 65)),)}
    )
    settings = {"format": form, "abstain": False, "cite": False}
    reply = answer_of(server, store, strategy, question=question, settings=settings)
    instructions = sent(server).rpartition("D. in the bakery")[2]
    assert (reply.choice, reply.evidence) == ("B", ())
    assert "evidence" not in json.dumps(server.requests[-1].body).lower()
    if form != "scores":
        words = "Reply with the letter of the right option (A, B, C, D) and nothing else."
        assert instructions.strip() == words
    texts = get(strategy).texts
    assert texts is not None
    declared = texts(question, get(strategy).configure(settings))
    assert instructions.strip() in declared


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "B", "evidence": [3]}',
        '{"answer": "B", "scores": {"B": 0.7}, "evidence": [3], "why": "A is empty"}',
        '{"answer": "B", "evidence_ids": "note 3"}',
        "{'answer': 'B', 'evidence': [3],}",
        '```json\n{"Answer": "B", "Evidence": ["1:05"], "confidence": "high"}\n```',
        '{"answer": "B", "evidence": [{"note": 3, "why": "keys"}]}',
        '{"answer": "B", "evidence": [{"start": "1:01", "end": "1:20"}]}',
    ],
)
def test_fields_too_many_or_missing_leave_the_evidence(serve: Any, store: Store, text: str) -> None:
    reply = answer_of(serve(Rule(reply=text)), store, "caption")
    assert (reply.choice, [e.span for e in reply.evidence]) == ("B", [Span(60, 90)])


def test_without_a_model_one_line_says_what_to_do(store: Store) -> None:
    with pytest.raises(ConfigError, match="--model reader="):
        asyncio.run(answer(QUESTION, store.view(), "caption"))


# --------------------------------------------------------------------------------------- video


def test_video_tells_the_times_of_the_frames_sent(serve: Any, store: Store) -> None:
    server = serve(Rule(reply=reply("A", "1:02", "[2:37]", A=1)))
    result = answer_of(server, store, "video", settings={"frames": 8})
    (asked,) = [step for step in result.trace if step["step"] == "asked"]
    times = asked["frames"]
    assert times == [float(int((k + 0.5) * 300 / 8)) for k in range(8)]
    assert len(server.requests[0].images) == len(set(server.requests[0].images)) == 8
    assert all(frame_label(t) in sent(server) for t in times)
    assert not any(caption in sent(server) for caption in CAPTIONS)
    assert [e.span for e in result.evidence] == [], "1:02 and 2:37 are no frames that were sent"
    server = serve(Rule(reply=reply("A", "0:56", A=1)))
    result = answer_of(server, store, "video", settings={"frames": 8})
    assert [e.span for e in result.evidence] == [Span(56.0, 56.0)]
    assert result.usage.frames == 8


def test_video_looks_at_the_past_alone_and_never_oftener_than_asked(
    serve: Any, store: Store
) -> None:
    reply = answer_of(serve(Rule(reply="B")), store, "video", at=RecordingTime("walk", 5.0))
    (looked,) = [step for step in reply.trace if step["step"] == "looked"]
    assert [f["time"] for f in looked["frames"]] == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_video_keeps_to_the_limit_of_the_reader_and_the_budget(serve: Any, store: Store) -> None:
    reply = answer_of(serve(Rule(reply="B")), store, "video")
    assert reply.usage.frames == 64, "the reader's default limit of images"
    reply = answer_of(serve(Rule(reply="B")), store, "video", budget=Budget(frames=5))
    assert reply.usage.frames == 5


def test_frames_go_as_one_video_where_that_is_asked(serve: Any, store: Store) -> None:
    server = serve(Rule(reply="B"))
    models = ModelClient({"all": f"vllm:fake@{server.url}"}, environ={})
    settings = {"frames": 4, "as_video": True}
    reply = answer_of(server, store, "video", settings=settings, models=models)
    (request,) = server.requests
    kinds = [part["type"] for part in request.body["messages"][-1]["content"]]
    assert kinds.count("video_url") == 1
    assert "image_url" not in kinds
    assert len(request.images) == reply.usage.frames == 4
    assert "taken at [0:37], [1:52], [3:07], [4:22]" in request.text


def test_a_question_is_told_what_time_it_is(serve: Any, store: Store) -> None:
    server = serve(Rule(reply=NOTED))
    answer_of(server, store, "caption", at=datetime.fromisoformat("2026-03-02T09:00:00+01:00"))
    answer_of(server, store, "caption", at=RecordingTime("walk", 95.0))
    answer_of(server, store, "caption")
    assert "It is now Monday 2026-03-02T09:00:00+01:00." in sent(server, 0)
    assert "It is now 1:35 of the recording." in sent(server, 1)
    assert "It is now" not in sent(server, 2)


def test_video_without_videos_says_so(serve: Any, store: Store) -> None:
    reply = answer_of(serve(), store, "video", frames=None)
    assert reply.status is Status.ERROR
    assert "not at hand" in reply.reason


# -------------------------------------------------------------------------------------- verify


def verdict(answer_: str, support: str) -> str:
    return json.dumps({"answer": answer_, "support": support, "reason": "seen at 1:10"})


def checked(
    serve: Any, store: Store, verdict_text: str, **fields: Any
) -> tuple[Answer, ScriptedServer]:
    server = serve(
        Rule(when="You check answers", reply=verdict_text),
        Rule(when="the few notes", reply=NOTED.replace('"B"', '"C"', 1)),
        Rule(reply=NOTED),
    )
    return answer_of(server, store, "verify", **fields), server


def decision(reply: Answer) -> dict[str, Any]:
    (step,) = [s for s in reply.trace if isinstance(s, dict) and s["step"] == "decision"]
    return step


def test_strong_support_replaces_the_caption_answer(serve: Any, store: Store) -> None:
    question = QUESTION.model_copy(update={"answer": "A"})
    reply, server = checked(serve, store, verdict("A", "strong"), question=question)
    assert (reply.choice, reply.text, reply.strategy) == ("A", "on the sofa", "verify")
    assert max(reply.scores, key=reply.scores.__getitem__) == "A"
    assert decision(reply)["outcome"] == "overridden"
    assert (decision(reply)["before"], decision(reply)["effect"]) == ("B", "fixed")
    assert "post hoc" in decision(reply)["caveat"]
    frames = [s for s in server.requests if s.images]
    assert len(frames) == 1
    assert 0 < len(frames[0].images) <= 12
    assert reply.usage.requests == 3
    assert any(Span(60, 90).overlaps(e.span) for e in reply.evidence)
    assert {e.quote for e in reply.evidence} == {"seen at 1:10"}


def test_verify_tells_what_the_caption_answer_lacked(serve: Any, store: Store) -> None:
    reply, _ = checked(serve, store, verdict("none", "weak"))
    assert not any("without" in step for step in reply.trace if isinstance(step, dict))
    (step,) = [s for s in reply.trace if isinstance(s, dict) and s["step"] == "baseline"]
    assert step["track"] == TRACK.id
    lose(store, 0, 2)
    reply, _ = checked(serve, store, verdict("none", "weak"), question=LOST)
    (step,) = [s for s in reply.trace if isinstance(s, dict) and s["step"] == "baseline"]
    assert [g["start"] for g in step["without"]] == [0, 60]
    assert (step["choice"], step["sources"]) == ("B", ["caption"])


@pytest.mark.parametrize(
    ("verdict_text", "outcome"),
    [
        (verdict("A", "partial"), "blocked"),
        (verdict("A", "weak"), "blocked"),
        (verdict("none", "strong"), "kept"),
        (verdict("E", "strong"), "kept"),
        (verdict("B", "strong"), "kept"),
        (verdict("A", "certain"), "kept"),
        ("The frames show A.", "kept"),
        ('{"answer": "A", "support": "str', "kept"),
    ],
)
def test_anything_less_leaves_it_standing(
    serve: Any, store: Store, verdict_text: str, outcome: str
) -> None:
    reply, _ = checked(serve, store, verdict_text)
    assert reply.choice == "B"
    assert decision(reply)["outcome"] == outcome
    assert reply.evidence[0].quote == CAPTIONS[2], "the baseline stands with its evidence"


def test_a_clock_time_blocks_it_and_a_second_look_may_not(serve: Any, store: Store) -> None:
    question = QUESTION.model_copy(update={"text": "Where were the keys put at 8:11 am?"})
    reply, _ = checked(serve, store, verdict("A", "strong"), question=question)
    assert (reply.choice, decision(reply)["outcome"]) == ("B", "blocked")
    reply, _ = checked(
        serve, store, verdict("A", "strong"), question=question, settings={"second_look": True},
        at=datetime.fromisoformat("2026-03-02T09:00:00+01:00"),
    )  # fmt: skip
    assert reply.choice == "A"
    (step,) = [s for s in reply.trace if s["step"] == "second_look"]
    assert all(55 <= t <= 125 for times in step["times"] for t in times)
    assert reply.usage.frames == 16, "four of each moment found, four of the moment named"


def test_nothing_supports_any_option(serve: Any, store: Store) -> None:
    def run(**settings: Any) -> Answer:
        server = serve(
            Rule(when="You check answers", reply=verdict("none", "none")),
            Rule(when="the few notes", reply=reply(None, B=0.1)),
            Rule(reply=NOTED),
        )  # fmt: skip
        return answer_of(server, store, "verify", settings=settings)

    assert run().choice == "B", "the paper's rule: the baseline stands"
    extended = run(abstain_unsupported=True)
    assert (extended.status, extended.choice) == (Status.ABSTAINED, None)


@pytest.mark.parametrize(
    ("limit", "moments", "frames"), [(12, 3, 12), (8, 2, 8), (7, 1, 4), (3, 1, 3)]
)
def test_a_verifier_that_takes_few_frames_is_shown_fewer_moments(
    serve: Any, store: Store, limit: int, moments: int, frames: int
) -> None:
    """The best moments are kept, with four frames each; a server with the limit can be asked."""
    server = serve(
        Rule(when="You check answers", reply=verdict("A", "strong")),
        Rule(reply=NOTED),
        max_images=limit,
    )
    few = models_of(server, limits={Role.VERIFIER: Limits(images=limit)})
    question = QUESTION.model_copy(update={"text": "keys bicycle bakery umbrella drawer sign"})
    reply = answer_of(server, store, "verify", question=question, models=few)
    assert reply.choice == "A"
    (request,) = [s for s in server.requests if s.images]
    assert len(request.images) == frames
    (step,) = [s for s in reply.trace if s["step"] == "intervals"]
    assert (len(step["looked_at"]), len(step["left_out"])) == (moments, 3 - moments)


def test_the_frames_that_a_verifier_cites_are_the_evidence(serve: Any, store: Store) -> None:
    result, _ = checked(serve, store, verdict("A", "strong"))
    (step,) = [s for s in result.trace if s["step"] == "looked"]
    time = step["frames"][2]["time"]
    cited = json.dumps({"answer": "A", "support": "strong", "evidence": [time], "extra": 1})
    reply, _ = checked(serve, store, cited)
    assert reply.choice == "A", "a missing reason and a field more leave the verdict as it is"
    assert [e.span for e in reply.evidence] == [Span(time, time)]


def test_verify_looks_at_the_past_alone(serve: Any, store: Store) -> None:
    reply, server = checked(serve, store, verdict("A", "strong"), at=RecordingTime("walk", 70.0))
    times = [t for s in reply.trace if s["step"] == "asked" for t in s["frames"]]
    assert times
    assert max(times) <= 70.0
    assert CAPTIONS[3] not in "".join(s.text for s in server.requests)


@pytest.mark.parametrize("status", [400, 401, 429, 500])
@pytest.mark.parametrize(
    ("prompt", "why", "requests"),
    [
        ("You check answers", "the frames were not checked", 3),
        ("the few notes", "the answer from the notes found failed", 2),
        ("You get notes that were written", "the caption answer failed", 1),
    ],
)
def test_a_request_of_verify_that_fails_is_no_answer(
    serve: Any, store: Store, status: int, prompt: str, why: str, requests: int
) -> None:
    """Not one that was checked and stands; and nothing more is asked for it."""
    rules = (Rule(when="You check answers", reply=verdict("A", "strong")), Rule(reply=NOTED))
    server = serve(Rule(when=prompt, status=status), *rules)
    reply = answer_of(server, store, "verify")
    assert (reply.status, reply.choice) == (Status.ERROR, None)
    assert reply.reason.startswith(f"{why}: ")
    assert len(server.requests) == requests
    assert not [s for s in reply.trace if s["step"] == "decision"]


def test_a_second_look_that_fails_is_no_answer(serve: Any, store: Store) -> None:
    rules = [Rule(when="You check answers", reply=verdict("A", "weak"), times=1)]
    server = serve(*rules, Rule(when="You check answers", status=500), Rule(reply=NOTED))
    question = QUESTION.model_copy(update={"text": "Where were the keys put at 8:11 am?"})
    reply = answer_of(
        server, store, "verify", question=question, settings={"second_look": True},
        at=datetime.fromisoformat("2026-03-02T09:00:00+01:00"),
    )  # fmt: skip
    assert reply.status is Status.ERROR
    assert "not checked" in reply.reason


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (Rule(refusal="I will not look."), "the verifier refused"),
        (Rule(reply='{"answer": "A", "supp', finish="length"), "the verdict was cut off"),
        (Rule(reply="Hard to say."), "the verdict could not be read"),
    ],
)
def test_a_verdict_that_is_none_is_said_to_be_what_it_is(
    serve: Any, store: Store, rule: Rule, why: str
) -> None:
    server = serve(rule.model_copy(update={"when": "You check answers"}), Rule(reply=NOTED))
    reply = answer_of(server, store, "verify")
    assert (reply.status, reply.choice) == (Status.PARSED, "B")
    assert (decision(reply)["outcome"], decision(reply)["why"]) == ("kept", why)


def test_verify_without_videos_has_checked_nothing(serve: Any, store: Store) -> None:
    reply, server = checked(serve, store, verdict("A", "strong"), frames=None)
    assert reply.status is Status.ERROR
    assert "the videos are not at hand" in reply.reason
    assert not any(s.images for s in server.requests)


# -------------------------------------------------------------------------------------- compare


def test_compare_runs_side_by_side_and_shares_the_caption_answer(serve: Any, store: Store) -> None:
    server = serve(Rule(when="You check answers", reply=verdict("A", "strong")), Rule(reply=NOTED))
    rows = asyncio.run(
        compare(
            QUESTION, store.view(), ["clean", "caption", "verify", "video"],
            models=models_of(server), frames=pictures, settings={"video": {"frames": 4}},
        )
    )  # fmt: skip
    assert [r.strategy for r in rows] == ["clean", "caption", "verify", "video"]
    assert [r.answer.choice for r in rows] == ["B", "B", "A", "B"]
    reading_all = [s for s in server.requests if all(c in s.text for c in CAPTIONS)]
    assert len(reading_all) == 1, "verify starts from the very answer of caption"
    cells = rows[1].cells({"walk": "walk.mp4"})
    assert cells[:3] == ("caption", "B. in the drawer", "walk.mp4 1:00-1:30")


def test_compare_goes_on_where_one_cannot_run(serve: Any, store: Store) -> None:
    server = serve(Rule(reply=NOTED))
    rows = asyncio.run(
        compare(QUESTION, store.view(), ["caption", "video"], models=models_of(server))
    )
    assert [r.failed for r in rows] == [False, True]
    assert "not at hand" in rows[1].cells({})[1]


@pytest.mark.parametrize(
    ("budget", "why"),
    [
        (Budget(requests=0), "requests"),
        (Budget(tokens=10), "tokens"),
        (Budget(cost=0.0), "spent"),
    ],
)
def test_a_budget_is_kept(serve: Any, store: Store, budget: Budget, why: str) -> None:
    server = serve(Rule(reply=NOTED))
    reply = answer_of(server, store, "caption", budget=budget)
    assert reply.status is Status.ERROR
    assert why in reply.reason
    assert not server.requests
