"""A question and a view in, the moments that speak to it out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from egomem.defaults import DEFAULT_K, DEFAULT_WINDOW
from egomem.memory import View
from egomem.recall import signals
from egomem.recall.candidates import Candidates, candidates
from egomem.recall.corpus import Corpus, Scores
from egomem.recall.digests import digest_support, searched_view
from egomem.recall.fallback import view_fallbacks
from egomem.recall.local_times import narrowed
from egomem.recall.profile import Profile, profile_of
from egomem.recall.query import PART_PLACES, Query
from egomem.recall.reading import read_for
from egomem.recall.seeds import beside, choose, varied
from egomem.recall.speech import without
from egomem.recall.temporal_order import beside_event, ordered
from egomem.recall.terms import telling, term_query
from egomem.recall.vectors import contrast, similarities
from egomem.records import Observation
from egomem.text import plural
from egomem.timeline import Span

if TYPE_CHECKING:
    from egomem.models.embedders import Embedder
    from egomem.timeline import TimeMention

_SURROUNDINGS = frozenset({"fullness", "time", "speaker"})
"""Signals that speak for a window whatever was asked."""
MAX_RANKED = 1_000
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
    """Hits, how the question was read, and what the asker should know of it."""

    hits: list[Hit]
    query: Query
    notes: tuple[str, ...] = ()


def search(
    view: View,
    query: str | Query,
    *,
    options: Sequence[str] = (),
    k: int = DEFAULT_K,
    window: float = DEFAULT_WINDOW,
    profile: str | Profile = "default",
    embedder: Embedder | None = None,
    now: datetime | None = None,
    digests: bool = False,
) -> list[Hit]:
    """The `k` windows of `window` seconds that speak most for a question and its options.

    Of the view's content alone: a view until `t` gives what a memory cut at `t` gives, with the
    same scores. An empty view gives no hit, and so does a question that nothing speaks for. A text
    is read by `read_for`, with `now` as the moment that it is asked at (else that of the view, if
    it has one). `digests`: what they rest on counts more
    where they match. Raises ConfigError for an unknown profile.
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
        digests=digests,
    ).hits


def find(
    view: View,
    query: str | Query,
    *,
    options: Sequence[str] = (),
    k: int = DEFAULT_K,
    window: float = DEFAULT_WINDOW,
    profile: str | Profile = "default",
    embedder: Embedder | None = None,
    now: datetime | None = None,
    digests: bool = False,
) -> SearchResult:
    """As `search`, with how the question was read, and notes on times that were not resolved."""
    recipe = profile_of(profile, embedder=embedder is not None)
    with_digests = view
    # A digest says again what its observations say, and would change how rare words are.
    view = searched_view(view) if digests else view.observed()
    if isinstance(query, str):
        query = read_for(view, query, options, now=now, at_end=False)
    read = query if recipe.time_language else _as_written(query)
    read, fell_back = _with_fallbacks(view, read)
    # Before anything is scored: what lies outside the times must not count in the word statistics
    # either.
    bounded, notes = _bounded(view, read.bounds if recipe.time_language else (), window)
    notes = fell_back + (read.unresolved if recipe.time_language else ()) + notes
    texts = [" ".join((read.text, *read.options)) if recipe.options else read.text]
    if read.anchor is not None:
        # "What did I do after washing the cup?": the answer says nothing of a cup, so windows of
        # the event have to come up, and those beside them.
        texts.append(read.anchor.event)
    around = recipe.neighbours > 0 or read.anchor is not None
    support = digest_support(with_digests, read.search_text) if digests else {}
    pool = candidates(bounded, texts, window, embedder, least=k, beside=around, also=list(support))
    if not pool.corpus.windows or k < 1:
        return SearchResult([], query, notes)
    total, parts, of_observations = _scores(pool, read, recipe, embedder, support)
    corpus = pool.corpus
    windows = corpus.windows
    # Ties go to the earlier window, as in CapMem; `lexsort` sorts by its last key first.
    ranked = np.lexsort((np.arange(len(windows)), corpus.window_starts, -total))
    if not recipe.unmatched:
        ranked = ranked[_matching(parts)[ranked]]
    # Order in time and variety compare windows one by one; what ranks below this is no hit anyhow.
    ranking = ranked[: max(MAX_RANKED, 20 * k)].tolist()
    if read.order:
        ranking = ordered(ranking, total, lambda i: pool.instant(windows[i]), read.order)
    best_first: Iterable[int] = ranking
    # "The last time" wants the last, also where it lies beside another that says the same.
    if recipe.same and not read.order:
        best_first = varied(ranking, total, corpus, same=recipe.same)
    seeds = choose(best_first, windows, most=min(k, recipe.seeds or k), apart=recipe.apart)
    chosen = dict.fromkeys(seeds, True)
    for seed in seeds:
        for neighbour in beside(seed, windows, recipe.neighbours):
            # Seeds come first: a neighbour may not take the place of a moment that was found.
            if len(chosen) < k:
                chosen.setdefault(neighbour, False)

    def hit(i: int, seed: bool) -> Hit:
        window = windows[i]
        observations = sorted(
            window.observations, key=lambda o: -of_observations[corpus.place[o.id]]
        )
        return Hit(
            recording=window.recording,
            span=window.span,
            when=pool.when(window),
            observations=tuple(observations),
            score=float(total[i]),
            parts={name: float(scores[i]) for name, scores in parts.items()},
            seed=seed,
        )

    return SearchResult([hit(i, seed) for i, seed in chosen.items()], query, notes)


