from __future__ import annotations

import math
import random
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egomem.errors import ConfigError
from egomem.memory import Store
from egomem.recall import DEFAULT, HYBRID, Profile, add_vectors, candidates, search
from egomem.recall.vectors import contrast
from egomem.timeline import RecordingTime, Span

from .conftest import START, Hashing, observation, recording


def test_an_empty_view_finds_nothing(store):
    for profile in ("default", "capmem", "hybrid"):
        assert search(store.view(), "anything", profile=profile, embedder=Hashing()) == []


def test_nothing_speaks_for_a_question_that_nothing_matches(film):
    view = film("a red mug", "a blue wall").view()
    assert search(view, "xylophone") == []
    assert search(view, "") == []
    kept = search(view, "xylophone", profile=replace(DEFAULT, unmatched=True))
    assert len(kept) == 2


def test_a_hit_says_where_when_what_and_why(film):
    (hit,) = search(film("", "walks", "a red mug", hours=0).view(), "the red mug")
    assert (hit.recording, hit.span) == ("r", Span(60, 90))
    assert hit.when == START + timedelta(seconds=60)
    assert hit.text == "a red mug"
    assert hit.parts["bm25"] > 0
    assert hit.score > 0


def test_observations_come_best_first_and_text_in_time_order(film):
    store = film("a wall")
    store.add([observation("r", 10, 12, "a red mug"), observation("r", 20, 22, "a door")])
    (hit,) = search(store.view(), "the red mug")
    assert hit.observations[0].text == "a red mug"
    assert hit.text == "a wall\na red mug\na door"


def test_k_is_the_most_hits(film):
    view = film(*["a mug"] * 12).view()
    assert len(search(view, "mug", k=5)) == 5
    assert search(view, "mug", k=0) == []


def test_every_window_of_a_long_caption_can_be_found(store):
    store.put_recording(recording("r", 330))
    store.add(
        [
            observation("r", 0, 300, "kneads the dough"),
            observation("r", 300, 330, "the dough rests"),
        ]
    )
    hits = search(store.view(), "kneading dough", k=20)
    assert hits[0].span.start == 0
    assert {h.span.start for h in hits} == set(range(0, 330, 30)), "evidence may lie in any window"


def test_two_tracks_that_say_the_same_are_one_hit(film):
    store = film("opens the red door")
    store.add(
        [
            observation("r", 0, 15, "Opens the red door.", track="caption/other"),
            observation("r", 0, 30, "opens the red door", source="speech", track="speech/t"),
        ]
    )
    (hit,) = search(store.view(), "red door")
    assert len(hit.observations) == 1


def test_a_neighbour_that_says_the_same_gives_way_to_another_moment(film):
    view = film("drinks red tea", "drinks red tea again", "walks", "walks", "a tea shop").view()
    starts = [h.span.start for h in search(view, "red tea")]
    plain = [h.span.start for h in search(view, "red tea", profile=replace(DEFAULT, same=0.0))]
    assert set(starts) == set(plain) == {0, 30, 120}
    strong = replace(DEFAULT, same=1.0)
    assert [h.span.start for h in search(view, "red tea", profile=strong)][1] == 120


def test_digests_are_found_beside_moments_where_they_are_asked_for(film):
    store = film("boils rice", hours=0)
    at = START.timestamp()
    store.add([observation(None, at, at + 3600, "cooked rice all morning", source="digest")])
    before = search(store.view().narrow(sources=["caption"]), "rice")
    assert search(store.view(), "rice") == before
    hits = search(store.view(), "rice", digests=True)
    assert {h.recording for h in hits} == {"r", None}
    (digest,) = [h for h in hits if h.recording is None]
    assert digest.when == START


def test_an_unknown_profile_or_signal_is_a_fault_of_the_user(store):
    with pytest.raises(ConfigError, match="default, hybrid, capmem"):
        search(store.view(), "x", profile="best")
    with pytest.raises(ConfigError, match="bm26"):
        Profile("mine", {"bm26": 1.0})


def test_options_join_the_query(film):
    view = film("a wall", "a green hat", "a tree").view()
    assert search(view, "Which one did I wear?") == []
    assert search(view, "Which one did I wear?", options=["green hat", "coat"])[0].span.start == 30


# ------------------------------------------------------------------------------- with an embedder


def test_vectors_find_what_words_do_not(film):
    class Twins(Hashing):
        def embed(self, texts, *, query=False):
            return super().embed([t.replace("cellist", "musician") for t in texts])

    view = film("a tree", "a cellist", "a wall").view()
    assert search(view, "musician", profile="default") == []
    hits = search(view, "musician", embedder=Twins())
    assert hits[0].span.start == 30
    assert hits[0].parts["nearest"] == pytest.approx(max(h.parts["nearest"] for h in hits))


