"""What counts as abstained or refused: the phrases by which a reply gives no answer.

Each line is a regular expression over a folded reply; an indented line continues the one before it.
An answer that is stated beside such a phrase still counts as an answer (see `read`).
"""

from __future__ import annotations

import re

from egomem.answer.choice.tokens import fold

_ABSTENTIONS = r"""
(?:do|does|did|is|are|was|were|can|could)(?:n't| not) (?:\w+ ){0,3}(?:know|sure|certain|
   mention|mentioned|say|state|stated|specify|specified|show|shown|contain|provide|provided|
   indicate|reveal|clear|visible|possible|enough|sufficient|conclusive|answerable|determined|
   known)
(?:can|could)(?:not|'t| not) (?:\w+ ){0,3}(?:tell|told|determine|determined|answer|answered|
   say|said|see|seen|decide|decided|know|known|choose|infer|inferred|conclude|concluded|
   identify|established)
(?:unable|impossible|not able|not possible) to (?:\w+ )?(?:tell|determine|answer|say|decide|
   know|choose|see|infer)
(?:not enough|insufficient|no|lacking|lack of|too little) (?:\w+ ){0,2}(?:information|
   evidence|context|data|detail|details|captions?|frames?)
no evidence (?:\w+ ){0,3}(?:for|of|supporting) (?:any|either|these|the options)
no (?:option|answer|choice) (?:is|can be) (?:\w+ )?(?:supported|confirmed|verified|determined|
   established)
(?:i am|i'm) (?:not sure|unsure|uncertain)
(?:notes?|captions?|frames?|video|evidence|this|it) (?:is|are) (?:unclear|ambiguous|
   inconclusive|insufficient)
(?:notes?|captions?|frames?|video|recording) (?:is|are) silent
no way (?:of (?:knowing|telling)|to (?:know|tell|say))|\bno idea\b
nothing (?:\w+ ){0,5}?(?:shows?|says?|indicates?|mentions?|suggests?|reveals?|tells?|states?)
(?:never|nowhere) (?:\w+ )?(?:mention(?:s|ed)?|says?|said|shows?|shown|states?|stated|
   specif(?:y|ies|ied)|described?)
not (?:\w+ )?(?:covered|recorded|captured|described|documented|addressed|noted|found|
   available) (?:by|in|within|from)
^\W{0,40}not (?:recorded|in (?:the )?(?:memory|recording|notes?|captions?)|available|known|stated|
   mentioned|shown|visible)\W{0,40}$
can(?:not|'t| not) (?:watch|view|access|open|process) (?:\w+ ){0,2}(?:videos?|images?|
   frames?|recordings?|media)
none of (?:the |these |those )?(?:above|options|choices|answers|them|these)
no (?:correct |matching |valid )?(?:option|answer|choice)s? (?:is|are|fits?|match(?:es)?|applies)
\bunanswerable\b|\bundetermined\b|\bundeterminable\b|\binconclusive\b|\bn/a\b
^\W{0,40}(?:unknown|none|null|na|unclear|unsure|uncertain|no answer|i abstain|abstain|
   abstained)\W{0,40}$
answer\W+(?:is\W+)?(?:unknown|none|null|n/a|unclear|not given)\b
(?:lässt|lasst) sich (?:\w+ ){0,6}?nicht (?:\w+ )*(?:sagen|bestimmen|beantworten|beurteilen|
   erkennen|feststellen|ermitteln)|geht (?:\w+ ){0,6}?nicht hervor|dazu steht nichts|
   nicht (?:zu )?(?:sehen|ersichtlich|
   feststellbar|erkennbar)|keine angaben?|
   weiß (?:ich )?(?:es )?nicht|weiss (?:ich )?(?:es )?nicht|nicht (?:zu )?(?:bestimmen|erkennen
   |beantworten)|keine (?:der )?(?:antwort|option|angabe|information)
ne sais pas|impossible (?:de|a) (?:dire|savoir|determiner)|ne permet(?:tent)? pas (?:de|d')|
   rien ne (?:l'|le |la )?(?:indique|montre|dit|precise|permet)|(?:n'est|ne sont) pas (?:
   mentionne|precise|indique|montre|visible)|ne (?:le )?(?:disent|dit|precisent?|
   mentionnent?) pas|aucune (?:des )?(?:reponses?|options?)|
   pas assez d'informations?
no (?:lo )?se\b|no se puede (?:saber|determinar|responder)|ninguna de las|no hay (?:\w+ )?(?:
   suficiente|informacion|datos|evidencia)|no se (?:menciona|indica|ve|muestra|especifica)|
   no (?:lo )?(?:dicen|indican|mencionan)
nao sei|nao e possivel (?:saber|determinar|responder)|nenhuma das
non (?:lo )?so\b|non e possibile (?:dire|determinare|stabilire)|nessuna delle
не знаю|невозможно (?:определить|сказать|ответить)|нельзя (?:определить|сказать)|
   недостаточно (?:информации|данных)
bilmiyorum|belirlenemez|yeterli bilgi yok
لا أعرف|لا أعلم|لا يمكن (?:تحديد|معرفة)
पता नहीं|नहीं पता|khong biet|không biết|không thể xác định|tidak tahu|tidak dapat ditentukan
(?:无法|無法|难以|難以|不能|没法|沒法)[^。！？，,\n]{0,14}?(?:确定|確定|判断|判斷|判定|回答|得知|看出|知道|推断|推斷|辨认|看清|查看|观看|看到|获知|分辨|确认|確認)
不知道|不确定|不確定|不清楚|不明确|不得而知|看不出|看不到|看不清|未提及|未提到|未提供|未显示|未说明|未顯示
(?:没有|沒有|并未|並未|没|未)[^。！？，,\n]{0,6}?(?:足够|足夠|提到|提及|提供|显示|顯示|说明|說明|描述|记录|記錄|相关|相關|出现)
以上(?:选项|答案|各项)?(?:都|皆|均|全)(?:部)?(?:不|错|没|无)
不足以(?:判断|确定|回答|得出)|没有(?:任何|一个|哪个)?(?:选项|答案)(?:是|为)?(?:正确|符合|对)
信息(?:不足|不够)|資訊不足|资料不足|证据不足
わかりません|分かりません|わからない|分からない|(?:判断|特定|確認|回答)(?:は)?(?:でき(?:ません|ない)|不能)|不明(?:です|だ|である|$)|情報が(?:不足|足り)|映っていない|記載(?:が|は)?(?:ない|ありません)
알 수 없|모르겠|판단할 수 없|정보가 (?:부족|없)
"""