def _with_fallbacks(view: View, query: Query) -> tuple[Query, tuple[str, ...]]:
    """The question with what is searched for beside its words, and notes of that."""
    replaced = view_fallbacks(view, query.search_text)
    if not replaced:
        return query, ()
    more = " ".join(word for fallback in replaced for word in fallback.instead)
    text, search_text, target_text = (
        f"{part} {more}" for part in (query.text, query.search_text, query.target_text)
    )
    longer = replace(query, text=text, search_text=search_text, target_text=target_text)
    return longer, tuple(map(str, replaced))


def _as_written(query: Query) -> Query:
    """The question for a profile that does not read its time language."""
    return replace(
        query, search_text=query.text, target_text=query.text, anchor=None, order=None, part=None
    )


def _scores(
    pool: Candidates,
    query: Query,
    recipe: Profile,
    embedder: Embedder | None,
    support: Mapping[str, float],
) -> tuple[Scores, dict[str, Scores], Scores]:
    """The windows' total, each signal's own scores, and how well each observation matches."""
    corpus, weights = pool.corpus, recipe.weights
    # "What did I do after the call?" has no word of its own: scored by its words it would find any
    # "do".
    only_order = query.anchor is not None and not telling(query.target_text)
    # Who is named is a matter of who speaks, not of the words: the other one says the name.
    text = without(query.search_text, query.name_texts)
    question = term_query(
        text, query.options, share=recipe.options, related=recipe.forms, asking=recipe.asking
    )
    bm25 = partial(signals.bm25, corpus=corpus, like=recipe.like, statistics=pool.statistics)
    of_each = partial(bm25, k1=recipe.best_k1, b=recipe.best_b, by="observation")
    best = of_each(question)
    near = np.zeros(len(corpus.observations))
    parts: dict[str, Scores] = {}
    for name in weights if not only_order else ("order",):
        match name:
            case "bm25":
                parts[name] = bm25(question, k1=recipe.k1, b=_length_share(recipe, corpus))
            case "best":
                parts[name] = corpus.best(best)
            case "pairs":
                parts[name] = signals.pairs(question, corpus, pool.statistics)
            case "nearest" | "mean" if embedder is not None:
                # Two signals share one look at the vectors, which is the dearest part of a search.
                if not near.any():
                    near, norms = similarities(corpus, pool.view, embedder, text)
                if name == "nearest":
                    softness = recipe.softness * contrast(embedder)
                    parts[name] = signals.nearest(near, corpus, softness=softness)
                else:
                    # The cosine with the mean vector, from the cosines with each: no second product
                    # of matrices.
                    parts[name] = corpus.means(near) / norms
            case "speaker":
                parts[name] = corpus.best(signals.speaker(query.speakers, corpus))
            case "reply":
                parts[name] = corpus.best(signals.reply(best, corpus))
            case "order" if query.anchor is not None:
                # Names are taken out of the event as they are of the question.
                event = term_query(without(query.anchor.event, query.name_texts))
                beside_it = beside_event(
                    query.anchor.relation, of_each(event), corpus, *pool.timelines()
                )
                parts[name] = corpus.best(beside_it)
            case "digest" if support:
                parts[name] = corpus.best(
                    np.array([support.get(o.id, 0.0) for o in corpus.observations])
                )
            case "fullness":
                parts[name] = signals.fullness(corpus)
            case "hash":
                # CapMem's query is the question with its options; the line break keeps the last
                # word of one and the first of the next from counting as a pair.
                text_of_all = "\n".join((query.text, *query.options))
                parts[name] = signals.hash_cosine(
                    text_of_all, corpus.windows, dimensions=recipe.hash_dimensions
                )
            case "overlap":
                parts[name] = signals.overlap(question, corpus)
            case "time" if hints := _hints(query, recipe, pool):
                parts[name] = signals.time_hints(corpus.windows, pool.durations, hints)
    total = np.zeros(len(corpus.windows))
    for name, scores in parts.items():
        spread = recipe.spreads.get(name)
        least = spread * contrast(embedder) if embedder and spread else 0.0
        total += weights.get(name, 1.0) * signals.minmax(scores, least)
    return total, parts, signals.minmax(best) + signals.minmax(near)