def test_vectors_that_the_store_has_are_not_made_again(film):
    store = film("a tree", "a cellist", "a wall")
    model = Hashing()
    assert add_vectors(store, model) == 3
    assert add_vectors(store, model) == 0
    contrast(model)  # measured once
    model.embedded.clear()
    search(store.view(), "cellist", embedder=model)
    assert set(model.embedded) == {"cellist"}
    store.add([observation("r", 0, 5, "a new thing")])
    model.embedded.clear()
    assert search(store.view(), "new thing", embedder=model)[0].span.start == 0
    assert sorted(set(model.embedded)) == ["a new thing", "new thing"]


class Squeezed:
    """An embedder whose cosines all lie high and close together: `c + (1 - c) cosine`."""

    def __init__(self, model: Hashing, c: float) -> None:
        self.model, self.c = model, c
        self.name, self.dimensions = f"{model.name} squeezed", model.dimensions + 1

    def embed(self, texts, *, query=False):
        rows = self.model.embed(texts, query=query)
        more = np.full((len(rows), 1), math.sqrt(self.c), dtype=np.float32)
        return np.hstack([rows * np.float32(math.sqrt(1 - self.c)), more])


def test_an_embedder_whose_cosines_lie_close_together_is_heard_as_well(film):
    texts = ["a tree by the road", "a red mug on a tray", "mug and tray", "a wall", "the tray"]
    store = film(*texts)
    store.add([observation("r", 65, 70, "the mug"), observation("r", 65, 70, "a mug on a tray")])
    view = store.view()
    plain = Hashing()
    tight = Squeezed(plain, 0.75)
    assert contrast(tight) == pytest.approx(contrast(plain) / 4, rel=1e-3)
    recipe = Profile("nearest alone", {"nearest": 1.0}, unmatched=True)
    wide, close = (
        {h.span.start: h.score for h in search(view, "mug", profile=recipe, embedder=model)}
        for model in (plain, tight)
    )
    assert wide == pytest.approx(close, abs=1e-3)
    assert len(wide) == 5


def test_a_profile_without_vectors_asks_an_embedder_for_none(film):
    model = Hashing()
    view = film("a tree", "a red mug", "a wall").view()
    assert search(view, "red mug", profile="capmem", embedder=model)[0].span.start == 30
    assert model.embedded == []


def test_the_mean_is_the_cosine_with_the_windows_mean_vector(store):
    store.put_recording(recording("r", 60))
    store.add(
        [observation("r", 0, 9, "red mug"), observation("r", 9, 18, "blue wall"),
         observation("r", 30, 40, "a tree")]
    )  # fmt: skip
    model = Hashing()
    hits = search(store.view(), "red mug", embedder=model, profile=replace(HYBRID, unmatched=True))
    first = next(h for h in hits if h.span.start == 0)
    mean = model.embed(["red mug", "blue wall"]).mean(axis=0)
    query = model.embed(["red mug"])[0]
    assert first.parts["mean"] == pytest.approx(mean @ query / (mean @ mean) ** 0.5, abs=1e-5)


# ------------------------------------------------------------------------------- the exact past

WORDS = ["mug", "red", "door", "opens", "washes", "cup", "key", "table", "walks"]


def fill(store: Store, seed: int, upto: float | None) -> None:
    """Two recordings of made-up captions, or what of them ended by `upto` s of recording "a"."""
    draw = random.Random(seed)
    for id, hours in (("a", 0.0), ("b", -2.0)):
        observations = []
        for i in range(40):
            start = draw.uniform(0, 570)
            text = " ".join(draw.choices(WORDS, k=draw.randint(2, 5)))
            observations.append(
                observation(id, start, start + draw.uniform(0, 25), f"{text} {i % 7}")
            )
        duration = 600.0 if upto is None or id == "b" else upto
        store.put_recording(recording(id, duration, hours))
        store.add(o for o in observations if id == "b" or upto is None or o.span.end <= upto)


@pytest.mark.parametrize("small", [20_000, 0], ids=["scored whole", "by candidates"])
@pytest.mark.parametrize("question", ["Where is the red mug?", "What did I do after the key?",
                                      "Where did I last see the cup?"])  # fmt: skip
