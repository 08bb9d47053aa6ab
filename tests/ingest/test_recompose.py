import asyncio
from pathlib import Path

import egomem
from egomem.observe import TemplateCaptioner, Window
from egomem.records import Observation, Recording, Track
from egomem.timeline import Span

SEEN = Track(source="object", observer="detector")
READ = Track(source="screen_text", observer="reader")
COMPOSED = TemplateCaptioner(30, [SEEN, READ])


def test_a_composed_caption_is_made_anew_without_what_was_forgotten(tmp_path: Path) -> None:
    recording = Recording(id="r", name="r.mp4", duration=30)

    def part(track: Track, text: str) -> Observation:
        return Observation(
            recording="r", span=Span(0, 10), text=text, source=track.source, track=track.id
        )

    parts = (part(SEEN, "1 cat"), part(READ, "SECRET 4711"))
    with egomem.open(tmp_path / "m") as memory:
        for track in (SEEN, READ, COMPOSED.track):
            memory.store.put_track(track)
        memory.store.put_recording(recording)
        caption = asyncio.run(COMPOSED.observe(Window(recording, Span(0, 30), (), parts)))
        memory.store.add([*parts, *caption])
        assert "SECRET" in caption[0].text
        dry = memory.forget(match="secret", dry_run=True)
        assert {o.text for o in (*dry.observations, *dry.dependents)} == {
            "SECRET 4711",
            caption[0].text,
        }
        assert len(memory.until().observations()) == 3
        memory.forget(match="secret")
        remaining = {o.source: o for o in memory.until().observations()}
        assert remaining["caption"].text == "In view: 1 cat."
        assert remaining["caption"].provenance.rests_on == (parts[0].id,)
        assert set(remaining) == {"caption", "object"}
    assert not any(b"4711" in f.read_bytes() for f in tmp_path.rglob("*") if f.is_file())


def test_forgetting_a_recording_makes_nothing_anew(tmp_path: Path) -> None:
    with egomem.open(tmp_path / "m") as memory:
        memory.store.put_recording(Recording(id="r", name="r.mp4", duration=30))
        memory.store.add(
            [
                Observation(
                    recording="r",
                    span=Span(0, 30),
                    text="In view: 1 cat.",
                    source="caption",
                    track=COMPOSED.track.id,
                )
            ]
        )
        memory.forget(recording="r")
        assert memory.until().observations() == []
        assert memory.store.recordings() == []
