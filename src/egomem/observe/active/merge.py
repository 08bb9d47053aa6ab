"""A proposed caption -> the accepted one: what an edit strengthens, it must prove.

The edits are computed here by aligning atomic claims; what a model says it changed is not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from egomem.observe.active.claims import (
    TimedText,
    align_claims,
    content,
    covers,
    has_same_words,
    is_same,
    is_weaker,
    missing_support,
)
from egomem.observe.active.state import CaptionLine, CaptionState, Claim, ClaimStatus, Edit, Finding
from egomem.timeline import Span, format_span

_SURENESS = {
    ClaimStatus.CONTRADICTED: 0,
    ClaimStatus.UNSUPPORTED: 0,
    ClaimStatus.UNCERTAIN: 1,
    ClaimStatus.SUPPORTED: 2,
}


@dataclass(frozen=True, slots=True)
class _Atom:
    text: str
    span: Span
    evidence: tuple[str, ...]
    line: int


def merge(
    state: CaptionState, lines: Sequence[CaptionLine], *, first: bool = False
) -> CaptionState:
    """The state with the proposed lines, as far as the rules let them pass.

    - a claim that stays keeps its standing;
    - one that only says less passes, unless it was supported;
    - one that says more, or is new, passes with conclusive evidence that holds all it says (with
      inconclusive evidence that does, it is listed as uncertain). In the first draft it passes
      without, as unsupported: it is listed, and not stated;
    - one that is supported is not dropped, and only changed by newer conclusive evidence.
    """
    atoms = _distinct([a for k, line in enumerate(lines) for a in _atoms(line, k)])
    before: list[TimedText] = [(c.text, c.span) for c in state.claims]
    matched = align_claims(before, [(a.text, a.span) for a in atoms])
    edits: list[Edit] = []
    kept: dict[int, Claim] = {}  # by index of atom
    restored: list[Claim] = []
    numbered = state.made
    for i, j in matched.pairs:
        claim, atom = state.claims[i], atoms[j]
        if is_same(claim.text, claim.span, atom.text, atom.span):
            stands = _claim(claim.id, state, atom)
            # Only upwards: a rewrite that cites less must not weaken what was established.
            surer = _SURENESS[stands.standing] > _SURENESS[claim.standing] and not claim.denies
            kept[j] = stands if surer else claim.model_copy(update={"text": atom.text})
            if surer:
                edits.append(_edit("changed", claim, atom))
            continue
        proof = _proof(state, atom)
        supported = claim.standing is ClaimStatus.SUPPORTED
        why = missing_support(atom.text, atom.span, proof)
        # A model that rewrites a line tends to lose or change claims that were never in question.
        if supported and (why or not _newer(proof, claim)):
            restored.append(claim)
            edits.append(_edit("changed", claim, atom, why or "it is supported"))
        # Saying less needs no proof.
        elif is_weaker(atom.text, atom.span, claim.text, claim.span):
            kept[j] = claim.model_copy(update={"text": atom.text, "span": atom.span})
            edits.append(_edit("changed", claim, atom))
        elif not why or _hinted(state, atom):
            numbered += 1
            kept[j] = _claim(f"c{numbered}", state, atom)
            edits.append(_edit("changed", claim, atom))
        else:
            restored.append(claim)
            edits.append(_edit("changed", claim, atom, why))
    for j in matched.added:
        atom, proof = atoms[j], _proof(state, atoms[j])
        why = missing_support(atom.text, atom.span, proof)
        if not why or _hinted(state, atom) or (first and content(atom.text).all):
            numbered += 1
            kept[j] = _claim(f"c{numbered}", state, atom)
        edits.append(_edit("added", None, atom, "" if j in kept else why))
    for i in matched.removed:
        claim = state.claims[i]
        if claim.standing is ClaimStatus.SUPPORTED:
            restored.append(claim)
            edits.append(_edit("removed", claim, None, "it is supported"))
        else:
            edits.append(_edit("removed", claim, None))
    refused = dict(state.refused)
    for edit in edits:
        if not edit.accepted:
            refused[f"edit: {edit.kind}"] = refused.get(f"edit: {edit.kind}", 0) + 1
    new_lines, claims = _lay_out(lines, atoms, kept, restored)
    done = [e for e in edits if e.accepted]
    return state.model_copy(
        update={
            "lines": tuple(new_lines),
            "claims": tuple(claims),
            "edits": tuple(edits),
            "made": numbered,
            "refused": refused,
            "quiet": state.quiet if first else 0 if done else state.quiet + 1,
        }
    )


def _atoms(line: CaptionLine, number: int) -> list[_Atom]:
    """A line's atomic claims; the line itself if it has none."""
    cited = [*line.evidence, *[()] * len(line.claims)]
    if not line.claims:
        return [_Atom(line.text, line.span, line.evidence[0] if line.evidence else (), number)]
    return [_Atom(t, line.span, e, number) for t, e in zip(line.claims, cited, strict=False)]


def _distinct(atoms: Sequence[_Atom]) -> list[_Atom]:
    """Each statement once, in its first line, with the evidence of all its copies."""
    distinct: list[_Atom] = []
    for atom in atoms:
        for k, other in enumerate(distinct):
            if is_same(atom.text, atom.span, other.text, other.span):
                joint = tuple(dict.fromkeys((*other.evidence, *atom.evidence)))
                distinct[k] = replace(other, evidence=joint)
                break
        else:
            distinct.append(atom)
    return distinct


