import pytest
from pydantic import ValidationError

from egomem.records import Evidence, Observation, Option, Question, Track, Usage
from egomem.timeline import Span


def observation(**fields: object) -> Observation:
    given = {"recording": "r", "span": Span(0, 30), "text": "a cup", "source": "caption"}
    return Observation.model_validate({**given, "track": "t", **fields})


def test_an_observation_made_twice_is_one() -> None:
    assert observation().id == observation().id
    assert observation(span=Span(0.0, 30.0)).id == observation(span=Span(0, 30)).id


@pytest.mark.parametrize(
    "change",
    [
        {"text": "a mug"},
        {"span": Span(0, 31)},
        {"track": "u"},
        {"recording": "s"},
        {"data": {"n": 1}},
    ],
)
def test_its_id_follows_from_the_content(change: dict[str, object]) -> None:
    original = observation()
    assert observation(**change).id != original.id
    assert original.model_copy(update=change).id == observation(**change).id


def test_a_copied_track_has_the_copys_id() -> None:
    track = Track(source="caption", observer="vlm", window=30)
    assert track.id == "caption/vlm@30s"
    assert track.model_copy(update={"window": 60.0}).id == "caption/vlm@60s"


def test_two_tracks_that_differ_have_two_ids() -> None:
    fields = [{}, {"model": "m"}, {"prompt": "p@2"}, {"window": 30.0}, {"sampling": "1fps"}]
    ids = {Track.model_validate({"source": "caption", "observer": "vlm", **f}).id for f in fields}
    assert len(ids) == len(fields)


def test_an_observation_survives_json() -> None:
    original = observation(data={"boxes": [[0.1, 0.2]], "label": "杯"})
    read = Observation.model_validate_json(original.model_dump_json())
    assert read == original
    assert read.id == original.id


def test_options_are_lettered_and_labels_are_distinct() -> None:
    question = Question.of("which?", ["red", "blue"])
    assert [(o.label, o.text) for o in question.options] == [("A", "red"), ("B", "blue")]
    with pytest.raises(ValidationError, match="share a label"):
        Question(text="x", options=(Option(label="A", text="a"), Option(label="A", text="b")))


def test_records_are_frozen_and_know_their_fields() -> None:
    with pytest.raises(ValidationError):
        observation().text = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        Evidence.model_validate({"recording": None, "span": Span(0, 1), "sapn": 1})


def test_usage_adds_up_and_an_unknown_price_stays_unknown() -> None:
    total = Usage(requests=1, tokens_in=10, cost=0.5) + Usage(requests=2, frames=3)
    assert (total.requests, total.tokens_in, total.frames, total.cost) == (3, 10, 3, 0.5)
    assert (Usage() + Usage()).cost is None
    assert (total.cost, total.unpriced, total.without_price) == (0.5, 2, 2)
    more = total + Usage(requests=3, tokens_in=1) + Usage(requests=1, cost=0.25)
    assert (more.cost, more.unpriced) == (0.75, 5)
    none = Usage(requests=1, tokens_in=8) + Usage(requests=1, tokens_in=2)
    assert (none.cost, none.unpriced, none.without_price) == (None, 0, 2)
    assert (Usage(cost=0.5, requests=1) + Usage()).without_price == 0
