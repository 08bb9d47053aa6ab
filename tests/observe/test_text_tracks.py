from __future__ import annotations

from egomem.observe.text_tracks import OcrResult, TextLine, similarity, track_lines
from egomem.timeline import Span


def line(text: str, score: float = 0.9, x: float = 0.1, y: float = 0.1) -> TextLine:
    return TextLine(text, score, (x, y, x + 0.2, y + 0.05))


def reads(*looks: list[TextLine]) -> list[OcrResult]:
    return [OcrResult(Span(k, k + 1), float(k), lines) for k, lines in enumerate(looks)]


def test_one_line_over_three_looks_is_one_with_the_best_reading_by_vote() -> None:
    (track,) = track_lines(
        reads(
            [line("Gate 4 North", 0.8)], [line("Gate 4 Nortn", 0.95)], [line("Gate 4 North", 0.7)]
        )
    )
    assert track.span == Span(0, 3)
    assert track.best.text == "Gate 4 North"
    assert track.best.score == 0.8
    assert track.times == [0, 1, 2]


def test_a_ticking_clock_is_not_one_line() -> None:
    tracks = track_lines(reads([line("00:00:03:05")], [line("00:00:04:05")], [line("00:00:05:05")]))
    assert [(f.best.text, f.span.start) for f in tracks] == [
        ("00:00:03:05", 0),
        ("00:00:04:05", 1),
        ("00:00:05:05", 2),
    ]


def test_equal_lines_in_two_places_stay_two() -> None:
    tracks = track_lines(
        reads([line("EXIT"), line("EXIT", x=0.7)], [line("EXIT", x=0.72), line("EXIT", x=0.12)])
    )
    assert len(tracks) == 2
    for standing in tracks:
        left_edges = [reading.box[0] for reading in standing.readings]
        assert max(left_edges) - min(left_edges) < 0.05


def test_a_look_that_misses_a_line_does_not_end_it_but_two_do() -> None:
    once = track_lines(reads([line("Bakery")], [], [line("Bakery")]))
    assert [f.span for f in once] == [Span(0, 3)]
    twice = track_lines(reads([line("Bakery")], [], [], [line("Bakery")]))
    assert [f.span for f in twice] == [Span(0, 1), Span(3, 4)]


def test_likeness_needs_text_digits_and_place() -> None:
    assert similarity(line("Open daily"), line("Open  DAILY")) == 1
    assert similarity(line("Open daily"), line("Closed now")) == 0
    assert similarity(line("Bus 42 City"), line("Bus 43 City")) == 0
    assert similarity(line("Open daily"), line("Open daily", x=0.6)) == 0
