"""The goals on the pairs written by hand, on the part that is not kept apart."""

import importlib.util
from collections import Counter
from pathlib import Path

import pytest

from egomem.claims import has_parser

BENCH = Path(__file__).parents[2] / "bench" / "claims.py"


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("bench_claims", BENCH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_third_of_the_pairs_is_kept_apart(bench):
    pairs = bench.load()
    parts = Counter(p.part for p in pairs)
    assert len(pairs) >= 600
    assert 0.28 < parts["kept"] / len(pairs) < 0.39
    assert len({(p.evidence, p.claim, p.evidence_span, p.claim_span) for p in pairs}) == len(pairs)


@pytest.mark.skipif(not has_parser(), reason="the claims extra is not installed")
def test_the_goals_without_a_model(bench):
    pairs = [p for p in bench.load() if p.part == "dev"]
    figures = bench.summary(pairs, [bench.by_judge(p) for p in pairs])
    assert figures["false entailed"] <= 0.02
    assert figures["paraphrases entailed"] >= 0.6
    assert figures["contradictions told"] >= 0.8
    for kind, share in figures["false by kind"].items():
        wrong, of = map(int, share.split("/"))
        assert wrong <= max(0.05 * of, 0), kind