_REFUSALS = r"""
(?:can|could)(?:not|'t| not) (?:help|assist|comply|fulfil|fulfill|support|participate|engage
   |process|provide (?:that|this|assistance))
(?:can|could)(?:not|'t| not) (?:identify|recognise|recognize) (?:\w+ ){0,2}(?:people|
   persons?|individuals?|faces?|anyone|someone|who)
(?:unable|not able) to (?:help|assist|comply|identify|recognise|recognize|process)
(?:won't|will not|refuse to|decline to|must decline) (?:\w+ ){0,1}(?:answer|help|assist|
   comply|identify|do|respond)
person's identity|identity of (?:\w+ ){0,2}(?:person|individual|people)
(?:violate|violates|against) (?:\w+ ){0,3}(?:privacy|policy|policies|guidelines)
kann (?:ich )?(?:dabei |dir |ihnen |leider )*nicht (?:helfen|behilflich|weiterhelfen)|nicht helfen
(?:ne peux pas|ne suis pas en mesure de|ne puis) (?:\w+ )?(?:aider|repondre a cette demande)
no puedo (?:ayudar|asistir)|nao posso (?:ajudar|ajuda-lo)|non posso (?:aiutare|assistere)|
   не могу (?:помочь|выполнить)
(?:无法|不能|無法)(?:协助|提供帮助|帮助|協助|满足)
(?:お手伝い|お答え|支援)(?:でき|いたしかね)|(?:도와드릴|도울) 수 없
"""


def _phrase_pattern(lines: str) -> re.Pattern[str]:
    """One pattern out of lines of patterns, folded; an indented line goes on the one before it."""
    whole = re.sub(r"\n {2,}", "", lines.strip()).splitlines()
    return re.compile("|".join(f"(?:{_fold_pattern(line)})" for line in whole), re.MULTILINE)


def _fold_pattern(line: str) -> str:
    """Fold the letters of a pattern and leave its escapes (`\\b`, `\\W`) as they are."""
    return "".join(
        part if part.startswith("\\") else fold(part) for part in re.split(r"(\\.)", line)
    )


ABSTENTION = _phrase_pattern(_ABSTENTIONS)
"""The reply says that the answer cannot be told."""

REFUSAL = _phrase_pattern(_REFUSALS)
"""The model declines to answer."""
