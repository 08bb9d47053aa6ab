"""The words that carry a choice: cues, fillers, verdicts, negations, abstentions, refusals.

Each list is one idea in the languages that readers meet; adding a language is adding words. Words
are folded as replies are (case, and the accents of Latin letters), so they are written as usual.
Short function words stand only where a language needs them.
"""

from __future__ import annotations

import re

from egomem.answer.choice.tokens import fold, is_spaced


def _word_list(text: str) -> list[str]:
    return text.split()


ANSWER_NOUNS = _word_list("""
answer ans choice selection prediction verdict solution pick response guess
antwort lösung réponse reponse solution respuesta solución resposta risposta soluzione
alternativa antwoord svar svaret vastaus odpowiedź odpověď odpoveď válasz răspuns răspunsul
απάντηση ответ відповідь отговор odgovor одговор cevap cevabı yanıt
الإجابة الاجابة الجواب إجابة اجابة جواب תשובה התשובה پاسخ جواب گزینه
उत्तर जवाब উত্তর பதில் விடை సమాధానం คำตอบ ตอบ đáp|án câu|trả|lời jawaban jawabannya jawapan
jibu|ni jibu sagot
答案 答え 正解 回答 解答 정답 답
""")

CHOOSING_VERBS = _word_list("""
choose chose choosing pick picked select selected go|with going|with went|with opt|for vote|for
settle|on answer|with conclude lean|towards lean|toward leaning|towards leaning|toward wähle nehme
choisis elijo escolho scelgo kies väljer vælger velger
wybieram volím выбираю обираю seçiyorum chọn 选择 選擇 选 選
""")

RIGHT_OPTION_CUES = _word_list("""
correct|option best-supported|option supported|option juiste|optie सही|विकल्प
rätt|alternativ doğru|seçenek doğru|şık correct|option right|option best|option selected|option
chosen|option
likely|option matching|option
correct|one right|one best|one final: conclusion: decision: result: output:
correct|letter right|letter chosen|letter richtige|option korrekte|option bonne|option
opción|correcta opção|correta opzione|corretta правильный|вариант верный|вариант
правильним|варіантом richtig|ist korrekt|ist option: choice:
""")
"""`option` is a cue only where it is called the right one; not in "option C would need ..."."""

FINALITY_WORDS = _word_list(
    "final endgültig finale final endgültige definitiva final итоговый окончательный 最终 最終 최종"
)

FILLERS = _word_list("""
is are was be been would should must will can may might seems seem appears appear looks like to
the
that it its i i'd i'm option choice letter number answer label thus therefore hence then so
clearly
most more likely probably definitely certainly surely best correct right true final only indeed
simply just my this of question here has have single one following
ist lautet wäre muss sein die der das daher also somit richtige korrekte antwort buchstabe
est serait doit être la le l les bonne juste correcte réponse lettre c
es el los seria sería debe ser correcta correcto opción letra respuesta
é a o correta alternativa opção resposta è corretta giusta lettera opzione risposta
het de juiste optie antwoord är rätt er riktig riktige svar to jest poprawna prawidłowa je správná
on oikea это правильный верный вариант ответ под буквой це правильна az helyes corect este válasz
doğru olan şık هي هو الصحيحة الصحيح الخيار היא הוא הנכונה صحیح است گزینه
सही है विकल्प সঠিক হল উত্তর คือ ข้อ ที่ถูกต้อง đúng là đáp án adalah yang benar ni sahihi ay ang
tamang
η είναι σωστή απάντηση
是 为 為 选 選 项 項 应 應 该 該 正 确 確 的 は が を 選 択 肢 番 号 答 案 은 는 이 가 선 택 지
""")

GUESS_CUES = _word_list("""
i|think i|guess i|believe i'd|say i|would|say definitely certainly clearly surely probably maybe
perhaps likely presumably therefore
thus hence so it|is it's it|must|be it|should|be it|could|be it|may|be it|might|be that|is
matches matching corresponds|to points|to supports favour favor favours favors leaves leaving
namely i.e.
daher somit donc alors così quindi portanto entonces 所以 因此 故 应该是 應該是 应是
c'est es è é jest это on är er
""")

