"""The patterns of statements, over a reply in which private-use characters stand for mentions."""

from __future__ import annotations

import re

from egomem.answer.choice import words
from egomem.answer.choice.mentions import LABEL, MENTION, TEXT
from egomem.answer.choice.words import word_pattern

# -- pieces -----------------------------------------------------------------------------------
GAP = r"[\s:：=—–\"'(\[{<>→|,\]】」-]"
JOIN = (
    rf"(?:\s*[,/&+、，|]\s*(?:{word_pattern(words.CONJUNCTIONS)})?\s*|\s*{word_pattern(words.CONJUNCTIONS)}\s*)"
    rf"(?:{word_pattern(['option', 'either', '选项'])}\s*)?"
)
# A label with its own text beside it, "B (a mug)" or "a mug (B)", is one mention of one option.
ATTACHED = (
    rf"(?:(?<={LABEL})[ .):：,\-–—(\"'\]]{{0,4}}(?=[(\[\"']*{TEXT})"
    rf"|(?<={TEXT})[\"']? ?(?=[(\[]{LABEL}))"
)
MORE = rf"(?:(?:{JOIN}|{ATTACHED})[(\[\"']{{0,4}}{MENTION}){{0,40}}"
# Atomic: a group never gives mentions back, so that "B or C" cannot be read as "B".
GROUP = rf"(?P<group>(?>[(\[{{\"'<]{{0,4}}{MENTION}{MORE}))"
# What may stand between a cue and its option; negators too, for "the answer is not B".
FILLER = (
    rf"(?:{GAP}|…|{word_pattern([*words.FILLERS, 'either', 'both'])}"
    rf"|{word_pattern(words.NEGATORS)}|'t)"
)
CUES = word_pattern(words.ANSWER_NOUNS + words.CHOOSING_VERBS + words.RIGHT_OPTION_CUES)

# -- statements -------------------------------------------------------------------------------

