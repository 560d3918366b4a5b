"""Korean: nouns with their particles, inflected verbs, names, and how things are written.

Lists of frequent words have its words in pieces (학교, 에서, 는); what stands between two spaces is
put together here (학교에서는), by the rules of the language.
"""

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate, islice
from typing import Any

from vit_str.characters.charset import CHARSETS
from vit_str.synthesis.hangul import inflected, is_syllable, with_particle
from vit_str.synthesis.line_patterns import line_patterns
from vit_str.synthesis.patterns import fields, patterns
from vit_str.synthesis.text_files import contents, entries_of, lines_of
from vit_str.synthesis.word_list_cache import (
    KeepWordLists,
    WordList,
    keep_word_lists,
)
from vit_str.synthesis.wording import Wording

KOREAN = "ko"
_WORDS = 400_000  # drawn, of which about a third are different
# Shares of the words, by eye: signs and forms have nouns alone, running text has all
_BARE = 0.30
_WITH_PARTICLE = 0.36
_INFLECTED = 0.22
_NAMES = 0.03
_PLACES = 0.04
_COMPOUNDS = 0.05
_FLATNESS = 0.6  # power of the frequency of a noun, or of a stem
# Shares of running text between which frequencies of stems are taken: short ones are particles too,
# and wordfreq has 생각하 in two pieces
_FEWEST_OF_STEM = 5e-5
_MOST_OF_STEM = 2.5e-3  # that of 않
_LONGEST_NOUN = 8  # syllables
_SHORT_SHARE = 0.05  # of the nouns, of one syllable
_TWO_PARTICLES = 0.06  # of the nouns with particles
_FEWEST_WORDS = 6  # with each syllable of the charset
_RARE_COUNT = 3.0  # how often such a word counts as drawn
_LONGEST_RARE = 2  # syllables beside a rare one
_FREQUENT_NOUNS = 15_000  # for fields of patterns
_KINDS_OF_ENDINGS = ("stem", "verb", "adjective", "open", "eu")
_PARTS_OF_VERBS = re.compile(
    r"(^어야|^아서|^은데|^는지|^는다|는|던|면서?|려고|려면|지만|는데|니까|니다|[어아해세]요|네요|하고|해서|하는|한다|된다|하지|라고|다고"
    r"|으로|에서|부터|까지|에게|으면|으며|하|되|시키|스럽|롭|였다|들이|들은|들을|이라|하게|했던|해야|려|셔|"
    r"[았었겠했됐갔왔봤났졌렸켰였쳤])$"
)
_LAST_WORDS = re.compile(r"(다|요|까|죠|오|음|함|됨|임)$")


def _data() -> Mapping[str, Any]:
    return contents("korean")


def _stems(name: str) -> list[tuple[str, str]]:
    """Stems and what is irregular of each."""
    entries = []
    for entry in entries_of(_data()[name]):
        stem, _, change = entry.partition(":")
        entries.append((stem, change))
    return entries


@cache
def _frequencies() -> Mapping[str, float]:
    import wordfreq

    frequencies: Mapping[str, float] = wordfreq.get_frequency_dict(
        KOREAN, wordlist="best"
    )
    return frequencies


@cache
def nouns() -> Mapping[str, float]:
    """Nouns that wordfreq knows, and how often each is drawn; frequent ones first.

    It has pieces of verbs among them, most of which are left out by how they end.
    """
    others = {stem for name in ("verbs", "adjectives") for stem, _ in _stems(name)}
    for particle in entries_of(_data()["particles"]):
        others.update(particle.split("/"))
    others.update(ending for _, ending in _endings(*_KINDS_OF_ENDINGS))
    shares = {}
    for word, frequency in _frequencies().items():
        is_hangul = all(map(is_syllable, word))
        if not is_hangul or not 2 <= len(word) <= _LONGEST_NOUN or word in others:
            continue
        if not _PARTS_OF_VERBS.search(word):
            shares[word] = frequency**_FLATNESS
    short = dict.fromkeys(entries_of(_data()["short_nouns"]))
    each = sum(shares.values()) * _SHORT_SHARE / len(short)
    return shares | dict.fromkeys(short, each)


def korean_words() -> dict[str, float]:
    """Words as they stand between spaces, and how often each was drawn; the same ones always.

    Every syllable of the charset ``korean`` is in several of them.
    """
    rng = random.Random("korean words")
    drawn = Counter(_draw_nouns(rng, round(_WORDS * _BARE)))
    drawn.update(_draw_with_particles(rng, round(_WORDS * _WITH_PARTICLE)))
    drawn.update(_draw_inflected(rng, round(_WORDS * _INFLECTED)))
    drawn.update(_draw_names(rng, round(_WORDS * _NAMES)))
    drawn.update(_draw_places(rng, round(_WORDS * _PLACES)))
    drawn.update(_draw_compounds(rng, round(_WORDS * _COMPOUNDS)))
    counts = {word: float(count) for word, count in drawn.items()}
    for word in _words_of_rare_syllables(rng, counts):
        counts.setdefault(word, _RARE_COUNT)
    return dict(sorted(counts.items(), key=lambda entry: -entry[1]))


def _draw_nouns(rng: random.Random, count: int) -> list[str]:
    shares = nouns()
    return rng.choices(list(shares), list(shares.values()), k=count)


def _draw_with_particles(rng: random.Random, count: int) -> list[str]:
    particles = entries_of(_data()["particles"])
    words = []
    for noun in _draw_nouns(rng, count):
        word = with_particle(noun, rng.choice(particles))
        if rng.random() < _TWO_PARTICLES:
            word = with_particle(word, rng.choice(("은/는", "도/도", "만/만", "의/의")))
        words.append(word)
    return words