AFFIRMATIONS = _word_list("""
correct right true fits supported plausible likely yes
richtig korrekt correcta correcto correcte juste vraie corretta giusta correta certa juist rätt
riktig správně poprawna правильно правильный верно верный вірно doğru صحيح صحيحة נכון सही đúng
benar
正确 正確 对 對 正しい 正解 選び 選択し 정답 맞 선택하 고르
✓ ✔ ✅ ☑
""")

AFFIRMING_PHRASES = _word_list("""
the|answer the|correct the|right the|best the|only the|most my|answer my|choice my|best my|guess
it|is stands|out what|the consistent|with best|fits best|matches the|one|that matches
die|richtige la|bonne
la|correcta
""")

LABEL_PREFIXES = _word_list("""
the option choice letter number la le die letra lettre lettera opción opzione option alternativa
réponse buchstabe 选项 选择 選択肢 선택지 вариант
""")
"""What may stand before a label that is a line of its own."""

REJECTIONS = _word_list("""
wrong incorrect false contradicted disproved refuted ruled eliminated excluded impossible
unsupported rejected no
falsch inkorrekt incorrecta incorrecto fausse faux sbagliata scorretta errada incorreta onjuist
fout
fel feil błędna неверно неверный неправильно yanlış خطأ गलत sai salah
错 錯 错误 錯誤 不正确 不正確 不对 不對 間違 違う 違い 誤り 오답 틀
✗ ✘ ❌ ✖ ×
""")

PREDICATE_FILLERS = _word_list("""
is are was be can could must may seems to therefore thus also both all and so hence simply just by
option only then not never
ist sind est es è é son sono jest это är er isn't aren't wasn't can't cannot couldn't out of
が は も を 가 는 이 를 을 是 也 都 明显 显然
""")

NEGATORS = _word_list("""
not n't cannot never neither nor no without except unlike eliminate eliminates eliminated
eliminating exclude excludes excluding reject rejects discard instead|of rather|than rule|out
rules|out ruling|out
nicht kein keine weder noch statt pas ni no não nem non né niet geen inte ikke nie ani nor не ни
ні
ليس ليست לא नहीं không bukan tidak 不是 并非 並非 不 非 排除
""")

POSTPOSED_NEGATORS = _word_list("ではな じゃな でな 가|아니 이|아니 는|아니 은|아니 değil नहीं")

NEGATION_SCOPE_ENDS = _word_list(
    "but sondern sino mais ma aber jedoch но а however while whereas because since 而是 而"
)

CAUSAL_WORDS = frozenset(
    _word_list(
        "because since as based given considering due per with is denn weil porque perché parce car"
    )
)
CONTINUATIONS = CAUSAL_WORDS | frozenset(
    _word_list(
        "was would must should seems or nor and und oder et ou i y o e but if from at here which "
        "it fits matches not rather instead over"
    )
)
"""Words that may follow a label that is also a word ("A because ..."), and show that it is none."""

CONJUNCTIONS = _word_list("""
and or nor und oder et ou y o e ed og och eller en of i lub nebo и или і або ve veya hoặc và dan
atau
 و أو या और 和 或 或者 及 与 與 と や または 및 또는 와 과 plus versus vs
""")

HEDGES = _word_list(
    "or maybe possibly perhaps alternatively oder vielleicht peut-être quizás talvez forse"
)

RETRACTIONS = _word_list("""
wait actually correction no scratch rather oops hmm second|thought closer|look reconsidering
moment hold|on nein doch warte attends espera 不对 等等
""")