def _length_share(recipe: Profile, corpus: Corpus) -> float:
    """BM25's b for windows, less where windows hold few lines.

    A window that many lines fill matches by its length alone, so length is normalised. One of a
    single caption is long because more was observed, and that is no reason to find it less.
    """
    return recipe.b * (1 - 1 / corpus.lines_a_window) if recipe.by_lines else recipe.b


def _hints(query: Query, recipe: Profile, pool: Candidates) -> dict[str, tuple[float, ...]]:
    """Places of each recording that the question hints at."""
    if recipe.time_language:
        return dict.fromkeys(pool.recordings, (PART_PLACES[query.part],)) if query.part else {}
    places = {id: signals.hinted_places(query, d) for id, d in pool.durations.items()}
    return {id: shares for id, shares in places.items() if shares}


def _matching(parts: Mapping[str, Scores]) -> NDArray[np.bool_]:
    """Which windows a signal speaks for that is about what was asked."""
    # Else a question about nothing in the memory would find its fullest windows.
    about = [scores for name, scores in parts.items() if name not in _SURROUNDINGS]
    return np.asarray(np.max(about, axis=0) > 0)


def _bounded(
    view: View, bounds: Sequence[TimeMention], window: float
) -> tuple[View, tuple[str, ...]]:
    """The part of a view that the question's times name."""
    notes = []
    for t in bounds:
        if t.instants is not None:
            # Left out silently, the answer would seem to be over all of the memory.
            unknown = sum(r.clock is None for r in view.recordings())
            if unknown:
                lost = plural(unknown, "recording")
                notes.append(f"“{t.text}”: what has no clock was left out ({lost})")
            # A point is looked for within a window on each side.
            view = narrowed(view, t, 0.0 if t.instants.seconds else window)
        elif t.span is not None:
            # "At 3:20" of which recording? Searching 3:20 of each would find what nobody asked for.
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
