"""Rows of Markdown tables whose first cell names an option and whose last one judges it."""

from __future__ import annotations

import re

from egomem.answer.choice.scored_rows import parse_score

_ROW = re.compile(r"(?m)^[ \t]*\|(.+)\|[ \t]*$")
_RULE = re.compile(r"[ \t]*:?-{1,40}:?[ \t]*")
_LABEL = re.compile(r"\W{0,4}(?:option\s+)?\(?([A-Za-z0-9]{1,2})(?:[.):*\s]|$)", re.I)
_JUDGING = re.compile(
    r"scores?|prob\w*|confidence|likelihood|verdict|correct\W?|match\W?|supported\W?|fits?\W?|"
    r"judge?ment|conclusion|assessment|result|decision|rating|plausib\w*|\W*",
    re.I,
)
_MARKS = re.compile(r"[✓✔✅☑✗✘❌✖]")


def judged_rows(text: str) -> str:
    """The text with `| B | 02:11 | ✅ |` as `B ✓`, and `| B | 0.8 |` as `B: 0.8`.

    Only where each row of a table begins with another label and ends with a verdict or a score.
    """
    rows = [(match, match[1].split("|")) for match in _ROW.finditer(text)]
    heads = [i for i, (_, cells) in enumerate(rows) if all(map(_RULE.fullmatch, cells))]
    if len(heads) != 1 or heads[0] != 1:
        return text
    header, body = rows[0][1], rows[2:]
    judging = _JUDGING.fullmatch(header[-1].strip(" *")) is not None
    labels = [_LABEL.match(cells[0]) for _, cells in body]
    if len(body) < 2 or any(label is None for label in labels) or len(header) < 2:
        return text
    names = [label[1] for label in labels if label]
    verdicts = [_verdict(cells[-1].strip(" *"), judging) for _, cells in body]
    if len(set(names)) < len(names) or not all(verdicts):
        return text
    lines = [f"{name}{verdict}" for name, verdict in zip(names, verdicts, strict=True)]
    return text[: rows[0][0].start()] + "\n".join(lines) + text[body[-1][0].end() :]


def _verdict(cell: str, judging: bool) -> str:
    """` ✓`, ` ✗` or `: 0.8` for a cell; "" where it says neither."""
    if mark := _MARKS.search(cell):
        return " ✓" if mark[0] in "✓✔✅☑" else " ✗"
    score = parse_score(cell) if judging else None
    if score is None:
        return ""
    return f": {cell}" if cell[:1].isdecimal() else " ✓" if score else " ✗"