# "The answer is B", "I choose B".
CUED = re.compile(rf"(?P<cue>{CUES}){FILLER}{{0,24}}?{GROUP}")
# "Between B and C, I choose C": final, as it weighs the two.
CUED_BETWEEN = re.compile(
    rf"{word_pattern(['between'])}\s+{MENTION}{JOIN}{MENTION}[^.!?\n]{{0,40}}?{CUES}\s+{GROUP}"
)
PREDICATE = (
    rf"(?:{word_pattern(words.PREDICATE_FILLERS)}|{word_pattern(words.NEGATORS)}"
    r"|n't|[\s:：|.)\]\"'>=–—-])"
)
# "Right" is also a side: "the right hand", "right next to".
NOT_SPATIAL = r"(?!\s+(?:next|now|there|here|hand|side|after|before)\b)"
RIGHT = (
    rf"(?:{word_pattern(words.AFFIRMING_PHRASES)}{NOT_SPATIAL}"
    rf"|{word_pattern(words.AFFIRMATIONS)}{NOT_SPATIAL}(?!\s+(?:answer|option|choice)\b))"
)
WRONG = word_pattern(words.REJECTIONS)
# "B is correct", "B can be ruled out".
JUDGED = re.compile(
    rf"{GROUP}(?P<between>{PREDICATE}{{0,12}}?)"
    rf"(?:(?P<right>{RIGHT})|(?P<wrong>{WRONG}))"
)
EVERY_OPTION = ["everything", "all", "every option", "each option", "all options", "any option"]
# "All options except B are wrong".
ALL_BUT = re.compile(
    rf"{word_pattern(EVERY_OPTION)}"
    rf"\s+(?:{word_pattern(['options', 'others'])}\s+)?"
    rf"{word_pattern(['except', 'but', 'other than', 'apart from', 'besides'])}\s+{GROUP}"
    rf"[^.\n]{{0,20}}?{WRONG}"
)
# "Only B fits".
ONLY_FITS = re.compile(rf"{word_pattern(['only'])}\s+{GROUP}\s+\w+")
# "I think B", "so B".
GUESSED = re.compile(rf"{word_pattern(words.GUESS_CUES)}{FILLER}{{0,10}}?{GROUP}")
# "C is more likely", "with B being the better fit", "more likely C".
_MORE = r"(?:(?:by\s+far\s+)?(?:the\s+)?(?:more|most|much\s+more|far\s+more|rather\s+more)\s+)"
_LIKELY = r"(?:likely|probable|probably|plausible|plausibly|consistent|convincing|fitting)"
_STRONGER = (
    r"(?:the\s+)?(?:likelier|likeliest|better|best|stronger|strongest|closer|closest)"
    r"(?:\s+(?:fit|match|candidate|option|choice|answer|one|supported))?(?!\w)"
)
_SEEMS = (
    r"(?:\s*[,)]?\s*(?:is|seems|appears|looks|being|as|to\s+be|feels|sounds|would\s+be|的|是))"
    r"{1,3}\s+"
)
PREFERRED = re.compile(
    rf"(?P<group>{MENTION}){_SEEMS}(?:{_MORE}{_LIKELY}|{_STRONGER})"
    r"(?!\s+to\b)"
)
PREFERRED_AFTER = re.compile(
    rf"(?:{_MORE}{_LIKELY}|"
    rf"{word_pattern(['更可能', '更有可能', '最可能', '很可能', '应该', 'am ehesten', 'eher'])}|"
    rf"(?<={MENTION}[,;])\s*(?:probably|likely|rather|presumably))"
    rf"(?:\s|is|it|the|option|answer|to|be|would|,|:|是|为|选)*(?P<group>{MENTION})"
    r"(?!\s*than\b)"
)
_PROBABLY = word_pattern(["probably", "most likely", "likely", "presumably"])
_POSSIBLY = word_pattern(["possibly", "perhaps", "maybe", "less likely", "or maybe"])
PROBABLY_BEFORE_POSSIBLY = re.compile(
    rf"{_PROBABLY}[\s,]*(?:it\s+is\s+)?(?P<group>{MENTION})[^.!?\n]{{0,12}}?{_POSSIBLY}[\s,]*{MENTION}"
)
# "the ladder, option B, although ...", "the hose (option C)".
NAMED_OPTION = re.compile(
    rf"(?:[,(–—-]|\bis|\bto)\s*(?:which\s+(?:is|matches|corresponds\s+to)\s+|i\.?e\.?,?\s+|so\s+)?"
    rf"{word_pattern(['option', 'choice'])}\s*{GROUP}(?=\s*[,.;):–—-]|\s*$)"
)
# "B is less likely than C".
LESS_LIKELY_THAN = re.compile(
    rf"{MENTION}{_SEEMS}(?:less|not\s+as|not\s+so)\s+{_LIKELY}\s+(?:than|as)\s+(?P<group>{MENTION})"
)
# "I prefer B over C".
RATHER_THAN = re.compile(
    rf"(?:lean(?:s|ing)?(?:\s+towards?)?|prefer(?:ring)?|favou?r(?:ing)?|choose|pick|likely|with)"
    rf"\s+(?:option\s+)?(?P<group>{MENTION})\s+(?:over|than|rather\s+than)\s+(?:option\s+)?{MENTION}"
)
BETTER_IN_CHINESE = re.compile(
    rf"(?P<group>{MENTION})\s*更加?(?:合理|合适|可能|有可能|符合|准确|接近|恰当)"
)
# "My first answer was D": no longer so.
FORMER = re.compile(
    r"(?<!\w)(?:initial|initially|earlier|previous|previously|original|originally|preliminary)\s+"
    r"(?:\w+\s+)?$"
)
# A question that leaves the answer open, from its beginning to its mark.
QUESTION = re.compile(
    r"(?:\s*(?:is|could|would|should|might)\b[^.!?\n]*[?]|[^。！？.!?\n]*(?:还是|吗|難道|难道)[^。！？.!?\n]*[?？])"
)
# "Between C and D, D fits better".
BETTER_OF_TWO = re.compile(
    rf"{word_pattern(['between'])}\s+{MENTION}{JOIN}{MENTION}\s*[,:]\s*(?P<group>{MENTION})\s+"
    r"(?:fits|is|seems|looks|matches|has|makes|wins)(?!\w)"
)
# "rope (D)".
BRACKETED_END = re.compile(rf"(?m)\w\s*[(\[](?P<group>{MENTION})[)\]][\s.!]*$")
# "Option A, the bucket, because ...": the reply begins with it.
OPENING_OPTION = re.compile(rf"\A\W*{word_pattern(['option', 'choice'])}\s*{GROUP}\s*[,:–—-]")
# "... → B" ends a chain of thought.
ARROW_END = re.compile(rf"(?m)(?<!{LABEL})(?<!{LABEL} )→\s*{GROUP}[\s.!)]*$")
# "Answer: E": an answer is named, and it is no option.
NO_OPTION = re.compile(
    rf"(?:{word_pattern(['answer', 'choice', '答案', 'antwort', 'respuesta', 'réponse'])})"
    rf"\s*(?:{word_pattern(['is', 'ist', 'es', 'est'])}|[:：=]|是|为)\s*(?:option\s+)?[\"'(\[]*"
    r"(?P<label>[b-hj-z]|\d{1,2})[\"')\]]*(?=\s*(?:$|[.,;!\n]))"
)
# A line that is nothing but an option.
LINE = re.compile(
    rf"(?m)^(?P<line>[\s#\"'(\[{{<>|→✅✓>=-]{{0,40}}"
    rf"(?:{word_pattern(words.LABEL_PREFIXES)}[\s.]*)*"
    rf"{GROUP}[\s.!)\]}}\"'>|:,;✅。，．!-]*)$"
)
# An option at the start of a line, which may be an answer or an entry of a list.
HEAD = re.compile(
    rf"(?m)^[\s\"'(\[{{<>|→-]*(?:{word_pattern(['option'])}\s*)?{GROUP}(?P<sep>[\s.():：,\-–—|\"'。，]*)(?P<next>\w*)"
)
SO = word_pattern(["so", "no", "hence", "thus", "therefore", "rather"])
THEN = word_pattern(["so", "no", "then", "hence", "thus", "therefore", "rather"])
# A clause that is nothing but an option: "Hmm. B.", "..., so B."
CLAUSE = re.compile(
    rf"(?:^|[.!?。！？;:；…]\s*|(?<!{MENTION})[,，]\s*|[,，]\s*(?={SO}))"
    rf"(?:(?:{THEN}|{word_pattern(['option'])})[\s,]*)*"
    rf"{GROUP}(?=[\s\"')\]]*(?:[.!?。！？]|$|,\s*i\s|\n))"
)
# -- rankings and scores ----------------------------------------------------------------------