def _cited(state: CaptionState, atom: _Atom) -> list[Finding]:
    return [f for f in map(state.finding, atom.evidence) if f is not None]


def _proof(state: CaptionState, atom: _Atom) -> list[Finding]:
    return [f for f in _cited(state, atom) if f.conclusive]


def _hinted(state: CaptionState, atom: _Atom) -> bool:
    return not missing_support(atom.text, atom.span, _cited(state, atom), conclusive=False)


def _newer(proof: Sequence[Finding], claim: Claim) -> bool:
    """True if some proof was found after all support of the claim: what was known before cannot
    overrule it.
    """
    return any(_number(f.id) > max(map(_number, claim.supports), default=0) for f in proof)


def _number(id: str) -> int:
    return int(id[1:])


def _claim(id: str, state: CaptionState, atom: _Atom) -> Claim:
    """A claim with the status that its evidence gives it."""
    cited = _cited(state, atom)
    proven = not missing_support(atom.text, atom.span, cited)
    hinted = not proven and _hinted(state, atom)
    return Claim(
        id=id,
        text=atom.text,
        span=atom.span,
        line=atom.line,
        standing=(
            ClaimStatus.SUPPORTED
            if proven
            else ClaimStatus.UNCERTAIN
            if hinted
            else ClaimStatus.UNSUPPORTED
        ),
        supports=tuple(f.id for f in cited if f.conclusive) if proven else (),
        hints=tuple(f.id for f in cited if not f.conclusive) if hinted else (),
    )


def _edit(kind: str, before: Claim | None, after: _Atom | None, why: str = "") -> Edit:
    return Edit.model_validate(
        {
            "kind": kind,
            "before": before.text if before else None,
            "after": after.text if after else None,
            "accepted": not why,
            "why": why,
        }
    )


def _lay_out(
    lines: Sequence[CaptionLine],
    atoms: Sequence[_Atom],
    kept: dict[int, Claim],
    restored: Sequence[Claim],
) -> tuple[list[CaptionLine], list[Claim]]:
    """Lines as written if all of their claims passed; else a line for each claim that did."""
    entries: list[tuple[CaptionLine, list[Claim]]] = []
    for k, line in enumerate(lines):
        line_claims = [(j, kept.get(j)) for j, a in enumerate(atoms) if a.line == k]
        passed = [c for _, c in line_claims if c is not None]
        texts = [c.text for c in passed]
        # A line may say more than the claims it was split into; then only the claims are checked.
        if passed and len(passed) == len(line_claims) and covers(texts, line.text):
            entries.append(
                (CaptionLine(span=line.span, text=line.text, claims=tuple(texts)), passed)
            )
        else:
            entries += [(_alone(c), [c]) for c in passed]
    entries += [(_alone(c), [c]) for c in restored]
    entries.sort(key=lambda pair: (pair[0].span.start, pair[0].span.end))
    claims = [
        claim.model_copy(update={"line": k})
        for k, (_, entry_claims) in enumerate(entries)
        for claim in entry_claims
    ]
    return [line for line, _ in entries], claims


def _alone(claim: Claim) -> CaptionLine:
    return CaptionLine(span=claim.span, text=claim.text, claims=(claim.text,))


def render_caption(state: CaptionState) -> str:
    """The caption as text: supported claims are stated, uncertain ones hedged, others left out.

    What is stated is not hedged besides, and what is hedged stands once.
    """
    out = []
    rendered = [c for c in state.claims if c.standing is ClaimStatus.SUPPORTED]
    for k, line in enumerate(state.lines):
        claims = [c for c in state.claims if c.line == k]
        when = f"[{format_span(_rounded(line.span))}] "
        if claims and all(c.standing is ClaimStatus.SUPPORTED for c in claims):
            out.append(when + line.text)
            continue
        for claim in claims:
            if claim.standing is ClaimStatus.SUPPORTED:
                out.append(when + claim.text)
            elif claim.standing is ClaimStatus.UNCERTAIN and not any(
                _repeats(claim, other) for other in rendered
            ):
                out.append(f"{when}{_HEDGE}{_hedgeless(claim.text)}")
                rendered.append(claim)
    return "\n".join(out)


_HEDGE = "Not certain: "


def _hedgeless(text: str) -> str:
    """A text without the hedge that a model copied from a caption."""
    while text.casefold().startswith(_HEDGE.casefold()):
        text = text[len(_HEDGE) :]
    return text


def _repeats(claim: Claim, other: Claim) -> bool:
    """True where a claim is in the words of another of its time."""
    together = claim.span.start <= other.span.end and other.span.start <= claim.span.end
    return together and has_same_words(_hedgeless(claim.text), _hedgeless(other.text))


def render_draft(lines: Sequence[CaptionLine]) -> str:
    """A proposed caption as text, unchecked."""
    return "\n".join(f"[{format_span(_rounded(line.span))}] {line.text}" for line in lines)


def _rounded(span: Span) -> Span:
    return Span(round(span.start, 1), round(span.end, 1))
