"""The rules in code: what a sentence says, which edits pass, and what never grows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egomem.observe.active import CaptionBudget, CaptionLog, CaptionState, Scene, fold
from egomem.observe.active.actions import Crop
from egomem.observe.active.claims import align_claims, content, covers, is_weaker, missing_support
from egomem.observe.active.merge import merge, render_caption
from egomem.observe.active.reduce import apply
from egomem.observe.active.state import (
    CaptionEvent,
    CaptionGap,
    CaptionLine,
    Claim,
    ClaimStatus,
    ClaimVerdict,
    Diagnosed,
    Drafted,
    Edit,
    Finding,
    Inspected,
    Revised,
)
from egomem.timeline import Span

ALL = Span(0, 10)


def finding(text: str, id: str = "e1", **fields: Any) -> Finding:
    given = {"tool": "crop", "span": ALL, "conclusive": True, **fields}
    return Finding(id=id, text=text, **given)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Two red bottles stand on the shelf.", "two red bottles are standing on the shelf"),
        ("No bottle stands on the shelf.", "There is a bowl. No bottle stands on the shelf."),
        ("A sign reads “EXIT 4”.", "Text read: “exit  4”"),
        ("A sign reads “EXIT”.", "Text read: “EXIT 4”"),
        ("桌上有一个红色的瓶子", "桌上有一个红色的瓶子"),
    ],
)
def test_a_claim_in_the_words_of_the_evidence_is_proven(claim: str, evidence: str) -> None:
    assert missing_support(claim, ALL, [finding(evidence)]) == ""


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Three red bottles stand at the left.", "2 red bottles are standing left"),
        ("A red bottle stands.", "a bottle stands"),
        ("A bottle stands there.", "no bottle stands there"),
        ("A bottle stands there.", "a bottle may stand there"),
        ("A sign reads “EXIT 5”.", "Text read: “EXIT 4”"),
        ("A dragon enters.", "A sign reads “a dragon enters”"),
        ("一个蓝色的瓶子", "桌上有一个红色的瓶子"),
        ("A sign reads “ENTRY”.", "Text read: “NO ENTRY”"),
        ("A sign reads “EXIT”.", "No sign reads “EXIT”"),
        ("A boy under “BAR” hands a girl a cup.", "A girl under “BAR” hands a boy a cup."),
        ("The girl wins.", "A poster says “Wait! The girl wins.”"),
        ("...", "a bottle"),
    ],
)
def test_a_claim_that_says_more_is_not(claim: str, evidence: str) -> None:
    assert missing_support(claim, ALL, [finding(evidence)])


def test_what_was_read_or_heard_proves_only_what_the_claim_quotes() -> None:
    for tool in ("ocr", "listen"):
        read = finding("Text read: “a dragon enters”. A dragon enters", tool=tool)
        assert missing_support("A dragon enters.", ALL, [read])
        assert missing_support("Text in view: “a dragon enters”.", ALL, [read]) == ""
        assert missing_support("A dragon says “a dragon enters”.", ALL, [read])


def test_evidence_of_another_time_or_an_inconclusive_one_proves_nothing() -> None:
    far = finding("a bottle stands", span=Span(50, 60))
    assert missing_support("A bottle stands.", ALL, [far]) == "the evidence is of another time"
    unsure = finding("a bottle stands", conclusive=False)
    assert missing_support("A bottle stands.", ALL, [unsure]) == "no conclusive evidence"
    assert missing_support("A bottle stands.", ALL, [unsure], conclusive=False) == ""


@pytest.mark.parametrize(
    ("after", "before", "follows"),
    [
        ("a bottle stands on the shelf", "a red bottle stands on the shelf", True),
        ("the girl fills the kettle", "the kettle fills the girl", False),
        ("a boy closes the gate", "a girl opens the gate and a boy closes the door", False),
        ("a bottle almost falls", "a bottle falls", False),
        ("bottles stand left", "3 bottles stand left", True),
        ("3 bottles", "2 to 3 bottles", False),
        ("perhaps a bottle stands left", "a bottle stands left", True),
        ("a bottle stands left", "perhaps a bottle stands left", False),
        ("no bottle stands left", "a bottle stands left", False),
        ("a blue bottle", "a bottle", False),
        ("it is", "a bottle", False),
    ],
)
def test_weaker(after: str, before: str, follows: bool) -> None:
    assert is_weaker(after, ALL, before, ALL) is follows


def test_a_narrower_time_is_a_stronger_claim() -> None:
    assert not is_weaker("a bottle leaves", Span(4, 5), "a bottle leaves", ALL)
    assert is_weaker("a bottle leaves", ALL, "a bottle leaves", Span(4, 5))


def test_sentences_are_aligned_one_to_one_and_by_time() -> None:
    before = [("the bottle leaves", Span(5, 10)), ("the bottle leaves", Span(15, 20))]
    after = [("the bottle leaves", Span(16, 17)), ("a cup", ALL), ("the bottle leaves", Span(6, 7))]
    assert align_claims(before, after) == ([(0, 2), (1, 0)], [], [1])


def test_atoms_cover_a_line_only_with_all_that_it_says() -> None:
    both = ["A girl peels an orange.", "A boy folds a map."]
    assert covers(both, "A girl peels an orange.")
    assert covers(both, "A girl peels an orange and a boy folds a map.")
    assert not covers(both, "A boy peels an orange and a girl folds a map.")
    assert not covers(["a ball", "the ball lies on a table"], "A red ball lies on a table.")
    assert not covers(["a ball lies there"], "No ball lies there.")


# -- standing and merging ------------------------------------------------------------------------


def state_with(
    *claims: tuple[str, ClaimStatus], findings: tuple[Finding, ...] = ()
) -> CaptionState:
    stated_claims = tuple(
        Claim(id=f"c{k + 1}", text=text, span=ALL, line=k, standing=standing,
              supports=("e1",) if standing is ClaimStatus.SUPPORTED else ())
        for k, (text, standing) in enumerate(claims)
    )  # fmt: skip
    lines = tuple(CaptionLine(span=ALL, text=c.text, claims=(c.text,)) for c in stated_claims)
    return CaptionState(
        claims=stated_claims, lines=lines, findings=findings, made=len(stated_claims)
    )


def revised(state: CaptionState, *lines: CaptionLine) -> CaptionState:
    return merge(state, lines)


def caption_line(text: str, *evidence: str, span: Span = ALL) -> CaptionLine:
    return CaptionLine(span=span, text=text, claims=(text,), evidence=(evidence,))


def test_an_edit_with_newer_proof_passes_and_one_with_older_does_not() -> None:
    findings = (finding("2 bottles stand left"), finding("3 bottles stand left", "e2"))
    state = state_with(("2 bottles stand left", ClaimStatus.SUPPORTED), findings=findings)
    assert render_caption(revised(state, caption_line("3 bottles stand left", "e2"))).endswith(
        "3 bottles stand left"
    )
    older = state_with(
        ("3 bottles stand left", ClaimStatus.SUPPORTED),
        findings=(finding("3 bottles stand left"), finding("x", "e2")),
    )
    assert revised(older, caption_line("bottles stand left", "e1")).edits == (
        Edit(
            kind="changed",
            before="3 bottles stand left",
            after="bottles stand left",
            accepted=False,
            why="it is supported",
        ),
    )


def test_a_look_outweighs_the_coarse_view_and_two_looks_do_not_outweigh_each_other() -> None:
    ball = finding("a ball lies left", "e1")
    for tool, against, expected in (
        ("check", "no ball lies left", ClaimStatus.SUPPORTED),
        ("crop", "no ball lies left", ClaimStatus.UNCERTAIN),
        ("crop", "a spoon", ClaimStatus.SUPPORTED),
    ):
        state = state_with(("a ball lies left", ClaimStatus.SUPPORTED), findings=(ball,))
        denial = finding(against, "e2", tool=tool)
        verdict = ClaimVerdict(claim="c1", stance="denies", evidence=("e2",))
        state = apply(state, Diagnosed(findings=(denial,), verdicts=(verdict,)), CaptionBudget())
        assert state.claims[0].standing is expected
    state = state_with(("a ball lies left", ClaimStatus.UNSUPPORTED), findings=(ball,))
    denial = finding("no ball lies left", "e2", tool="check")
    state = apply(state, Diagnosed(findings=(denial,), verdicts=(verdict,)), CaptionBudget())
    assert state.claims[0].standing is ClaimStatus.CONTRADICTED


def test_what_is_uncertain_is_hedged_and_what_is_unsupported_left_out() -> None:
    state = state_with(
        ("a cup stands", ClaimStatus.SUPPORTED),
        ("a spoon lies", ClaimStatus.UNCERTAIN),
        ("a fork lies", ClaimStatus.UNSUPPORTED),
        ("a knife lies", ClaimStatus.CONTRADICTED),
    )
    text = render_caption(state)
    assert text == "[0:00-0:10] a cup stands\n[0:00-0:10] Not certain: a spoon lies"


def test_a_not_certain_line_stands_once() -> None:
    doubtful, sure = ClaimStatus.UNCERTAIN, ClaimStatus.SUPPORTED
    state = state_with(("a spoon lies", doubtful), ("Not certain: A spoon lies.", doubtful))
    assert render_caption(state) == "[0:00-0:10] Not certain: a spoon lies"
    state = state_with(("a spoon lies", doubtful), ("A spoon lies.", sure))
    assert render_caption(state) == "[0:00-0:10] A spoon lies."
    state = state_with(
        ("the bowl hides the spoon", doubtful), ("the spoon hides the bowl", doubtful)
    )
    assert len(render_caption(state).splitlines()) == 2


def test_an_unsupported_claim_may_be_dropped_and_weakened() -> None:
    state = state_with(("a red cup stands on the table", ClaimStatus.UNSUPPORTED))
    assert [e.accepted for e in revised(state).edits] == [True]
    weaker_ = revised(state, caption_line("a cup stands on the table"))
    assert [c.text for c in weaker_.claims] == ["a cup stands on the table"]
    assert weaker_.asserted == ()


def test_edits_are_computed_whatever_a_reviser_claims() -> None:
    findings = (finding("a cup"), finding("a spoon lies left", "e2"))
    state = state_with(("a cup", ClaimStatus.SUPPORTED), ("a fork", ClaimStatus.UNSUPPORTED),
                       findings=findings)  # fmt: skip
    after = revised(state, caption_line("a cup"), caption_line("a spoon lies left", "e2"))
    assert [(e.kind, e.before, e.after, e.accepted) for e in after.edits] == [
        ("added", None, "a spoon lies left", True),
        ("removed", "a fork", None, True),
    ]
    assert after.quiet == 0
    assert revised(after, caption_line("a cup"), caption_line("a spoon lies left")).quiet == 1


def test_a_statement_that_is_made_twice_is_one() -> None:
    findings = (finding("a cup stands left"),)
    copies = caption_line("a cup stands left"), caption_line("A cup stands left.", "e1")
    after = revised(state_with(findings=findings), *copies)
    assert [(c.text, c.standing) for c in after.claims] == [
        ("a cup stands left", ClaimStatus.SUPPORTED)
    ]
    assert render_caption(after) == "[0:00-0:10] a cup stands left"


def test_a_gap_that_stays_inconclusive_is_left_unresolved() -> None:
    look = Crop(start=1, end=1)
    gap = CaptionGap(id="", kind="observation", concern="omission", change="name it", look=look)
    state = apply(CaptionState(), Diagnosed(gaps=(gap,)), CaptionBudget())
    (opened,) = state.open
    for tries, expected in ((1, "open"), (2, "unresolved")):
        event = Inspected(gap=opened.id, look=look, findings=(finding("?", f"e{tries}",
                                                                   conclusive=False),))  # fmt: skip
        state = apply(state, event, CaptionBudget())
        assert state.gaps[0].state == expected
    assert apply(state, Diagnosed(gaps=(gap,)), CaptionBudget()).open == ()


@pytest.mark.parametrize(
    ("sure", "expected"),
    [((True, False), "open"), ((False,), "open"), ((), "open"), ((True, True), "resolved")],
)
def test_an_unsure_finding_leaves_a_gap_open_whatever_stands_beside_it(
    sure: tuple[bool, ...], expected: str
) -> None:
    look = Crop(start=1, end=1)
    gap = CaptionGap(id="", kind="observation", concern="omission", change="read it", look=look)
    state = apply(CaptionState(), Diagnosed(gaps=(gap,)), CaptionBudget())
    findings = tuple(
        finding("Text read: “TAXI”", f"e{k + 1}", conclusive=is_sure)
        for k, is_sure in enumerate(sure)
    )
    event = Inspected(gap=state.open[0].id, look=look, findings=findings)
    assert apply(state, event, CaptionBudget()).gaps[0].state == expected


# -- what never grows ----------------------------------------------------------------------------

WORDS = ("red", "ball", "green", "dragon", "table", "3", "two", "no", "perhaps", "“exit”", "lies")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
ids = st.lists(st.sampled_from(["e1", "e2", "e3", "e9", "c1"]), max_size=3).map(tuple)
spans = st.tuples(st.integers(0, 10), st.integers(0, 10)).map(lambda t: Span(min(t), max(t)))
tools = st.sampled_from(["check", "crop", "dense", "ocr", "detect", "listen", "retrieve", "tally"])
claim_ids = st.sampled_from(["c1", "c2", "c3", "c4"])


@st.composite
def events(draw: Any) -> CaptionEvent:
    """Anything that a model could propose, with every look inconclusive."""
    unsure = st.builds(
        Finding,
        id=st.sampled_from([f"e{k}" for k in range(1, 30)]),
        tool=tools,
        span=spans,
        text=texts,
        conclusive=st.just(False),
        rests_on=ids,
    )
    findings = tuple(draw(st.lists(unsure, max_size=3)))
    verdicts = tuple(
        draw(
            st.lists(
                st.builds(
                    ClaimVerdict,
                    claim=claim_ids,
                    stance=st.sampled_from(["supports", "denies", "silent"]),
                    evidence=ids,
                ),
                max_size=3,
            )
        )
    )
    lines = st.lists(
        st.builds(
            lambda span, text, atoms, evidence: CaptionLine(
                span=span, text=text, claims=tuple(atoms), evidence=tuple(evidence)
            ),
            spans,
            texts,
            st.lists(texts, max_size=2),
            st.lists(ids, max_size=3),
        ),
        max_size=4,
    )
    look = Crop(start=1, end=1)
    gaps = st.lists(
        st.builds(
            CaptionGap,
            id=st.just(""),
            kind=st.sampled_from(["revision", "observation"]),
            concern=st.just("omission"),
            change=texts,
            claim=st.none() | claim_ids,
            look=st.none() | st.just(look),
            evidence=ids,
        ),
        max_size=3,
    )
    kind = draw(st.sampled_from(["diagnosed", "looked", "revised"]))
    if kind == "diagnosed":
        return Diagnosed(findings=findings, verdicts=verdicts, gaps=tuple(draw(gaps)))
    if kind == "looked":
        return Inspected(
            gap=draw(st.sampled_from(["g1", "g5"])), look=look, findings=findings, verdicts=verdicts
        )
    return Revised(lines=tuple(draw(lines)))


@given(st.lists(events(), max_size=8))
@settings(max_examples=60)
def test_with_inconclusive_looks_nothing_is_ever_asserted(given_events: list[CaptionEvent]) -> None:
    state = apply(
        CaptionState(),
        Drafted(lines=(caption_line("red ball", "e1"), caption_line("dragon"))),
        CaptionBudget(),
    )
    for event in given_events:
        state = apply(state, event, CaptionBudget())
        assert state.asserted == ()
        rows = render_caption(state).splitlines()
        assert all("Not certain: " in row for row in rows)


@given(st.lists(events(), max_size=8))
@settings(max_examples=60)
def test_with_inconclusive_looks_the_asserted_claims_never_grow(
    given_events: list[CaptionEvent],
) -> None:
    """From a caption that states all that its evidence shows, whatever a model proposes."""
    findings = (finding("red ball lies", tool="check"), finding("“exit”", "e2", tool="ocr"))
    lines = (
        caption_line("red ball lies", "e1"),
        caption_line("text “exit”", "e2"),
        caption_line("green dragon"),
    )
    state = apply(CaptionState(), Drafted(lines=lines, findings=findings), CaptionBudget())
    start = {(c.text, c.span) for c in state.asserted}
    assert len(start) == 2
    for event in given_events:
        before = {(c.id, *sorted(content(c.text).all)) for c in state.asserted}
        state = apply(state, event, CaptionBudget())
        for claim in state.asserted:
            kept = (claim.id, *sorted(content(claim.text).all)) in before
            follows = any(
                is_weaker(claim.text, claim.span, text, span) or content(claim.text).all
                <= content(text).all for text, span in start
            )  # fmt: skip
            assert kept or follows
        stated = frozenset().union(*(content(c.text).all for c in state.asserted))
        assert stated <= content("red ball lies").all | content("text “exit”").all


@given(st.lists(events(), max_size=8))
@settings(max_examples=30)
def test_a_log_replays_to_the_same_state(given_events: list[CaptionEvent]) -> None:
    scene = Scene(recording="r", name="r", span=ALL)
    log = CaptionLog(scene=scene, backend="any", events=tuple(given_events))
    again = CaptionLog.model_validate_json(log.model_dump_json())
    assert again == log
    assert fold(again) == fold(log)
