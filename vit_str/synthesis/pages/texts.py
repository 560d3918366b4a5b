"""Texts of drawn pages: words of lists, values of patterns, labels of documents."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from itertools import accumulate, islice

import yaml

from vit_str.synthesis.pages.choices import Choices
from vit_str.synthesis.patterns import fields, patterns
from vit_str.synthesis.word_lists import language_words

_WORDS = 6000  # most frequent words of a language
_FLATTER = 0.75  # exponent of shares: rare words are what texts are about
_UNKNOWN = 0.3  # share of labels that are none of a list: nobody can list all
_LETTERS = frozenset(
    "aàyeèoóiuwzé"
)  # that are words; others are cut from words by wordfreq
_FIELD = re.compile(r"\{(\w+)\}")
_SIGNS = {"€": 5, "$": 5, "£": 2, "CHF": 1, "kr": 1, "zł": 0.5, "EUR": 1, "USD": 0.5}
_UNITS = [
    "kg",
    "g",
    "m",
    "mm",
    "cm",
    "km",
    "l",
    "ml",
    "%",
    "°C",
    "V",
    "A",
    "W",
    "kWh",
    "h",
    "min",
    "pcs",
    "bar",
    "rpm",
    "dB(A)",
    "m²",
    "m³",
    "GB",
]


@cache
def _codes() -> list[str]:
    return [code for code in patterns()["codes"] if "word" not in code.lower()]


@cache
def labels() -> Mapping[str, Mapping[str, object]]:
    """The labels of documents, by language and kind."""
    source = files("vit_str.synthesis.pages").joinpath("texts.yaml")
    return yaml.safe_load(source.read_text("utf-8"))


@cache
def _vocabulary(language: str) -> tuple[list[str], list[float]]:
    """Frequent words of a language, and their shares added up."""
    ((words, _),) = language_words(language)
    top = {
        word: share**_FLATTER
        for word, share in islice(words.items(), _WORDS)
        if word.isalpha() and (len(word) > 1 or word in _LETTERS)
    }
    return list(top), list(accumulate(top.values()))


class Texts:
    """Texts of one document: one language, one way to write numbers, dates and prices.

    Args:
        random: decides.
        language: one of ``texts.yaml``; None for any, by their weights.
    """

    def __init__(self, random: Choices, language: str | None = None) -> None:
        weights = {
            name: float(str(known["weight"])) for name, known in labels().items()
        }
        self.random = random
        self.language = language or random.weighted(weights)
        self._labels = labels()[self.language]
        self._words, self._shares = _vocabulary(self.language)
        is_english = self.language == "en"
        self._point = "." if random.chance(0.95 if is_english else 0.1) else ","
        others = [" ", ".", "", "'"] if self._point == "," else [",", ",", "", " "]
        self._group = random.choice(others)
        self.currency = random.weighted(_SIGNS)
        self._sign = random.one("before", "after", "none", "none")
        self._date = random.choice(
            [
                "{d:02}.{m:02}.{y}",
                "{d:02}/{m:02}/{y}",
                "{y}-{m:02}-{d:02}",
                "{d} {M} {y}",
                "{d}. {M} {y}",
                "{M} {d}, {y}",
                "{d:02}.{m:02}.{s}",
                "{d:02}-{m:02}-{y}",
            ]
        )
        self._clock = random.one("{h:02}:{m:02}", "{h:02}.{m:02}", "{h}:{m:02}")
        self.year = random.randint(1960, 2027)

    # Words

    def word(self) -> str:
        """One word."""
        return self.random.choices(self._words, cum_weights=self._shares)[0]

    def noun(self) -> str:
        """A word that carries meaning: none of the most frequent ones."""
        return self._words[self.random.randrange(150, len(self._words))]

    def phrase(self, low: int = 1, high: int = 3) -> str:
        """A few words, the first one with a capital."""
        words = [self.noun() for _ in range(self.random.randint(low, high))]
        for place in range(1, len(words) - 1):
            if self.random.chance(0.35):
                words[place] = self.random.choice(self.all_labels("small"))
        return capitalized(" ".join(words))

    def title(self, low: int = 1, high: int = 6) -> str:
        """A few words as a heading has them."""
        phrase = self.phrase(low, high)
        if self.language == "en" and self.random.chance(0.4):
            small = self.all_labels("small")
            return " ".join(w if w in small else capitalized(w) for w in phrase.split())
        return phrase

    def sentence(self, low: int = 5, high: int = 22) -> str:
        """Running text that ends with a stop."""
        random = self.random
        words = [self.word() for _ in range(random.randint(low, high))]
        for place, chance in enumerate(random.random() for _ in words):
            if chance < 0.025:
                words[place] = self.value(random.one("integer", "percent", "year"))
            elif chance < 0.08:
                words[place] = capitalized(words[place])
            if 0.08 < chance < 0.16 and place < len(words) - 1:
                words[place] += random.one(",", ",", ",", ",", ";", ":")
            elif chance > 0.99 and place < len(words) - 1:
                words[place] = f"({words[place]})"
        stop = random.choices(".?!", (20, 1, 1))[0]
        return capitalized(" ".join(words)) + stop

    def text(self, low: int = 1, high: int = 5) -> str:
        """Some sentences."""
        return " ".join(self.random.several(low, high, self.sentence))

    # Labels

    @property
    def known_labels(self) -> Mapping[str, object]:
        """The labels of the language, by kind."""
        return self._labels

    def all_labels(self, kind: str) -> list[str]:
        """All labels of a kind."""
        return str(self._labels[kind]).split("|")

    def label(self, kind: str) -> str:
        """A label of a kind; some are of words that no list has."""
        if self.random.chance(_UNKNOWN):
            return self.phrase(1, 2)
        return self.exact(kind)

    def exact(self, kind: str) -> str:
        """A label of a kind that is in the list."""
        chosen = self.random.choice(self.all_labels(kind))
        return self.filled(chosen.replace("{name}", "{Word}"))

    def different(self, kind: str, count: int) -> list[str]:
        """Labels of which none is there twice."""
        found: dict[str, None] = {}
        while len(found) < count:
            text = self.label(kind) if self.random.chance(0.8) else self.phrase(1, 3)
            found[text] = None
        return list(found)

    def filled(self, pattern: str) -> str:
        """A pattern with values for its fields."""

        def value(match: re.Match[str]) -> str:
            name = match[1]
            if name == "Word":
                return capitalized(self.noun())
            if name == "WORD":
                return self.noun().upper()
            if name in fields():
                return self.random.choice(fields()[name])
            return self.noun()

        return _FIELD.sub(value, pattern)

    # Values

    def value(self, kind: str) -> str:
        """A value of a kind, see `_VALUES`.

        Raises:
            ValueError: for another kind.
        """
        try:
            make = _VALUES[kind]
        except KeyError:
            known = ", ".join(_VALUES)
            raise ValueError(
                f"unknown kind {kind!r}, expected one of {known}"
            ) from None
        return make(self)

    def number(self, value: float, decimals: int = 0) -> str:
        """A number as this document writes it."""
        text = f"{value:,.{decimals}f}"
        whole, point, rest = text.partition(".")
        return whole.replace(",", self._group) + (self._point if point else "") + rest

    def price(self, highest: float = 1000.0) -> str:
        """An amount of money, with or without a sign."""
        amount = self.number(self.random.random() ** 2 * highest + 0.5, 2)
        if self._sign == "before":
            space = " " if self.currency.isalpha() else ""
            return f"{self.currency}{space}{amount}"
        return f"{amount} {self.currency}" if self._sign == "after" else amount

    def amount(self) -> str:
        """An amount of money without a sign, some below zero, some in brackets."""
        highest = 10.0 ** self.random.randint(2, 6)
        text = self.number(self.random.random() * highest, self.random.one(2, 2, 2, 0))
        chance = self.random.random()
        return f"({text})" if chance < 0.03 else f"-{text}" if chance < 0.08 else text

    def date(self) -> str:
        """A date in the form of this document."""
        random = self.random
        year = self.year - random.randint(0, 3)
        month = random.randint(1, 12)
        name = self.all_labels("months")[month - 1]
        day = random.randint(1, 28)
        return self._date.format(d=day, m=month, M=name, y=year, s=f"{year % 100:02}")

    def span(self) -> str:
        """From one time to another."""
        start = self.year - self.random.randint(0, 20)
        dash = self.random.one("–", " – ", "-", " - ")
        end = self.random.one(str(start + self.random.randint(1, 6)), self.word())
        if self.random.chance(0.4):
            month = f"{self.random.randint(1, 12):02}/"
            return f"{month}{start}{dash}{month}{start + 2}"
        return f"{start}{dash}{end}"

    def time(self) -> str:
        """A time of day."""
        minute = self.random.one(0, 15, 30, 45, self.random.randint(0, 59))
        return self._clock.format(h=self.random.randint(0, 23), m=minute)

    def person(self) -> str:
        """A name."""
        random = self.random
        first = capitalized(self.noun())
        if random.chance(0.25):
            first = f"{first[0]}."
        title = random.choices(["", "Dr. ", "Prof. "], (20, 1, 0.5))[0]
        return f"{title}{first} {capitalized(self.noun())}"

    def company(self) -> str:
        """A firm."""
        return f"{self.phrase(1, 2).title()} {self.exact('company')}"

    def address(self) -> list[str]:
        """Lines of an address."""
        first = [self.company()] if self.random.chance(0.5) else [self.person()]
        if self.random.chance(0.3):
            first.append(self.person())
        return [*first, self.exact("street"), self.exact("city")]


def capitalized(text: str) -> str:
    """A text with its first letter as a capital, the others as they are."""
    return text[:1].upper() + text[1:]


def _mixed(texts: Texts) -> str:
    kinds = ("integer", "price", "date", "code", "phrase", "person", "quantity", "time")
    return texts.value(texts.random.choice(kinds))


def _quantity(texts: Texts) -> str:
    number = texts.number(texts.random.random() * 10 ** texts.random.randint(0, 3), 1)
    return f"{number} {texts.random.choice(_UNITS)}"


def _integer(texts: Texts) -> str:
    return texts.number(texts.random.randint(0, 10 ** texts.random.randint(1, 5)))


_VALUES = {
    "integer": _integer,
    "small": lambda t: str(t.random.randint(1, t.random.one(9, 20, 100))),
    "decimal": lambda t: t.number(t.random.random() * 100, t.random.one(1, 2, 2, 3)),
    "percent": lambda t: t.number(t.random.random() * 100, t.random.one(0, 1)) + " %",
    "signed": lambda t: (
        t.random.one("+", "-", "−", "") + t.number(t.random.random() * 20, 1)
    ),
    "price": Texts.price,
    "amount": Texts.amount,
    "date": Texts.date,
    "year": lambda t: str(t.year - t.random.randint(0, 40)),
    "span": Texts.span,
    "time": Texts.time,
    "code": lambda t: t.filled(t.random.choice(_codes())),
    "long code": lambda t: t.filled(
        "{A}{A}{two} {three}{digit} {three}{digit} {three}"
    ),
    "phone": lambda t: t.filled(t.random.choice(patterns()["phones"])),
    "mail": lambda t: (
        t.filled("{word}.{word}@{word}.") + t.random.one("com", "org", "eu")
    ),
    "site": lambda t: t.filled("www.{word}.") + t.random.one("com", "net", "info"),
    "unit": lambda t: t.random.choice(_UNITS),
    "quantity": _quantity,
    "tick": lambda t: t.random.one("x", "✓", "–", "", *t.all_labels("answers")[:2]),
    "answer": lambda t: t.exact("answers"),
    "person": Texts.person,
    "place": lambda t: capitalized(t.noun()),
    "street": lambda t: t.exact("street"),
    "city": lambda t: t.exact("city"),
    "word": lambda t: t.noun(),
    "phrase": lambda t: t.phrase(1, t.random.one(2, 3, 5)),
    "thing": lambda t: t.phrase(1, 3),
    "sentence": lambda t: t.sentence(4, 14),
    "clause": lambda t: t.sentence(3, 9)[:-1],
    "item": lambda t: (
        f"{t.phrase(1, 3)} {t.random.one('', t.value('quantity'))}".strip()
    ),
    "mixed": _mixed,
}