ABSTENTIONS = r"""
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
(?:i am|i'm) (?:not sure|unsure|uncertain)
(?:notes?|captions?|frames?|video|evidence|this|it) (?:is|are) (?:unclear|ambiguous|
   inconclusive|insufficient)
no way of (?:knowing|telling)|\bno idea\b
can(?:not|'t| not) (?:watch|view|access|open|process) (?:\w+ ){0,2}(?:videos?|images?|
   frames?|recordings?|media)
none of (?:the |these |those )?(?:above|options|choices|answers|them|these)
no (?:correct |matching |valid )?(?:option|answer|choice)s? (?:is|are|fits?|match(?:es)?|applies)
\bunanswerable\b|\bundetermined\b|\bundeterminable\b|\binconclusive\b|\bn/a\b
^\W*(?:unknown|none|null|na|unclear|unsure|uncertain|no answer|i abstain|abstain|abstained)\W*$
answer\W+(?:is\W+)?(?:unknown|none|null|n/a|unclear|not given)\b
(?:lässt|lasst) sich nicht (?:\w+ )*(?:sagen|bestimmen|beantworten)|
   weiß (?:ich )?(?:es )?nicht|weiss (?:ich )?(?:es )?nicht|nicht (?:zu )?(?:bestimmen|erkennen
   |beantworten)|keine (?:der )?(?:antwort|option|angabe|information)
ne sais pas|impossible de (?:dire|savoir|determiner)|aucune (?:des )?(?:reponses?|options?)|
   pas assez d'informations?
no (?:lo )?se\b|no se puede (?:saber|determinar|responder)|ninguna de las|no hay suficiente
nao sei|nao e possivel (?:saber|determinar|responder)|nenhuma das
non (?:lo )?so\b|non e possibile (?:dire|determinare|stabilire)|nessuna delle
не знаю|невозможно (?:определить|сказать|ответить)|нельзя (?:определить|сказать)|
   недостаточно (?:информации|данных)
bilmiyorum|belirlenemez|yeterli bilgi yok
لا أعرف|لا أعلم|لا يمكن (?:تحديد|معرفة)
पता नहीं|नहीं पता|khong biet|không biết|không thể xác định|tidak tahu|tidak dapat ditentukan
无法(?:确定|判断|回答|得知|看出)|無法(?:確定|判斷|回答)|不知道|不确定|不確定|没有(?:足够|提到)|信息不足
わかりません|分かりません|わからない|判断できません|特定できません|情報が(?:不足|足り)
알 수 없|모르겠|판단할 수 없|정보가 (?:부족|없)
"""

REFUSALS = r"""
(?:can|could)(?:not|'t| not) (?:help|assist|comply|fulfil|fulfill|support|participate|engage
   |process|provide (?:that|this|assistance))
(?:can|could)(?:not|'t| not) (?:identify|recognise|recognize) (?:\w+ ){0,2}(?:people|
   persons?|individuals?|faces?|anyone|someone|who)
(?:unable|not able) to (?:help|assist|comply|identify|recognise|recognize|process)
(?:won't|will not|refuse to|decline to|must decline) (?:\w+ ){0,1}(?:answer|help|assist|
   comply|identify|do|respond)?
person's identity|identity of (?:\w+ ){0,2}(?:person|individual|people)
(?:violate|violates|against) (?:\w+ ){0,3}(?:privacy|policy|policies|guidelines)
kann (?:ich )?(?:dabei |dir |ihnen |leider )*nicht (?:helfen|behilflich|weiterhelfen)|nicht helfen
(?:ne peux pas|ne suis pas en mesure de|ne puis) (?:\w+ )?(?:aider|repondre a cette demande)
no puedo (?:ayudar|asistir)|nao posso (?:ajudar|ajuda-lo)|non posso (?:aiutare|assistere)|
   не могу (?:помочь|выполнить)
(?:无法|不能|無法)(?:协助|提供帮助|帮助|協助|满足)
(?:お手伝い|お答え|支援)(?:でき|いたしかね)|(?:도와드릴|도울) 수 없
"""


def word_pattern(words: list[str], *, start: bool = True, end: bool = True) -> str:
    """An alternation of folded words, longest first; `|` inside a word stands for a space.

    Words of scripts that put spaces between words match whole words alone.
    """
    alternatives = []
    for word in sorted({fold(w) for w in words}, key=len, reverse=True):
        plain = word.replace("|", " ")
        body = re.escape(plain).replace(r"\ ", r"\s+")
        left = r"(?<!\w)" if start and is_spaced(plain[0]) else ""
        right = r"(?!\w)" if end and is_spaced(plain[-1]) else ""
        alternatives.append(f"{left}{body}{right}")
    return "(?:" + "|".join(alternatives) + ")"


def phrase_pattern(lines: str) -> re.Pattern[str]:
    """One pattern out of lines of patterns, folded; an indented line goes on the one before it."""
    whole = re.sub(r"\n {2,}", "", lines.strip()).splitlines()
    return re.compile("|".join(f"(?:{fold_pattern(line)})" for line in whole), re.MULTILINE)


def fold_pattern(line: str) -> str:
    """Fold the letters of a pattern and leave its escapes (`\\b`, `\\W`) as they are."""
    return "".join(
        part if part.startswith("\\") else fold(part) for part in re.split(r"(\\.)", line)
    )