@pytest.mark.parametrize("upto", [95.0, 240.0])
def test_the_past_is_exactly_the_past(tmp_path, monkeypatch, small, question, upto):
    monkeypatch.setattr(candidates, "SMALL", small)
    with (
        Store.open(tmp_path / "full", create=True) as full,
        Store.open(tmp_path / "cut", create=True) as cut,
    ):
        fill(full, 1, None)
        fill(cut, 1, upto)
        for embedder in (None, Hashing()):
            for profile in ("default", "capmem"):
                ask = {"profile": profile, "embedder": embedder}
                now = START + timedelta(seconds=upto)
                hits = search(full.view(RecordingTime("a", upto)), question, now=now, **ask)
                assert hits
                assert hits == search(cut.view(), question, now=now, **ask)


def test_what_is_added_later_changes_nothing_of_an_earlier_view(film):
    store = film("a red mug", "a wall")
    view = store.view()
    before = search(view, "red mug")
    store.add([observation("r", 40, 50, "the red mug again")])
    assert search(view, "red mug") == before
    assert len(search(store.view(), "red mug")) == 2


def test_views_that_see_the_same_share_their_windows(film):
    store = film("a red mug", "a wall")
    durations = {"r": 60.0}
    one, two = (candidates._whole(store.view(), 30.0, durations) for _ in range(2))
    assert one is two
    assert candidates._whole(store.view(RecordingTime("r", 30.0)), 30.0, durations) is not one
    assert candidates._whole(store.view(), 15.0, durations) is not one


def test_what_is_forgotten_is_not_found_again(film):
    store = film("a red mug", "a blue mug", "a wall")
    assert len(search(store.view(), "mug")) == 2
    store.forget(match="red mug")
    assert [h.text for h in search(store.view(), "mug")] == ["a blue mug"]


def test_a_large_view_finds_other_forms_of_a_word(film, monkeypatch):
    monkeypatch.setattr(candidates, "SMALL", 0)
    view = film("a tree", "she sits down", "a wall").view()
    assert [h.span.start for h in search(view, "Where did she sat?")] == [30]


def test_a_large_view_finds_as_a_small_one_does(film, monkeypatch):
    draw = random.Random(3)
    texts = [" ".join(draw.choices(WORDS, k=4)) for _ in range(40)]
    view = film(*texts).view()
    whole = search(view, "washes the red cup", k=5)
    monkeypatch.setattr(candidates, "SMALL", 0)
    some = search(view, "washes the red cup", k=5)
    assert some[0].span == whole[0].span
    assert len({h.span for h in some} & {h.span for h in whole}) >= 3


def test_later_better_moments_do_not_starve_the_past(film):
    """Faults F4: a filter after the best k would leave nothing."""
    view = film(*["a mug"] * 50, *["mug mug mug mug"] * 150).view(RecordingTime("r", 1500.0))
    hits = search(view, "mug", k=10)
    assert len(hits) == 10
    assert all(h.span.end <= 1500 for h in hits)


ODD = ["B-17", "km/h", "wife's", "10:30", "AND", "*", '"open']


@settings(max_examples=25)
@given(query=st.one_of(st.text(max_size=40), st.sampled_from(ODD)))
def test_any_text_is_a_question(tmp_path_factory, query):
    folder = tmp_path_factory.mktemp("any")
    with Store.open(folder / "memory", create=True) as store:
        store.put_recording(recording("r", 30))
        store.add([observation("r", 0, 9, "the B-17 at 10:30 at 80 km/h, my wife's * AND")])
        assert len(search(store.view(), query)) <= 1


@pytest.mark.parametrize("query", ["B-17", "km/h", "when was the B-17 there"])
def test_codes_are_found(film, query):
    view = film("the b 16 there", "the B-17 does 80 km/h", "seventeen").view()
    assert search(view, query)[0].span.start == 30


def test_a_word_of_asking_does_not_outweigh_what_is_asked_for(film):
    """ "Seen" is rare in a memory of what was done, and says nothing of the keys."""
    lines = ["a ladder is seen in the barn", *["lays the keys on a shelf"] * 4, *["walks"] * 6]
    view = film(*lines).view()
    assert "keys" in search(view, "Where did I see the keys?")[0].text
    # Where nothing else is asked for, it is all there is to go by.
    assert "ladder" in search(view, "What was seen?")[0].text


def test_a_long_window_does_not_win_by_its_length(store):
    store.put_recording(recording("r", 300))
    chat = ["we talk of a game", "she laughs", "he waves", "they sit", "it rains", "a dog barks"]
    for k in range(10):
        store.add(
            [observation("r", 30 * k + n, 30 * k + n + 1, text) for n, text in enumerate(chat)]
        )
    long = ["a kettle"] + [f"someone moves chair number {n}" for n in range(24)]
    store.add([observation("r", 35 + n, 36 + n, text) for n, text in enumerate(long)])
    store.add([observation("r", 130, 131, "fills a kettle")])
    assert search(store.view(), "kettle")[0].span.start == 120
