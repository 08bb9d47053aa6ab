import pytest

from egomem.claims.attributes import Attribute, attributes, names_in, same_value


def values(text: str, **fields: object) -> set[tuple[str, str]]:
    return {(a.kind, a.value) for a in attributes(text, **fields)}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the tram costs €2.40", {("price", "2.4 EUR")}),
        ("the tram costs 2,40 euros", {("price", "2.4 EUR")}),
        ("it was two hundred and six yuan", {("price", "206 CNY")}),
        ("we need 1,350 g and 30% more", {("number", "1350"), ("number", "30 %")}),
        ("a 5kg bag and five pears", {("number", "5")}),
        ("twenty-seven people, the red one", {("number", "27")}),
        ("three dozen eggs", {("number", "36")}),
        ("at quarter to seven by the clock", {("time", "6:45")}),
        ("at 7:05 pm or at 19:05", {("time", "7:05 pm")}),
        ("at noon, not on 3 June", {("time", "12:00 pm"), ("time", "3 june")}),
        ("it may rain; they march on", set()),
        ("take line U7 to gate c-12", {("number", "u7"), ("number", "c-12")}),
        ("the sign reads “Lift 4 closed”", {("quote", "lift 4 closed")}),
        ("the cup is on the shelf", set()),
        ("", set()),
        ("£", set()),
    ],
)
def test_exact_attributes_have_one_form(text: str, expected: set[tuple[str, str]]) -> None:
    assert {v for v in values(text) if v[0] != "name"} == expected


def test_a_name_is_known_by_its_capital_in_mid_sentence() -> None:
    assert values("Then Marta Ruiz met Ole.") == {("name", "marta ruiz"), ("name", "ole")}
    # Every sentence begins with a capital.
    assert values("Then they left. Marta stayed.") == set()
    assert values("Marta stayed.", names={"Marta"}) == {("name", "marta")}
    assert values("EXIT LEFT") == set()


def test_names_of_many_texts_leave_out_words_that_are_mostly_small() -> None:
    texts = ["I asked Ole to Stop", "please stop", "do stop now", "Ole left with Marta"]
    assert names_in(texts) == {"Ole", "Marta"}


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (("time", "3:05"), ("time", "3:05 pm"), True),
        (("time", "3:05 am"), ("time", "3:05 pm"), False),
        (("name", "marta"), ("name", "marta ruiz"), True),
        (("name", "marta"), ("name", "ole"), False),
        (("number", "2"), ("price", "2"), False),
    ],
)
def test_what_says_the_same(a: tuple[str, str], b: tuple[str, str], same: bool) -> None:
    first, second = (Attribute(kind, value, value) for kind, value in (a, b))  # type: ignore[arg-type]
    assert same_value(first, second) is same


def test_long_noise_is_read_in_linear_time() -> None:
    # Quadratic reading of this would take many minutes.
    noise = "1," * 20_000 + " " + "a-" * 20_000 + "1" * 20_000 + " one and" * 20_000
    assert {a.kind for a in attributes(f"{noise} pay 3 euros")} <= {"number", "price"}
    assert attributes(f"{noise} pay 3 euros")[0].value == "3 EUR"
