"""Telemetry is told from speech by its form, and read for position and settings."""

from __future__ import annotations

from datetime import datetime

import pytest

from egomem.media import Cue, positions, read_subtitles, split_telemetry
from egomem.media.telemetry import is_telemetry, read_telemetry
from egomem.timeline import Span

DJI = (
    "FrameCnt: 7, DiffTime: 33ms\n2025-06-01 09:15:20.250\n[iso: 200] [shutter: 1/640.0] "
    "[fnum: 2.8] [ev: 0.3] [color_md : default] [latitude: 47.40121] [longitude: 9.63217] "
    "[rel_alt: 21.500 abs_alt: 433.1]"
)
PLACES = [
    (DJI, (47.40121, 9.63217)),
    ("[latitude : -33.86] [longtitude : 151.21] [altitude: 8]", (-33.86, 151.21)),
    ("HOME(151.20,-33.80) 2017.08.05 14:11:51\nGPS(151.2101,-33.8602,16) BAROMETER:1.9\n"
     "ISO:100 Shutter:60 EV: Fnum:2.2", (-33.8602, 151.2101)),
    ("F/2.8, SS 206.14, ISO 150, EV 0, GPS (-122.3699, 37.8166, 15), D 224.33m, H 65.80m, "
     "H.S 10.11m/s, V.S 0.10m/s", (37.8166, -122.3699)),
    ("HOME(W: 3.70, N: 40.41) 2021-05-01 10:00:00\nGPS(W: 3.71, N: 40.42, 20.1m)\n"
     "ISO:100 SHUTTER:500 EV:0.0 F-NUM:1.8", (40.42, -3.71)),
    ("S:12.046374 W:77.042793 45 KM/H", (-12.046374, -77.042793)),
    ("2026/05/09 07:31:00 N45.4642 E9.1900 52 km/h CAM-X2", (45.4642, 9.19)),
    ("45°27'51.1\"N 9°11'24.0\"E", (45.46419, 9.19)),
    ("45.464211, 9.191383", (45.464211, 9.191383)),
    ("$GPRMC,073100.00,A,4527.8527,N,00911.4830,E,24.3,90.1,090526,,,A*5C", (45.46421, 9.19138)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place"), PLACES)
def test_forms_of_several_makers(text: str, place: tuple[float, float]) -> None:
    assert is_telemetry(text)
    reading = read_telemetry(Cue(Span(0, 1), text))
    assert (reading.latitude, reading.longitude) == pytest.approx(place, abs=1e-5)


@pytest.mark.parametrize(
    "text",
    [
        "I set ISO 100 and the shutter to 1/500 for the trip", "1984", "We drove at 45 km/h.",
        "It is 10:30:00 now", "Gate 12, seat 24 F, row 3", "Lena: hello", "[door closes]",
        "H 20, right?", "Room 4: 20 m", "speed 30", "40 ms", "",
    ],
)  # fmt: skip
def test_speech_with_figures_is_speech(text: str) -> None:
    assert not is_telemetry(text)


def test_a_long_text_is_no_telemetry() -> None:
    assert is_telemetry("[iso: 100] " * 20)
    assert not is_telemetry("[iso: 100] " * 200)


def test_settings_height_and_clock() -> None:
    reading = read_telemetry(Cue(Span(3, 4), DJI))
    assert (reading.height, reading.altitude) == (21.5, 433.1)
    assert reading.settings["iso"] == "200"
    assert reading.settings["shutter"] == "1/640.0"
    assert reading.clock == datetime(2025, 6, 1, 9, 15, 20, 250_000)


def test_no_fix_an_impossible_place_and_a_day_with_two_readings_are_none() -> None:
    def reading(text: str) -> tuple[float | None, datetime | None]:
        read = read_telemetry(Cue(Span(0, 1), text))
        return read.latitude, read.clock

    assert reading("[latitude: 0.0] [longitude: 0.0]") == (None, None)
    assert reading("[latitude: 95.0] [longitude: 10.0]") == (None, None)
    assert reading("03.04.2026 08:10:00") == (None, None)
    assert reading("23.04.2026 08:10:00 PM") == (None, datetime(2026, 4, 23, 20, 10))


def test_many_readings_of_one_place_are_one_and_a_flight_is_one_a_second() -> None:
    def cue(k: int, latitude: float) -> Cue:
        text = f"[iso: 100] [latitude: {latitude:.6f}] [longitude: 9.5]"
        return Cue(Span(k / 10, (k + 1) / 10), text)

    still = [cue(k, 47.1) for k in range(45)]
    speech, readings = split_telemetry([Cue(Span(0, 1), "Look there"), *still])
    assert [c.text for c in speech] == ["Look there"]
    assert [p.span for p in positions(readings)] == [Span(0, 4.5)]
    flight = split_telemetry([cue(k, 47.1 + k / 1000) for k in range(45)])[1]
    assert [p.span.start for p in positions(flight)] == [0, 1, 2, 3, 4]


def test_fields_of_telemetry_are_no_names_of_speakers() -> None:
    srt = "".join(
        f"{k}\n00:00:0{k},000 --> 00:00:0{k},900\nISO: 100 Lat: 47.12{k}1 Lon: 9.5001\n\n"
        for k in range(3)
    )
    assert {cue.speaker for cue in read_subtitles(srt)[0]} == {None}