# "B > C > A".
RANKED = re.compile(rf"{MENTION}(?:\s*(?:>|≻|»)\s*{MENTION}){{1,40}}")
RANKING = re.compile(
    rf"(?:{word_pattern(['ranking', 'ranked', 'order', 'rank'])})"
    rf"[^\n\U000f0000-\U000ffffd]{{0,40}}?"
    rf"(?P<list>(?:[\s,;>]*(?:\d[.):]\s*)?{MENTION}){{1,40}})"
)
# "A: 0.1", "B = 70 %".
SCORED = re.compile(
    rf"(?P<one>{MENTION})(?:[\s.):]*{MENTION})?\s*[:=–—-]\s*(?P<number>-?\d+(?:[.,]\d+)?)\s*(?P<unit>%?)(?![\w:])"
)
# "A 10%", "B (85%)".
SHARED_OUT = re.compile(
    rf"(?P<one>{MENTION})[\s)]*[(:=]?\s*(?P<number>\d+(?:[.,]\d+)?)\s*(?:%|percent|per cent)"
)
# "10% A", "a 70 percent chance that it is A".
SHARE_FIRST = re.compile(
    r"(?<!\d)(?P<number>\d+(?:[.,]\d+)?)\s*(?:%|percent|per cent)"
    rf"(?:\s*(?:chance|probability|likelihood|confidence|confident|sure|certain|that|it|is|for|of|in|the|"
    rf"answer|option|:))*\s*(?P<one>{MENTION})"
)
# "Scores: A 2, B 9", "Probabilities - A 0.05, B 0.80".
RATED_LIST = re.compile(
    rf"{word_pattern(['scores', 'score', 'probabilities', 'confidence', 'ratings', 'likelihoods'])}"
    rf"\s*[:\-–—=]*\s*(?P<list>(?:[\s,;|]*{MENTION}\s*[:=]?\s*\d+(?:[.,]\d+)?(?!\s*[%\w])){{2,40}})"
)
RATED = re.compile(rf"(?P<one>{MENTION})\s*[:=]?\s*(?P<number>\d+(?:[.,]\d+)?)")
# "A: 3/10, B: 8/10".
OUT_OF = re.compile(
    rf"(?P<one>{MENTION})\s*[:=]?\s*(?P<number>\d+(?:\.\d+)?)\s*/\s*(?P<whole>\d+)(?!\d)"
)
# -- the words around a statement -------------------------------------------------------------

# "or maybe C".
HEDGE = re.compile(rf"{word_pattern(words.HEDGES)}\W+(?:\w+\s+){{0,3}}?(?P<one>{MENTION})")
NEGATOR = re.compile(word_pattern(words.NEGATORS, start=True) + r"|n't(?!\w)")
NEGATED_AFTER = re.compile(rf"\s*{word_pattern(words.POSTPOSED_NEGATORS)}")
CLAUSE_BREAK = re.compile(rf"[.!?;:\n。！？；,，、]|{word_pattern(words.NEGATION_SCOPE_ENDS)}")
ANY_MENTION = re.compile(MENTION)
HEAD_CONTINUATIONS = (words.CAUSAL_WORDS - {"is"}) | {
    "but",
    "not",
    "rather",
    "instead",
    "fits",
    "matches",
}
"""Words by which a label at the start of a line is a choice: `B because ...`; not `B is ...`."""
# What ends a mention that no cue announces: a sign, a conjunction, another script.
BOUND_AFTER = re.compile(
    rf"[\s\"')\]]*(?:$|[.,;:!?。，！？；、\n]|{word_pattern([*words.CONTINUATIONS])})|[^\x00-\u024f]"
)
# -- a reply that was cut off -----------------------------------------------------------------

OPEN_CUE = re.compile(rf"{CUES}(?:{GAP}|{word_pattern(words.FILLERS)}){{0,24}}$")
OPEN_END = re.compile(
    rf"(?:{word_pattern(['is', 'be', 'option', 'likely', 'the', 'ist', 'es', 'est', 'é'])}"
    r"|[:：=]|是|は)"
    r"[\s\"'({\[]*$"
)
FIRST_MENTION_CHAR = "\U000f0000"
