"""What a person is told when something is wrong: what it is, and what to do."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from egomem import benchmarks
from egomem.benchmarks import Benchmark
from egomem.cli import main
from egomem.cli.eval_run import format_sent
from egomem.errors import ConfigError, StoreError, UsageError
from egomem.evaluate import Config, RunSummary, load_run, opened, plan, rescore, status
from egomem.evaluate.bias_gate import _judged
from egomem.evaluate.conditions import read_conditions
from egomem.evaluate.options import frame_limits, make_config, models_given
from egomem.evaluate.plan import PROMPT_TOKENS, STAMP_TOKENS
from egomem.evaluate.run_folder import locked
from egomem.memory import Store
from egomem.models.limits import BYTES_PER_TOKEN
from egomem.records import Observation, Recording, Track, Usage
from egomem.report import write_report
from egomem.testing import Rule, Script, ScriptedServer
from egomem.timeline import Span

Go = Callable[..., RunSummary]


@pytest.fixture
def data(benchmark: Benchmark, tmp_path: Path) -> Path:
    benchmarks.write(benchmark, tmp_path / "data")
    return tmp_path / "data"


def command(data: Path, run: Path, spec: str, *more: str) -> list[str]:
    base = ["eval", "capmem", "--data", str(data), "--model", f"reader={spec}", "--out", str(run)]
    return [*base, *more]


def test_an_interrupt_is_told_once(
    data: Path, tmp_path: Path, spec: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    async def interrupted(*args: object, **fields: object) -> RunSummary:
        raise KeyboardInterrupt

    monkeypatch.setattr("egomem.evaluate.run", interrupted)
    words = command(data, tmp_path / "run", spec, "--settings", "clean")
    assert main([*words, "--json"]) == 130
    assert json.loads(capsys.readouterr().out)["problems"][0]["what"] == "stopped"
    assert main(words) == 130
    assert capsys.readouterr().err.count("egomem: stopped") == 1


def test_no_video_at_hand_is_refused_before_anything_is_asked(
    data: Path,
    tmp_path: Path,
    server: ScriptedServer,
    spec: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = command(data, tmp_path / "run", spec, "--gate", "report")
    assert main([*words, "--settings", "clean,video"]) == 2
    printed = capsys.readouterr().err
    assert "video: no video is at hand (v0: no file); give their folder with --media" in printed
    assert not server.requests
    assert main([*words, "--settings", "clean"]) == 0


def test_errors_of_lost_videos_name_the_remedy(
    data: Path, tmp_path: Path, spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "some").mkdir()
    (tmp_path / "v1.mp4").rename(tmp_path / "some" / "v1.mp4")
    words = command(data, tmp_path / "run", spec, "--settings", "video", "--media")
    assert main([*words, str(tmp_path / "some")]) == 1
    printed = capsys.readouterr().err
    assert (
        "3 of 5 cells ended in an error; the same command tries them again; 1 video is" in printed
    )
    assert "--media" in printed


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    for folder in (tmp_path / "nope", tmp_path):
        with pytest.raises(UsageError, match="there is no run at"):
            rescore(folder)
    assert not any(tmp_path.iterdir())
    with pytest.raises(StoreError, match="there is no folder"), locked(tmp_path / "nope"):
        pass


def test_errors_of_shards_are_told_when_they_are_joined(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(Script(rules=(Rule(status=400, times=2), Rule(reply="B")))) as server:
        spec = f"openai-compatible:fake@{server.url}"
        for k in (1, 2):
            main(command(data, tmp_path / f"part{k}", spec, "--settings", "clean", "--gate",
                         "report", "--shard", f"{k}/2"))  # fmt: skip
        capsys.readouterr()
        parts = [str(tmp_path / f"part{k}") for k in (1, 2)]
        assert main(["eval", "merge", str(tmp_path / "whole"), *parts]) == 1
        captured = capsys.readouterr()
        assert "5 cells in" in captured.out
        assert "2 of 5 cells ended in an error" in captured.err
        again = command(data, tmp_path / "whole", spec, "--settings", "clean", "--gate", "report")
        assert main([*again, "--json"]) == 0
    outcome = json.loads(capsys.readouterr().out)["result"]["outcome"]
    assert (outcome["asked"], outcome["kept"]) == (2, 3)


def test_what_the_gate_holds_back_is_told(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rule knows all answers: 15 cells of three settings wait."""
    notes: list[str] = []
    stop = config.model_copy(update={"gate": "stop"})
    go(benchmark, stop, tmp_path / "run", on_note=notes.append)
    assert "it fails; its other settings are held back (--gate report" in notes[-1]
    state = status(load_run(tmp_path / "run"))
    assert (state.state, state.done, state.held_back) == ("finished", 5, 15)
    assert main(["eval", "status", str(tmp_path / "run")]) == 0
    printed = capsys.readouterr().out
    assert "5 of 20 cells finished, 15 held back by the gate" in printed
    assert "above the 15% to 35% that pass (both included): the reader knows the answers" in printed
    assert "--gate report lets them go on" in printed
    written = write_report([tmp_path / "run"], tmp_path / "report")
    assert any("the bias gate stopped fake: 3 columns without" in w for w in written.warnings)
    go(benchmark, config, tmp_path / "run", on_note=notes.append)
    assert any("it fails, which is reported and stops nothing" in note for note in notes)
    assert status(load_run(tmp_path / "run")).held_back == 0


