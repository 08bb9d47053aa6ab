"""What a trial reads: the part of the memory that a question may see in an arm, and the captions
that the run makes for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from egomem.answer.video import spread
from egomem.errors import UsageError
from egomem.evaluate import captions
from egomem.evaluate.conditions import Condition
from egomem.evaluate.config import Arm, Config
from egomem.evaluate.model_clients import ModelClients
from egomem.evaluate.video_map import BlindViews, VideoMap
from egomem.media import Frame, frames
from egomem.memory import Store, View
from egomem.records import Observation, Question, Recording, Source
from egomem.text import plural
from egomem.timeline import Span

INSTANT_S = 1e-3
"""The length that a moment without one is given, so that something overlaps it."""


class TrialInputs:
    """Questions name the videos of the benchmark; what is returned names recordings of `store`."""

    def __init__(
        self,
        config: Config,
        store: Store,
        videos: VideoMap,
        blind: BlindViews,
        clients: ModelClients,
    ) -> None:
        self.config = config
        self.store = store
        self.videos = videos
        self._blind = blind
        self._clients = clients
        self._captioned: set[tuple[str, str]] = set()
        self._selections: dict[tuple[str, str, str, str | None], captions.FrameSelection] = {}
        self._tracks: dict[Arm, str | None] = {}

    def recordings(self, question: Question) -> list[Recording]:
        """What a question is about: its video, or all of them."""
        if question.recording is None:
            return list(self.videos.recordings.values())
        recording = self.videos.recordings.get(question.recording)
        return [recording] if recording else []

    def view(self, question: Question, condition: Condition) -> View:
        """What a condition may see of the memory: the past, of the question's video."""
        if condition.blind:
            return self._blind.view(question.at)
        localised = self.videos.localised(question)
        view = self.store.view(localised.at)
        if localised.recording is not None:
            ids = {r.id for r in self.store.recordings()}
            view = view.narrow(recordings=[r for r in [localised.recording] if r in ids])
        # A given memory is the user's, and all of it is asked about; the run's own holds what it
        # put there.
        elif not self.config.given_memory:
            # A file that has changed since has left its old recording behind.
            view = view.narrow(recordings=[r.id for r in self.videos.recordings.values()])
        if condition.evidence and localised.evidence:
            spans = [e.span for e in localised.evidence]
            # One stretch over all pieces: the strategy itself may not be told where they begin and
            # end.
            whole = Span(min(s.start for s in spans), max(s.end for s in spans) + INSTANT_S)
            view = view.narrow(span=whole)
        return view

    def sources(self, arm: Arm) -> frozenset[Source] | None:
        """The sources of the observations that an arm may read; None where it may be all."""
        settings = self.config.configured(arm, None)
        by_strategy = [s.sources(settings[s.name]) for s in self.config.condition(arm).lineage]
        declared = [sources for sources in by_strategy if sources is not None]
        # One that does not say may read anything, whatever the others say.
        return None if len(declared) < len(by_strategy) else frozenset().union(*declared)

    def observations(self, question: Question, arm: Arm) -> list[Observation] | None:
        """The observations that an arm may read for a question; None where it reads none."""
        condition = self.config.condition(arm)
        if condition.captions == "none":
            return None
        view, sources = self.view(question, condition), self.sources(arm)
        track = self.track(arm, question)
        if track is None or sources is None:
            return view.observations(sources=sources)
        # Of captions one track alone: several say the same things several times.
        others = [t.id for t in self.store.tracks() if t.source in sources - {"caption"}]
        return view.observations(tracks=[track, *others])

    def frames(
        self, recording: str, times: Sequence[float], side: int | None = None
    ) -> Iterable[Frame]:
        """Frames of a recording, from its file. Raises UsageError where that is not at hand."""
        entry = self.store.recording(recording)
        if entry is None or entry.path is None:
            raise UsageError(f"the video of {recording} is not at hand")
        return frames(entry.path, times, side=side)

    def obstacle(self, question: Question, arm: Arm) -> str:
        """Why a trial cannot be answered here; "" where it can."""
        condition = self.config.condition(arm)
        if condition.blind:
            return ""
        if why := self.videos.lost(question):
            return why
        recordings = self.recordings(question)
        is_there = any(r.path and Path(r.path).is_file() for r in recordings)
        if condition.looks and recordings and not is_there:
            name = recordings[0].name
            return f"the video of {name} is not at hand, and {condition.name} looks at frames"
        missing = self.missing_captions(question, arm)
        return f"{plural(missing, 'window has', 'windows have')} no caption" if missing else ""

    # -- captions that the run makes ----------------------------------------------------------

    def makes_captions(self, arm: Arm) -> bool:
        """Whether this run makes the captions of an arm."""
        return self.config.condition(arm).captioned and not self.config.given_memory

    def frame_selection(self, question: Question, arm: Arm) -> captions.FrameSelection | None:
        """The frames of which captions are made for a question: those that `video` shows where they
        are aligned, those of each whole video; None for other conditions."""
        condition = self.config.condition(arm)
        selects = condition.captions in ("aligned", "whole") and self.makes_captions(arm)
        if not selects or self.videos.lost(question):
            return None
        localised = self.videos.localised(question)
        key = (condition.captions, arm.reader, str(localised.at), localised.recording)
        if key not in self._selections:
            recordings = self.view(question, condition).recordings()
            durations = {r.id: r.duration for r in self.videos.recordings.values()}
            fps = self.config.fps
            if condition.captions == "whole":
                most = self.config.whole_frame_limit(arm.reader)
                looks = [look for r in recordings for look in spread([r], most, fps)]
                selection = captions.FrameSelection.of_whole_videos(looks, durations)
            else:
                # By the very function of `video`, so that both sides see the same frames.
                looks = spread(recordings, self.config.frame_limit(arm.reader), fps)
                selection = captions.FrameSelection.of(looks, durations)
            self._selections[key] = selection
        return self._selections[key]

    def captioned_recordings(self, question: Question, arm: Arm) -> list[Recording]:
        """The recordings whose captions a trial reads, as long as they are captioned for it; there
        is nothing to caption of sound alone."""
        selection = self.frame_selection(question, arm)
        recordings = self.recordings(question) if selection is None else selection.recordings
        return [r for r in recordings if r.has_pictures]

    def track(self, arm: Arm, question: Question | None = None) -> str | None:
        """The id of the caption track that an arm reads; None where the strategy chooses.

        Aligned captions of what a question may see of a recording have a track of their own.
        """
        selection = self.frame_selection(question, arm) if question else None
        if selection is not None and selection.cut:
            return f"{self.track(arm)}{selection.cut}"
        if arm not in self._tracks:
            self._tracks[arm] = self._track(arm)
        return self._tracks[arm]

    def _track(self, arm: Arm) -> str | None:
        condition = self.config.condition(arm)
        if condition.captions == "none" or not condition.reads_track:
            return None
        if condition.captions == "held" or self.config.given_memory:
            return captions.given_track(self.store, condition, self.config)
        client = self._clients.of(arm)
        assert client is not None
        return captions.captioner(client, condition, self.config, arm.reader).track.id

    def windows_to_caption(
        self, arm: Arm, recording: Recording, question: Question | None = None
    ) -> int:
        """How many windows are still to be captioned for an arm, or for a question in it."""
        condition, track = self.config.condition(arm), self.track(arm, question)
        if not self.makes_captions(arm) or track is None:
            return 0
        if (track, recording.id) in self._captioned:
            return 0
        tokens = self.config.caption_tokens
        rest = captions.unfinished(self.store, recording, track, condition.window, tokens)
        # Only a finished track is remembered: an unfinished one changes while the run goes on.
        if not rest:
            self._captioned.add((track, recording.id))
        return len(rest)

    def missing_captions(self, question: Question, arm: Arm) -> int:
        """How many windows are still to be captioned before a trial can be answered."""
        recordings = self.captioned_recordings(question, arm)
        return sum(self.windows_to_caption(arm, r, question) for r in recordings)

    def made_tracks(self, arms: Iterable[Arm], questions: Sequence[Question]) -> list[str]:
        """The caption tracks that this run makes for these arms, each once."""
        captioned = [arm for arm in arms if self.makes_captions(arm)]
        tracks = (self.track(arm, question) for arm in captioned for question in questions)
        return list(dict.fromkeys(track for track in tracks if track))

    def uncaptioned(
        self, arms: Iterable[Arm], questions: Sequence[Question]
    ) -> list[captions.Uncaptioned]:
        """The windows that have no caption in the tracks that this run makes and reads."""
        ids = {r.id for question in questions for r in self.recordings(question)}
        by_video = {v: r.id for v, r in self.videos.recordings.items() if r.id in ids}
        return captions.uncaptioned(self.store, by_video, self.made_tracks(arms, questions))
