"""The vocabulary of choices: cues, fillers, affirmations, negations, hedges.

Each list is one idea in the languages that models answer in; to add a language, add its words.
Words are folded as replies are (case, and the accents of Latin letters), so write them as usual.
Short function words are listed only for languages that need them.
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
settle|on
change|it|to change|to changed|to switch|to switching|to i|meant
answer|with conclude lean|towards lean|toward leaning|towards leaning|toward wähle nehme
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
it|has|to|be it|had|to|be has|to|be vermutlich wahrscheinlich
confident|in confident|that|it|is sure|it|is sure|of certain|of
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
unsupported rejected discarded dismissed no
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

CONTRASTS = _word_list("""
but however although though yet nevertheless nonetheless still|though even|so aber jedoch trotzdem
mais cependant pero ma tuttavia но однако 但 但是 不过 しかし ただし 하지만
""")
GUESS_NOUNS = _word_list("""
best|guess educated|guess my|guess most|likely likely|answer probably presumably if|forced
if|i|had|to vermutlich wahrscheinlich probablement probablemente probabilmente provavelmente
вероятно 可能是 很可能 大概 おそらく 아마
""")

CAUSAL_WORDS = frozenset(
    _word_list(
        "because since as based given considering due per with is denn weil porque perché parce car"
    )
)
ASIDES = frozenset(_word_list("seen confidence confident shown visible based per according"))
"""Words that follow an answer and a comma: "B, seen at 3:10"."""
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

CORRECTIONS = _word_list("""
actually,|no actually|no no,|wait wait,|no no|wait scratch|that strike|that i|take|that|back
correction let|me|correct on|second|thought sorry, i|was|wrong i|stand|corrected
""")
"""Words that take back what was said before them, whatever strength it had."""

RETRACTIONS = _word_list("""
wait actually correction no scratch rather oops hmm second|thought closer|look reconsidering
moment hold|on nein doch warte attends espera 不对 等等
""")


def word_pattern(words: list[str], *, start: bool = True, end: bool = True) -> str:
    """An alternation of folded words, longest first; `|` inside a word stands for a space.

    Words of scripts that put spaces between words match whole words alone.
    """
    alternatives = []
    for word in sorted({fold(w) for w in words}, key=lambda w: (-len(w), w)):
        plain = word.replace("|", " ")
        body = re.escape(plain).replace(r"\ ", r"\s+")
        left = r"(?<!\w)" if start and is_spaced(plain[0]) else ""
        right = r"(?!\w)" if end and is_spaced(plain[-1]) else ""
        alternatives.append(f"{left}{body}{right}")
    return "(?:" + "|".join(alternatives) + ")"