def test_the_gates_reasons_are_sentences() -> None:
    config = Config(settings=("clean",))
    assert _judged(1, 0, 8, config)[1] == (
        "12.5% right without the video is below the 15% to 35% that pass (both included): "
        "fewer than guessing gives"
    )
    assert _judged(0, 1, 10, config)[1].startswith(
        "0.0% to 10.0% right without the video (1 of 10 not answered) is below"
    )


def test_wrong_values_name_their_option() -> None:
    with pytest.raises(ConfigError, match="--reply foo is none") as letter:
        make_config(settings=("clean",), format="foo")
    assert letter.value.remedy == "use letter, scores or logprobs"
    with pytest.raises(ConfigError, match="--max-tokens 0: input should be greater"):
        make_config(settings=("clean",), max_tokens=0)
    with pytest.raises(ConfigError, match="--frame-limit fake=8: model spec 'fake'"):
        frame_limits(["fake=8"])
    with pytest.raises(ConfigError, match="--model reader: model spec 'fake'"):
        models_given({"reader": "fake"})
    with pytest.raises(ConfigError, match="--track names captions of a memory"):
        Config(settings=("extractive",), track="import").checked()


@pytest.mark.parametrize("name", ["foo", "foo@30", "evidence-captions", "evidence-frames"])
def test_an_unknown_setting_is_told_by_the_names_that_settings_have(name: str) -> None:
    with pytest.raises(UsageError, match="there is no setting") as wrong:
        read_conditions([name])
    names = wrong.value.remedy.removeprefix("use one of: ").split(", ")
    assert {"caption@30", "aligned@30", "video@evidence", "extractive"} <= set(names)
    assert not any(k.startswith("evidence-") for k in names)
    for each in names:
        assert read_conditions([each])[0].name == each


def test_an_unknown_price_is_told_beside_no_sum() -> None:
    free = Usage(requests=3, tokens_in=1200, tokens_out=7)
    assert format_sent(free, 3) == "3 requests, 1,200 tokens in, 7 out, 0 frames, price unknown"
    some = format_sent(free.model_copy(update={"cost": 0.5}), 2)
    assert some.endswith("$0.5000 (2 requests without a known price)")
    assert "unknown" not in format_sent(Usage(requests=1), 0)


def test_long_names_of_readers_are_told_in_full(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("COLUMNS", "60")
    spec = config.readers[0].replace("fake@", f"{'m' * 70}@")
    only = config.model_copy(update={"settings": ("clean",), "readers": (spec,)})
    go(benchmark, only, tmp_path / "run")
    assert main(["eval", "status", str(tmp_path / "run")]) == 0
    table = capsys.readouterr().out.split("gate of")[0]
    assert table.count("m") >= 70
    assert "\N{HORIZONTAL ELLIPSIS}" not in table


async def test_captions_of_a_given_memory_are_counted(
    benchmark: Benchmark, spec: str, tmp_path: Path
) -> None:
    """Two videos of two captions each; a question's own are read."""
    with Store.open(tmp_path / "memory", create=True) as store:
        track = Track(source="caption", observer="import")
        store.put_track(track)
        for name in ("v0", "v1"):
            store.put_recording(Recording(id=name, name=f"{name}.mp4", duration=4.0))
            store.add(
                [
                    Observation(recording=name, span=Span(k, k + 1), text="word " * 60,
                                source="caption", track=track.id)
                    for k in range(2)
                ]
            )  # fmt: skip
    only = Config(settings=("caption",), readers=(spec,), gate="report")
    async with opened(
        benchmark, only, tmp_path / "run", memory=tmp_path / "memory", environ={}
    ) as work:
        estimate = plan(work)
    each = 2 * (math.ceil(300 / BYTES_PER_TOKEN) + STAMP_TOKENS)
    assert estimate.total.tokens_in == 5 * (PROMPT_TOKENS + each)


def test_the_demo_takes_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The remedy that a fault names has to be there."""
    taken: list[Config] = []

    async def prepared(folder: Path, **more: object) -> tuple[Benchmark, Path]:
        return Benchmark(name="b", format="native", videos=(), questions=()), folder

    def seen(benchmark: Benchmark, config: Config, *more: object, **fields: object) -> None:
        taken.append(config)

    monkeypatch.setattr("egomem.evaluate.demo.prepare", prepared)
    monkeypatch.setattr("egomem.cli.eval_run.run_evaluation", seen)
    for words in ([], ["--fit"]):
        assert main(["eval", "demo", "--folder", str(tmp_path), *words]) == 0
    assert [c.fit for c in taken] == [False, True]
