"""What of a question asks for nothing, as it is said to us: "Can you tell me, please, ..."."""

from __future__ import annotations

import re

_MINE = r"(?:(?:all )?(?:of )?(?:the|my|our|your|these|those|this) |all )"
_MEMORY = r"(?:recordings?|videos?|clips?|footage|films?|memory|memories)"
_OURS = _MINE + _MEMORY
_VERBS = "tell|show|find|say|remind|help|give|describe|list|look|check|search|recall|remember|name"
_ASKS = r"what|where|when|who|whom|whose|which|how|why|whether|if"
_POLITE = r"(?:please|maybe|perhaps|kindly)"

_LEADS = tuple(
    re.compile(rf"^\s*(?:{lead})(?=[\s,:;]|$)[\s,:;]*(?:and )?", re.IGNORECASE)
    for lead in (
        "please|kindly|hello|hey|hi",
        rf"(?:can|could|would|will) you(?: {_POLITE})*(?= (?:{_VERBS})\b)",
        rf"(?:{_POLITE} )?you (?:could |can )?(?:know|remember|recall)(?= (?:{_ASKS})\b)",
        rf"(?:{_POLITE} )?you (?:could|can)(?= (?:{_VERBS})\b)",
        r"do you (?:happen to |still )?(?:know|remember|recall)",
        r"(?:tell|show|remind|give|help) me(?: again)?(?: (?:to )?(?:find|remember|know))?",
        r"i(?: want| need| would like|['’]?d like) to (?:know|find|find out|see|hear)",
        r"i wonder(?:ed)?|i am wondering|i['’]?m wondering",
        rf"(?:according to|based on|going by|judging by|from|in) {_OURS}",
        rf"(?:look|looking|search|searching|check|go) (?:in |into |at |through )?{_OURS}(?: for)?",
        rf"(?:do|does|did) {_OURS} (?:tell|show|say|know|hold|contain)(?: me)?(?= (?:{_ASKS})\b)",
        # "Check the oven" and "find the pan" are what people do, and are looked for.
        rf"(?:find|find out|check|recall|remember|say|describe|list|name|give)(?= (?:{_ASKS})\b)",
        r"(?:find|give|name)(?= (?:the |every |all )(?:exact |precise )?(?:moment|time|point)s?\b)",
        r"(?:describe|list)(?= (?:all|every|everything|the|my|a|an)\b)",
    )
)
_MOMENT = re.compile(
    r"^\s*(?:the |a |every |all )(?:exact |precise )?(?:moment|time|point)s? "
    r"(?:when|that|at which)\b",
    re.IGNORECASE,
)
_ASIDES = tuple(
    (re.compile(aside, re.IGNORECASE), instead)
    for aside, instead in (
        (
            r"[,\s]*\b(?:maybe|perhaps|possibly|probably|presumably|exactly|precisely|briefly|"
            r"please|by any chance|if you know|if possible)\b(?:\s*,)?",
            " ",
        ),
        (
            rf"[,\s]*\b(?:in|from|across|throughout) {_MINE}"
            r"(?:recordings|videos|clips|memories|memory)\b",
            " ",
        ),
        (r"^\s*what(?: is| was)?(?: the)? number of\b", "how many"),
    )
)
_QUOTED = re.compile(r"[\"“”„]")


def without_instructions(text: str) -> str:
    """A question without what is said to us: "Please tell me where ..." asks "where ...".

    What stands in quotation marks is left as it is, and so is a text of which nothing would remain.
    """
    if _QUOTED.search(text):
        return text
    asked, before = text, ""
    while asked != before:
        before = asked
        for lead in _LEADS:
            asked = lead.sub("", asked, count=1)
    if asked != text:
        asked = _MOMENT.sub("when", asked)
    for aside, instead in _ASIDES:
        asked = aside.sub(instead, asked)
    return asked if re.search(r"\w", asked) else text
