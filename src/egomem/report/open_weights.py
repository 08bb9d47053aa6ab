"""Whether a model's weights are published, by a table of model families that a user can overrule.

`open` is what anyone can download, under any licence. Only the name of the model counts, not its
server: one's own machine may hold weights that nobody else has, and a maker of closed models may
serve open ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from egomem.errors import UsageError
from egomem.models import ModelSpec

OPEN, CLOSED, UNKNOWN = "open", "closed", "not known"

FAMILIES: dict[str, tuple[str, ...]] = {
    CLOSED: (
        r"(chat)?gpt-?(3\.5|4|5)", r"^o[134](?![a-z0-9])", r"claude", r"gemini",
        r"grok-[3-9]", r"nova(-2)?-(micro|lite|pro|premier)", r"doubao", r"moonshot-v1",
        r"(qwen|qwq|qvq)[a-z0-9.-]*-(max|plus|turbo|flash)", r"mistral-medium-3(\.1)?(?![\d.])",
        r"magistral-medium",
    ),
    OPEN: (
        r"gpt-oss", r"gemma", r"paligemma", r"llama-?[234]", r"(video-?)?llama-?[23]", r"llava",
        r"vicuna", r"(qwen|qwq|qvq)[a-z0-9.-]*[-:]\d+(\.\d+)?b", r"internvl", r"internlm",
        r"minicpm", r"molmo", r"olmo", r"smolvlm", r"smollm", r"phi-?[234]", r"deepseek",
        r"kimi-(k2|vl)", r"glm-4\.(1v|5v?|6v?|7)(-air)?(?![a-z0-9.]|-)", r"mixtral",
        r"mistral-(7b|nemo|large-(instruct-)?(2407|2411|2512))", r"ministral-(3-)?\d+b",
        r"pixtral-(12b|large-2411)", r"(magistral|devstral)-small", r"command-[ar]",
        r"aya-(expanse|vision)", r"granite-[34v]", r"nemotron", r"nvila", r"idefics", r"longva",
        r"cogvlm", r"moondream", r"ovis", r"egogpt",
    ),
}  # fmt: skip
"""Patterns of family names, matched from the start of a word. Of Qwen, the names with a size are
published, those with a grade (max, plus) are not."""

_PATTERNS = {
    kind: re.compile("|".join(f"(?<![a-z0-9])(?:{pattern})" for pattern in patterns))
    for kind, patterns in FAMILIES.items()
}


def weights_of(spec: str) -> str:
    """`open`, `closed`, or `not known`: for a name in no family, or in families of both kinds."""
    name = ModelSpec.parse(spec).model.lower().rpartition("/")[2]
    kinds = [kind for kind, pattern in _PATTERNS.items() if pattern.search(name)]
    return kinds[0] if len(kinds) == 1 else UNKNOWN


def classify_weights(
    specs: Iterable[str], open: Sequence[str] = (), closed: Sequence[str] = ()
) -> dict[str, str]:
    """The weights of each model, by its spec.

    `open` and `closed` overrule the table, by a model's name with or without its server. Raises
    UsageError for a name that is none of the models, or that is stated to be both.
    """
    by_table = {spec: weights_of(spec) for spec in specs}
    stated: dict[str, str] = {}
    for kind, names in ((OPEN, open), (CLOSED, closed)):
        for name in names:
            matches = [s for s in by_table if name in (s, ModelSpec.parse(s).model)]
            if not matches:
                readers = ", ".join(by_table) or "none"
                raise UsageError(
                    f"--{kind} {name}: no reader has that name", f"the readers are: {readers}"
                )
            for spec in matches:
                if stated.setdefault(spec, kind) != kind:
                    raise UsageError(f"{name} is stated to be both open and closed")
    return by_table | stated
