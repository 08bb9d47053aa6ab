"""Everyday English for a search without a model: irregular forms, and words of like meaning.

A question says "sat", "sofa" or "trash"; what was observed says "sits", "couch" or "bin". A stemmer
joins neither. Both tables are general: they were written down once, from everyday vocabulary.
"""

from __future__ import annotations

from functools import cache

from egomem.text import stems

_FORMS = """
be is are was were been being | go goes went gone | come came | do did done | have had has
eat ate eaten | drink drank drunk | sit sat sitting | stand stood | lie lay lain lying | run ran
fall fell fallen | throw threw thrown | take took taken | give gave given | get got gotten
hold held | keep kept | leave left | lose lost | find found | bring brought | buy bought
catch caught | teach taught | think thought | fight fought | sell sold | tell told | say said
see saw seen | look looked | hear heard | feel felt | speak spoke spoken | break broke broken
wear wore worn | tear tore torn | drive drove driven | ride rode ridden | write wrote written
rise rose risen | sing sang sung | swim swam swum | begin began begun | ring rang rung
sink sank sunk | know knew known | grow grew grown | blow blew blown | fly flew flown
draw drew drawn | show showed shown | choose chose chosen | freeze froze frozen
forget forgot forgotten | meet met | feed fed | lead led | read | sleep slept | sweep swept
creep crept | weep wept | build built | bend bent | lend lent | send sent | spend spent
spill spilt spilled | burn burnt | shake shook shaken | wake woke woken | bite bit bitten
hide hid hidden | slide slid | light lit | hang hung | stick stuck | swing swung | dig dug
win won | spin spun | shoot shot | pay paid | lay laid | make made | wind wound | bind bound
grind ground | strike struck | stir stirred | steal stole stolen | shine shone | dream dreamt
learn learnt | lean leant | leap leapt | kneel knelt | swear swore sworn | beat beaten
become became | understand understood | cut cutting | put putting | man men | woman women
child children | person people | foot feet | tooth teeth | mouse mice | knife knives
shelf shelves | leaf leaves | half halves | loaf loaves | life lives | wife wives
potato potatoes | tomato tomatoes | dish dishes | box boxes | good better best | bad worse worst
"""

_ALIKE = """
baby infant toddler newborn | child kid toddler boy girl | boy child kid | girl child kid
man guy gentleman male | woman lady female | person individual people someone | adult man woman
mother mom mum | father dad | grandmother grandma | grandfather grandpa | friend buddy mate
dog puppy | cat kitten | sofa couch settee | fridge refrigerator
bin trash garbage rubbish waste | hob stove cooker | oven stove | tap faucet sink
pan skillet frypan pot | cup mug | glass cup tumbler | cutlery fork spoon knife | plate dish
bowl dish | cupboard cabinet closet | drawer cabinet | counter worktop countertop
cloth towel rag | napkin tissue | rug carpet mat | curtain blind
phone mobile cellphone smartphone | tv television telly | laptop computer
picture photo image photograph | film video movie | bag sack purse backpack | wallet purse
trousers pants jeans | jumper sweater pullover | coat jacket | shoe sneaker boot trainer
spectacles glasses | hat cap | car vehicle automobile | bike bicycle cycle | lorry truck
pavement sidewalk | lift elevator | garden yard lawn | shop store | toy doll | present gift
ball football | snow ice | water tap rinse wash | sea ocean beach | take pick grab get remove
put place set lay | pick lift grab take | grab grip hold | carry bring hold | give hand pass
throw toss | cut chop slice dice mince | peel skin | stir mix whisk beat | pour fill
wash rinse clean scrub | wipe clean scrub dry | clean tidy wash | scrub scour scrape
boil simmer | fry saute sizzle | cook heat prepare | bake roast | knead roll | open unlock
close shut | lock shut | walk stroll step move | run jog | jump hop leap | climb crawl
sit seat | lie rest sleep | sleep nap asleep | look watch see gaze stare | speak talk chat say
laugh smile giggle | smile grin happy | cry weep upset | shout yell scream | kiss hug cuddle
hug embrace | touch feel pat stroke | push press shove | pull drag tug | hit strike knock
shake swing wave | turn rotate spin flip | fall drop trip | drop fall put | hang suspend
start begin | end finish stop | fix repair mend | build assemble construct | break crack
tear rip | eat bite chew feed | drink sip | smell sniff | read study | write note scribble
draw paint sketch | play game | dance perform | sing perform | buy purchase | search seek find
find discover locate | meal food dinner lunch breakfast | veg vegetable | meat beef pork chicken
pasta spaghetti noodle | spice seasoning season | dough pastry | packet pack package wrapper
bottle flask | tin can | box carton | lid cover top | knob handle | appliance machine device
vacuum hoover | switch button | wire cable cord | tool instrument | rope string | stick rod pole
ground floor | road street | hill slope | big large huge | small little tiny
happy glad joyful excited | sad unhappy upset | angry mad | fast quick rapid
near close beside next | behind back | front ahead | below under beneath | above over
job work career occupation | school college university | study learn education | house home
holiday vacation trip | hobby pastime activity | illness disease sick | doctor physician
sport exercise
"""


def _rows(table: str) -> list[list[str]]:
    return [stems(row.split()) for row in table.replace("\n", "|").split("|") if row.strip()]


@cache
def _forms() -> dict[str, frozenset[str]]:
    forms: dict[str, set[str]] = {}
    for row in _rows(_FORMS):
        for stem in row:
            forms.setdefault(stem, set()).update(row)
    return {stem: frozenset(others - {stem}) for stem, others in forms.items()}


@cache
def _alike() -> dict[str, frozenset[str]]:
    """A row's first word is like each of the others, and they like it; not they like each other."""
    near: dict[str, set[str]] = {}
    for head, *others in _rows(_ALIKE):
        near.setdefault(head, set()).update(others)
        for other in others:
            near.setdefault(other, set()).add(head)
    return {stem: frozenset(others - {stem}) for stem, others in near.items()}


def forms(stem: str) -> frozenset[str]:
    """Stems of the other forms of a word: `sat` for `sit`."""
    return _forms().get(stem, frozenset())


@cache
def alike(stem: str) -> frozenset[str]:
    """Stems of the words that mean nearly the same, in all their forms."""
    # One step and no further: what is like a word that is like it soon means something else.
    forms_of_stem = forms(stem) | {stem}
    near = {other for form in forms_of_stem for other in _alike().get(form, ())}
    return frozenset(near | {form for other in near for form in forms(other)}) - forms_of_stem
