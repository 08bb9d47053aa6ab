"""A question and a view in, the moments that speak to it out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from egomem.config import DEFAULT_K
from egomem.memory import View
from egomem.recall import signals
from egomem.recall.candidates import Candidates, candidates
from egomem.recall.corpus import Scores
from egomem.recall.profile import Profile, profile_of
from egomem.recall.query import QueryPlan, places, plan
from egomem.recall.seeds import beside, choose, varied
from egomem.recall.speech import without_names
from egomem.recall.temporal_order import beside_event, ordered
from egomem.recall.terms import asked, telling
from egomem.recall.vectors import contrast, similarities
from egomem.records import Observation
from egomem.text import plural
from egomem.timeline import DEFAULT_WINDOW, RecordingTime, Span

if TYPE_CHECKING:
    from egomem.models.embedders import Embedder
    from egomem.timeline import TimeMention

_SURROUNDINGS = frozenset({"fullness", "time", "speaker"})
"""Signals that speak for a window whatever was asked."""
_RANKED = 1_000
"""The most windows that are put in order of time or thinned out, or 20 for each hit asked for."""
_NO_END = 1e9
"""Seconds: later than any recording ends."""


@dataclass(frozen=True)
class Hit:
    """A moment found: where, when, what was observed there (best first), and why it was found.

    `span` is in seconds of `recording`, or POSIX seconds where `recording` is None (a digest).
    `when` is the wall clock of the span's start, where known. `score` is the weighted sum of the
    min-max values of `parts`, which holds the signals' own scores by name. `seed` is False for a
    neighbour that was added.
    """

    recording: str | None
    span: Span
    when: datetime | None
    observations: tuple[Observation, ...]
    score: float
    parts: dict[str, float] = field(default_factory=dict)
    seed: bool = True

    @property
    def text(self) -> str:
        """What was observed, in time order, a line each."""
        return "\n".join(o.text for o in sorted(self.observations, key=lambda o: o.span))


@dataclass(frozen=True)
class SearchResult:
    """Hits, how the question's time language was read, and what the asker should know of it."""

    hits: list[Hit]
    plan: QueryPlan
    notes: tuple[str, ...] = ()


def search(
    view: View,
    query: str,
    *,
    options: Sequence[str] = (),
    k: int = DEFAULT_K,
    window: float = DEFAULT_WINDOW,
    profile: str | Profile = "default",
    embedder: Embedder | None = None,
    now: datetime | None = None,
) -> list[Hit]:
    """The `k` windows of `window` seconds that speak most for a question and its options.

    What is found follows from the view's content alone: a view until `t` finds what a memory cut at
    `t` finds, with the same scores. An empty view finds nothing, and so does a question that
    nothing speaks for. `now` is when the question is asked; it is the view's end where that is an
    instant. Raises ConfigError for an unknown profile.
    """
    return find(
        view,
        query,
        options=options,
        k=k,
        window=window,
        profile=profile,
        embedder=embedder,
        now=now,
    ).hits


def find(
    view: View,
    query: str,
    *,
    options: Sequence[str] = (),
    k: int = DEFAULT_K,
    window: float = DEFAULT_WINDOW,
    profile: str | Profile = "default",
    embedder: Embedder | None = None,
    now: datetime | None = None,
) -> SearchResult:
    """As `search`, with the plan that was followed, and notes on times that were not resolved."""
    recipe = profile_of(profile, embedder=embedder is not None)
    read = QueryPlan(query)
    if recipe.time_language:
        read = plan(query, now=now or _now(view), zone=_zone(view))
    bounded, notes = _bounded(view, read.bounds, window)
    notes = read.notes + notes
    looked_for = [" ".join((query, *options)) if recipe.options else query]
    if read.anchor is not None:
        looked_for.append(read.anchor.event)
    around = recipe.neighbours > 0 or read.anchor is not None
    pool = candidates(bounded, looked_for, window, embedder, least=k, beside=around)
    if not pool.corpus.windows or k < 1:
        return SearchResult([], read, notes)
    total, parts, of_observations = _scores(pool, read, query, options, recipe, embedder)
    corpus = pool.corpus
    windows = corpus.windows
    ranked = np.lexsort((np.arange(len(windows)), corpus.window_starts, -total))
    if not recipe.unmatched:
        ranked = ranked[_matching(parts)[ranked]]
    order = ranked[: max(_RANKED, 20 * k)].tolist()
    if read.order:
        order = ordered(order, total, lambda i: pool.instant(windows[i]), read.order)
    row: Iterable[int] = order
    if recipe.same and not read.order:
        row = varied(order, total, corpus, same=recipe.same)
    most = min(k, recipe.seeds or k)
    seeds = choose(row, windows, most=most, apart=recipe.apart)
    shown = dict.fromkeys(seeds, True)
    for seed in seeds:
        for neighbour in beside(seed, windows, recipe.neighbours):
            if len(shown) < k:
                shown.setdefault(neighbour, False)

    def hit(i: int, seed: bool) -> Hit:
        w = windows[i]
        held = sorted(w.observations, key=lambda o: -of_observations[corpus.place[o.id]])
        return Hit(
            recording=w.recording,
            span=w.span,
            when=pool.when(w),
            observations=tuple(held),
            score=float(total[i]),
            parts={name: float(scores[i]) for name, scores in parts.items()},
            seed=seed,
        )

    return SearchResult([hit(i, seed) for i, seed in shown.items()], read, notes)


