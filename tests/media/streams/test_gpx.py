"""GPX: tracks of any writer, damage, and files that attack their reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egomem.errors import MediaError
from egomem.media.streams import ProblemLog, open_stream

HEAD = '<?xml version="1.0"?><gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">'
POINTS = [
    (f"2026-05-04T07:30:{second:02d}Z", 48.1 + second / 1e4, 11.5) for second in range(0, 30, 3)
]


def gpx(path: Path, points: list[tuple[str, float, float]] = POINTS, tail: str = "</gpx>") -> Path:
    trk = "".join(
        f'<trkpt lat="{lat}" lon="{lon}"><ele>520.5</ele><time>{when}</time>'
        "<extensions><gpxtpx:speed>1.25</gpxtpx:speed></extensions></trkpt>"
        for when, lat, lon in points
    )
    path.write_text(f"{HEAD}<trk><name>a &amp; b</name><trkseg>{trk}</trkseg></trk>{tail}")
    return path


def test_a_track(tmp_path: Path) -> None:
    stream = open_stream(gpx(tmp_path / "walk.gpx"))
    assert (stream.kind, stream.clock, stream.format) == ("gps", "wall", "GPX")
    samples = stream.load()
    assert len(samples) == 10
    assert samples.times[0] == 1777879800
    assert samples["latitude"][-1] == pytest.approx(48.1027)
    assert set(samples["speed"]) == {1.25}
    assert set(samples["altitude"]) == {520.5}


def test_times_without_a_zone(tmp_path: Path) -> None:
    points = [(when.rstrip("Z"), lat, lon) for when, lat, lon in POINTS]
    assert open_stream(gpx(tmp_path / "a.gpx", points)).clock == "local"


def test_a_file_that_was_cut_off_is_read_up_to_there(tmp_path: Path) -> None:
    path = gpx(tmp_path / "a.gpx")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    problems = ProblemLog()
    samples = open_stream(path).load(problems=problems)
    assert 4 < len(samples) < 10
    assert "no XML from here on" in str(problems.problems[0])


def test_points_without_a_time_or_a_place(tmp_path: Path) -> None:
    path = tmp_path / "a.gpx"
    path.write_text(
        f'{HEAD}<trk><trkseg><trkpt lat="1" lon="2"/><trkpt lat="91" lon="2"><time>'
        "2026-05-04T07:30:00Z</time></trkpt></trkseg></trk></gpx>"
    )
    problems = ProblemLog()
    samples = open_stream(path).load(problems=problems)
    assert np.isnan(samples["latitude"]).tolist() == [True]
    assert [p.what for p in problems.problems] == ["no time"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<kml></kml>", "no GPX file but kml"),
        (f"{HEAD}</gpx>", "no track point"),
        ("not xml at all", "no track point"),
        ("", "no track point"),
    ],
)
def test_what_is_no_track_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.gpx"
    path.write_text(text)
    with pytest.raises(MediaError, match=message):
        open_stream(path)


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">',
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
    ],
)
def test_entities_are_refused(tmp_path: Path, declaration: str) -> None:
    path = tmp_path / "a.gpx"
    body = HEAD.replace("<gpx", f"<!DOCTYPE gpx [{declaration}]><gpx")
    path.write_text(f'{body}<trk><trkseg><trkpt lat="1" lon="1"/></trkseg></trk></gpx>')
    with pytest.raises(MediaError, match="declares XML entities"):
        open_stream(path)


@settings(max_examples=40, deadline=None)
@given(cut=st.integers(0, 900), noise=st.binary(max_size=6), at=st.integers(0, 900))
def test_damage_ends_the_track_and_raises_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, cut: int, noise: bytes, at: int
) -> None:
    path = gpx(tmp_path_factory.mktemp("fuzz") / "a.gpx")
    data = path.read_bytes()
    data = data[:at] + noise + data[at : len(data) - cut]
    path.write_bytes(data)
    fault = ""
    try:
        samples = open_stream(path).load()
    except MediaError as error:
        fault = str(error)
    if fault:
        assert "\n" not in fault
        return
    assert (np.diff(samples.times) > 0).all()