def _draw_inflected(rng: random.Random, count: int) -> list[str]:
    """Verbs, adjectives, and nouns that 하다 and 되다 make verbs of, each kind as likely."""
    of_verbs = _endings("stem", "verb", "open", "eu")
    of_adjectives = _endings("stem", "adjective", "open", "eu")
    verbs = _draw_stems(rng, "verbs", count)
    adjectives = _draw_stems(rng, "adjectives", count)
    deeds = entries_of(_data()["deeds"])
    words = []
    for verb, adjective in zip(verbs, adjectives, strict=True):
        kind = rng.randrange(4)
        if kind == 0:
            (stem, change), endings = adjective, of_adjectives
        elif kind == 1:
            (stem, change), endings = verb, of_verbs
        else:
            stem = rng.choice(deeds) + ("하" if kind == 2 else "되")
            change, endings = "", of_verbs
        words.append(inflected(stem, change, *rng.choice(endings)))
    return words


def _draw_stems(rng: random.Random, name: str, count: int) -> list[tuple[str, str]]:
    """Stems of a list and what is irregular of each, frequent ones more often."""
    stems = _stems(name)
    frequencies = (_frequencies().get(stem, 0.0) for stem, _ in stems)
    shares = [
        min(max(each, _FEWEST_OF_STEM), _MOST_OF_STEM) ** _FLATNESS
        for each in frequencies
    ]
    return rng.choices(stems, shares, k=count)


def _endings(*names: str) -> list[tuple[str, str]]:
    """Endings, and what each stands on."""
    stands_on = {"verb": "stem", "adjective": "eu"}
    endings = []
    for name in names:
        listed = entries_of(_data()[f"endings_of_{name}"])
        endings += [(stands_on.get(name, name), ending) for ending in listed]
    return endings


def _draw_names(rng: random.Random, count: int) -> list[str]:
    fields = _fields()
    words = []
    for _ in range(count):
        name = rng.choice(fields["surname"]) + rng.choice(fields["given"])
        kind = rng.randrange(4)
        if kind == 0:
            name += rng.choice(fields["title"])
        elif kind == 1:
            name = with_particle(name, rng.choice(("은/는", "이/가", "의/의", "과/와")))
        words.append(name)
    return words


def _draw_places(rng: random.Random, count: int) -> list[str]:
    fields = _fields()
    kinds = ("province", "city", "city", "district", "town", "town", "road", "road")
    particles = ("에/에", "에서/에서", "의/의", "은/는", "으로/로", "까지/까지")
    words = []
    for _ in range(count):
        place = rng.choice(fields[rng.choice(kinds)])
        is_alone = rng.random() < 0.7  # as in addresses
        words.append(place if is_alone else with_particle(place, rng.choice(particles)))
    return words


def _draw_compounds(rng: random.Random, count: int) -> list[str]:
    """Names of shops, dishes and goods, and two nouns in one word."""
    fields = _fields()
    words = []
    pairs = zip(_draw_nouns(rng, count), _draw_nouns(rng, count), strict=True)
    for noun, second in pairs:
        kind = rng.randrange(6)
        if kind == 0:
            words.append(rng.choice(fields["shop"]) + rng.choice(fields["tail"]))
        elif kind == 1:
            words.append(noun + rng.choice(fields["tail"]))
        elif kind == 2:
            words.append(rng.choice(fields["food"]))
        elif kind == 3:
            words.append(rng.choice(fields["goods"]))
        else:
            words.append(noun + second)
    return words


def _words_of_rare_syllables(
    rng: random.Random, counts: Mapping[str, float]
) -> list[str]:
    """Words, which need not exist, with the syllables that hardly any word has."""
    having: Counter[str] = Counter()
    for word in counts:
        having.update(list(dict.fromkeys(word)))  # in the same order always
    usual = list(filter(is_syllable, having))
    shares = [having[syllable] for syllable in usual]
    words = []
    for syllable in filter(is_syllable, CHARSETS["korean"]):
        for _ in range(_FEWEST_WORDS - having[syllable]):
            beside = rng.choices(usual, shares, k=rng.randint(1, _LONGEST_RARE))
            beside.insert(rng.randint(0, len(beside)), syllable)
            words.append("".join(beside))
    return words


@cache
def _fields() -> Mapping[str, Sequence[str]]:
    korean = {name: entries_of(text) for name, text in _data()["fields"].items()}
    return {**fields(), **korean}


def korean_wording(word_lists: KeepWordLists = keep_word_lists) -> Wording:
    """Patterns in Korean in the place of the English ones.

    Args:
        word_lists: where the list of nouns comes from, see `Materials`.

    Raises:
        ValueError: without the wordfreq library, which knows the nouns.
    """
    data = _data()
    words = {name: entries_of(text) for name, text in data["words"].items()}
    whole = {name: lines_of(text) for name, text in data["lines"].items()}
    parts = {name: entries_of(text) for name, text in data["parts"].items()}
    inserts = parts.pop("insert")
    (frequent,) = word_lists(["frequent nouns", KOREAN], _frequent_nouns)
    return Wording(
        patterns={**patterns(), **words, "phrases": data["phrases"]},
        fields={**_fields(), "noun": frequent.words},
        lines={**line_patterns(), **whole, **parts},
        quotes=entries_of(data["quotes"]),
        inserts=inserts,
        inserted=0.12,
        last_words=_LAST_WORDS,
        breaks_words=False,
    )


def _frequent_nouns() -> list[WordList]:
    shares = dict(islice(nouns().items(), _FREQUENT_NOUNS))
    return [WordList(list(shares), list(accumulate(shares.values())))]
