"""Word lists that questions are read with, as data.

They are English but for question and function words of five more languages. In any other language
no word is left out or widened; rarity alone says what carries content.
"""

PLAIN = """
a an the this that these those any some each every all both such same other another own
i me my mine myself you your yours he him his himself she her hers herself it its itself we us
our ours they them their theirs one someone something anyone anything somebody everything
what which who whom whose when where why how whatever is am are was were be been being do does
did done doing have has had having will would shall should can could may might must ought
to of in on at by for with from into onto about as and or but not no nor so than then if else
there here up down out off over under again very just also too only ever yet still really
s t d ll ve re m don didn doesn isn wasn weren aren hasn haven hadn couldn wouldn won
don't didn't doesn't isn't wasn't weren't aren't i'm i've i'd i'll that's there's let's
during while until till since because according please tell
"""
"""Words that say nothing of what is asked for."""

PLAIN_ELSEWHERE = """
wo wer was wann wie warum welche welcher welches habe hast hat hatte ist war waren sind mein meine
meinen meiner ich du er sie es wir der die das den dem ein eine einen und oder im auf mit von zu
dónde donde quién qué cuándo cómo cuál está están he ha mi mis yo el la los las un una y o en con de
où qui que quand comment quel quelle est sont ai mon ma mes je le les et ou dans sur avec du des
dove chi che cosa quando come quale è sono ho mio mia il lo gli e nel con di
onde quem quê meu minha eu o os as um uma em com do da
"""
"""The same of German, Spanish, French, Italian and Portuguese."""

MEDIA = "sign screen text label title caption display poster banner page card writing"
"""What carries words to be read; a text seldom names it."""

ATTRIBUTES = "colour color street road"
"""What a question asks of a thing, and an answer does not say by that word: see KINDS."""

STANDS = "street road traffic wall information info shop door"
"""Where any sign may stand: that a text was read on a *street* sign, nothing tells."""

SAYS = "say said says read reads write written tell told text words letters speak spoke talk asks"
"""What a caption says where it tells of words."""

LIGHT = """
come comes came
see saw seen seeing show shows showed shown appear appears appeared appearing visible present
happen happens happened happening occur occurs occurred exist use used using uses
get got kind type sort thing things way many much often long time times moment
video recording clip footage memory scene videos recordings clips memories scenes
first last final finally next previous recently begin beginning start middle end earlier later
today ago view sight
"""
"""Words that ask how, when or whether, and that any observation would meet."""

SAME = """
phone cellphone smartphone mobile|bike bicycle|motorbike motorcycle|sofa couch
tv television monitor|plane airplane aeroplane aircraft|mum mom mother|dad father
photo picture photograph|kid child children|man men|woman women|person people|lady woman|guy man
rubbish trash garbage|bin trashcan|fridge refrigerator|hob stove cooker|tap faucet
cupboard cabinet|laptop computer|rucksack backpack|handbag purse|leave disappear vanish
"""
"""Everyday words for one thing, in British, American and detectors' English."""

NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"

KINDS = """
colour: red blue green yellow black white grey gray brown orange pink purple violet silver gold
color: red blue green yellow black white grey gray brown orange pink purple violet silver gold
street: road lane avenue boulevard alley
road: street lane avenue highway motorway
vehicle: car bus truck van lorry motorcycle motorbike bicycle bike train tram boat airplane taxi
animal: dog cat bird horse sheep cow elephant bear zebra giraffe
pet: dog cat
person: man woman child boy girl baby pedestrian lady guy adult
child: boy girl baby toddler
fruit: apple banana orange pear grape lemon
furniture: chair couch sofa bed table bench desk
cutlery: knife fork spoon
seat: chair couch sofa bench
drink: water tea coffee juice beer wine milk
tool: hammer screwdriver drill saw spanner wrench pliers
"""
"""Kinds of things: a question about a kind is met by its members, not the other way round."""