def _scores(
    pool: Candidates,
    read: QueryPlan,
    query: str,
    options: Sequence[str],
    recipe: Profile,
    embedder: Embedder | None,
) -> tuple[Scores, dict[str, Scores], Scores]:
    """The windows' total, each signal's own scores, and how well each observation matches."""
    corpus, weights = pool.corpus, recipe.weights
    only_order = read.anchor is not None and not telling(read.rest)
    text, named = without_names(read.text, corpus.speakers)
    question = asked(text, options, share=recipe.options, related=recipe.forms)
    bm25 = partial(signals.bm25, corpus=corpus, like=recipe.like, statistics=pool.statistics)
    of_each = partial(bm25, k1=recipe.best_k1, b=recipe.best_b, by="observation")
    best = of_each(question)
    near = np.zeros(len(corpus.observations))
    parts: dict[str, Scores] = {}
    for name in weights if not only_order else ("order",):
        match name:
            case "bm25":
                parts[name] = bm25(question, k1=recipe.k1, b=recipe.b)
            case "best":
                parts[name] = corpus.best(best)
            case "pairs":
                parts[name] = signals.pairs(question, corpus, pool.statistics)
            case "nearest" | "mean" if embedder is not None:
                if not near.any():
                    near, norms = similarities(corpus, pool.view, embedder, text)
                if name == "nearest":
                    softness = recipe.softness * contrast(embedder)
                    parts[name] = signals.nearest(near, corpus, softness=softness)
                else:
                    parts[name] = corpus.means(near) / norms
            case "speaker":
                parts[name] = corpus.best(signals.speaker(named, corpus))
            case "reply":
                parts[name] = corpus.best(signals.reply(best, corpus))
            case "order" if read.anchor is not None:
                event = asked(without_names(read.anchor.event, corpus.speakers)[0])
                told = beside_event(read.anchor.relation, of_each(event), corpus, *pool.timelines())
                parts[name] = corpus.best(told)
            case "fullness":
                parts[name] = signals.fullness(corpus)
            case "hash":
                text_of_all = "\n".join((query, *options))
                parts[name] = signals.hash_cosine(
                    text_of_all, corpus.windows, dimensions=recipe.hash_dimensions
                )
            case "overlap":
                parts[name] = signals.overlap(question, corpus)
            case "time" if hints := _hints(read, query, recipe, pool):
                parts[name] = signals.time_hints(corpus.windows, pool.durations, hints)
    total = np.zeros(len(corpus.windows))
    for name, scores in parts.items():
        spread = recipe.spreads.get(name)
        least = spread * contrast(embedder) if embedder and spread else 0.0
        total += weights.get(name, 1.0) * signals.minmax(scores, least)
    return total, parts, signals.minmax(best) + signals.minmax(near)


def _hints(
    read: QueryPlan, query: str, recipe: Profile, pool: Candidates
) -> dict[str, tuple[float, ...]]:
    """Places of each recording that the question hints at."""
    if recipe.time_language:
        return dict.fromkeys(pool.recordings, read.hints) if read.hints else {}
    return {id: found for id, d in pool.durations.items() if (found := places(query, d))}


def _matching(parts: Mapping[str, Scores]) -> NDArray[np.bool_]:
    """Which windows a signal speaks for that is about what was asked."""
    about = [scores for name, scores in parts.items() if name not in _SURROUNDINGS]
    return np.asarray(np.max(about, axis=0) > 0)


def _now(view: View) -> datetime | None:
    """The instant that a view looks back from, where it is known."""
    if isinstance(view.until, RecordingTime):
        own = [r for r in view.recordings() if r.id == view.until.recording]
        return own[0].instant(view.until.seconds) if own else None
    return view.until


def _zone(view: View) -> tzinfo | None:
    """Where the wearer was last, as far as a clock tells: local times are read there."""
    starts = [r.clock.start for r in view.recordings() if r.clock]
    return max(starts).tzinfo if starts else None


def _bounded(
    view: View, bounds: Sequence[TimeMention], window: float
) -> tuple[View, tuple[str, ...]]:
    """The part of a view that the question's times name."""
    notes = []
    for t in bounds:
        if t.instants is not None:
            unknown = sum(r.clock is None for r in view.recordings())
            if unknown:
                lost = plural(unknown, "recording")
                notes.append(f"“{t.text}”: what has no clock was left out ({lost})")
            # A point is looked for within a window on each side.
            wide = timedelta(seconds=0.0 if t.instants.seconds else window)
            view = view.narrow(between=(t.instants.start - wide, t.instants.end + wide))
        elif t.span is not None:
            if len(view.recordings()) != 1:
                notes.append(f"“{t.text}” was not used: it is a time of one recording")
                continue
            view = view.narrow(span=_around(t, window))
        if t.note:
            notes.append(f"“{t.text}”: {t.note}")
    return view, tuple(notes)


def _around(t: TimeMention, window: float) -> Span:
    assert t.span is not None
    if t.relation == "after":
        return Span(t.span.start, _NO_END)
    if t.is_point and t.relation == "at":
        return Span(max(0.0, t.span.start - window), t.span.end + window)
    return t.span
