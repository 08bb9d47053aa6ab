"""What a report of a large run takes: to write, to store and to open.

    python bench/report.py [--questions 1000] [--json FILE]

A made-up run: 75 videos, six settings, two readers, answers drawn at random, each with a reply and
a trace; no pictures (those of a run add 6 MB at most). The page is opened in headless Chromium,
where there is one, and compared with an empty page in the same browser: whole process, least of 5.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from egomem.benchmarks import Benchmark
from egomem.evaluate import Config, Finished
from egomem.records import Answer, Evidence, Question, Status, Video
from egomem.report import write_report
from egomem.timeline import Span

SETTINGS = ("clean", "video", "caption@30", "caption@60", "verify@30", "caption@evidence")
READERS = ("openrouter:qwen/qwen3-vl-32b-instruct", "openai:gpt-5.2")


def made_run(folder: Path, count: int) -> Path:
    draw = random.Random(7)
    videos = [Video(id=f"v{k:02d}", duration=draw.uniform(240, 5400)) for k in range(75)]
    questions = []
    for k in range(count):
        video = videos[k % len(videos)]
        start = draw.uniform(0, video.duration - 5)
        span = Span(start, start + 4)
        questions.append(
            Question.of(
                f"Which thing did I pick up after I put number {k} on the shelf by the window?",
                [f"the {word} cup beside the drawer" for word in ("red", "blue", "tin", "old")],
                id=f"q{k:04d}",
                recording=video.id,
                answer=draw.choice("ABCD"),
                evidence=(Evidence(recording=video.id, span=span),),
                tags={"visual": draw.sample(["Object", "Attribute", "Spatial", "Action"], 2)},
            )
        )
    config = Config(settings=SETTINGS, readers=READERS, gate="report")
    benchmark = Benchmark(
        name="made", format="native", videos=tuple(videos), questions=tuple(questions)
    )
    lines = []
    for column in config.arms():
        for question in questions:
            label = question.answer if draw.random() < 0.45 else draw.choice("ABCD")
            trace = [
                {"step": "reply", "text": label, "finish": "stop"},
                {"step": "notes", "count": 60, "characters": 9_000},
                {"step": "frames", "times": [round(draw.uniform(0, 240), 3) for _ in range(96)]},
            ]
            answer = Answer(
                text=label, choice=label, status=Status.PARSED, strategy="made", trace=trace
            )
            cell = Finished(question=question.id, arm=column, parts={}, answer=answer)
            lines.append(cell.model_dump_json())
    folder.mkdir()
    (folder / "answers.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "benchmark.json").write_text(benchmark.model_dump_json())
    about = {"config": config.model_dump(mode="json"), "config_hash": config.hash}
    (folder / "run.json").write_text(json.dumps(about))
    return folder


def opened(chromium: str, page: Path, profile: Path) -> float:
    """Seconds from start to the dumped page: least of five."""
    quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    command = [chromium, *quiet, f"--user-data-dir={profile}", "--dump-dom", page.as_uri()]
    taken = []
    for _ in range(5):
        begun = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        taken.append(time.perf_counter() - begun)
    return min(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, default=1_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = made_run(Path(scratch, "run"), options.questions)
        begun = time.process_time()
        write_report([folder], folder / "report")
        figures = {"writing, processor s": time.process_time() - begun}
        page = folder / "report" / "report.html"
        figures["page, MB"] = page.stat().st_size / 1e6
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        if chromium:
            empty = Path(scratch, "empty.html")
            empty.write_text("<!doctype html><title>empty</title>")
            floor = opened(chromium, empty, Path(scratch, "profile"))
            figures["an empty page, s"] = floor
            figures["the page, s"] = opened(chromium, page, Path(scratch, "profile"))
            figures["the page itself, s"] = figures["the page, s"] - floor
    for name, value in figures.items():
        print(f"{name:22} {value:8.2f}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
