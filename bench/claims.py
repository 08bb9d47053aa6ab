"""How often a judge of claims is right, on pairs written by hand; and how fast it is.

    python bench/claims.py [--part dev|kept] [--wrong] [--json FILE]

Beside it stands word overlap: all of the claim's content stems in the evidence. A third of the
pairs (by a hash of their text) is kept apart: it is read once, for the figure that is reported.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

from egomem.claims import EvidenceLine, has_parser, judge
from egomem.claims.parser import parse
from egomem.claims.reading import read
from egomem.text import stems, tokens
from egomem.timeline import Span

DATA = Path(__file__).parent / "data" / "claims.txt"
LABELS = {"+": "entailed", "-": "contradicted", "?": "not told"}


class Pair(NamedTuple):
    evidence: str
    claim: str
    label: str
    kind: str
    part: str
    evidence_span: Span | None
    claim_span: Span | None


def _spanned(text: str) -> tuple[str, Span | None]:
    match = re.match(r"\[(\d+)-(\d+)\]\s*(.*)", text)
    if match is None:
        return text, None
    return match[3], Span(float(match[1]), float(match[2]))


def load(path: Path = DATA) -> list[Pair]:
    pairs, evidence = [], ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("E "):
            evidence = line[2:].strip()
        elif line[:2] in ("+ ", "- ", "? "):
            kind, _, claim = line[2:].partition(": ")
            evidence_text, evidence_span = _spanned(evidence)
            text, span = _spanned(claim.strip())
            digest = hashlib.sha256(f"{evidence}\n{claim.strip()}".encode()).digest()
            part = "kept" if digest[0] % 3 == 0 else "dev"
            pairs.append(
                Pair(evidence_text, text, LABELS[line[0]], kind, part, evidence_span, span)
            )
    return pairs


def by_judge(pair: Pair) -> str:
    return judge([EvidenceLine(pair.evidence, pair.evidence_span)], pair.claim,
                 pair.claim_span).label  # fmt: skip


_EMPTY = re.findall(
    r"\w+", "a an the is are was were be to of in on at by with and i he she it they"
)


def by_overlap(pair: Pair) -> str:
    evidence_stems = set(stems(tokens(pair.evidence)))
    claimed = set(stems([t for t in tokens(pair.claim) if t not in _EMPTY]))
    return "entailed" if claimed <= evidence_stems else "not told"


def summary(pairs: list[Pair], labels: list[str]) -> dict[str, object]:
    """Rates over pairs: of false "entailed", of paraphrases entailed, of contradictions told."""
    false: dict[str, list[bool]] = defaultdict(list)
    correct: dict[str, list[bool]] = defaultdict(list)
    for pair, label in zip(pairs, labels, strict=True):
        correct[pair.label].append(label == pair.label)
        if pair.label != "entailed":
            false[pair.kind].append(label == "entailed")
    every = [x for rows in false.values() for x in rows]
    return {
        "pairs": len(pairs),
        "false entailed": _share(every),
        "paraphrases entailed": _share(correct["entailed"]),
        "contradictions told": _share(correct["contradicted"]),
        "silence kept": _share(correct["not told"]),
        "false by kind": {k: f"{sum(v)}/{len(v)}" for k, v in sorted(false.items())},
    }


def _share(rows: list[bool]) -> float:
    return round(sum(rows) / len(rows), 4) if rows else 0.0


def speed(pairs: list[Pair]) -> dict[str, float]:
    """Judged pairs a second over pairs parsed a second, on texts that nothing has read before."""
    texts = [t for p in pairs for t in (p.evidence, p.claim)]
    read("The lamp is on.")
    judged = parsed = float("inf")
    for _ in range(3):
        read.cache_clear()
        begin = time.perf_counter()
        for pair in pairs:
            by_judge(pair)
        judged = min(judged, time.perf_counter() - begin)
        begin = time.perf_counter()
        for text in dict.fromkeys(texts):
            parse(text)
        parsed = min(parsed, time.perf_counter() - begin)
    return {"pairs a second": len(pairs) / judged, "of spaCy's parsing alone": parsed / judged}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--part", choices=("dev", "kept"), default="dev")
    arguments.add_argument("--wrong", action="store_true", help="print the pairs judged wrongly")
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    pairs = [p for p in load() if p.part == options.part]
    labels = [by_judge(p) for p in pairs]
    ours = "judge" if has_parser() else "judge (no parser: smaller reading)"
    rows = {
        ours: summary(pairs, labels),
        "word overlap": summary(pairs, [by_overlap(p) for p in pairs]),
    }
    for name, row in rows.items():
        print(name)
        for key, value in row.items():
            print(f"  {key}: {value}")
    if has_parser():
        rows["speed"] = dict(speed(pairs))
        print("speed", {k: round(v, 3) for k, v in speed(pairs).items()})
    if options.wrong:
        for pair, label in sorted(zip(pairs, labels, strict=True), key=lambda x: x[1]):
            if label != pair.label:
                mark = "FALSE " if label == "entailed" else ""
                print(
                    f"{mark}{pair.kind}: {pair.evidence} => {pair.claim}: {label}, not {pair.label}"
                )
    print(dict(Counter(labels)))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
