"""Write ``vit_str/decoding/words.safetensors``: how frequent words are, by language.

    python data/make_word_frequencies.py

Frequencies come from the ``wordfreq`` package (CC BY-SA 4.0), which the ``train`` extra installs.
Of every language the table holds the most frequent words without digits: ``NAME.hashes``, the
CRC-32 of each word in UTF-8, sorted, as four planes of bytes, the highest first (which a wheel
packs into half the space); and ``NAME.zipf``, 25 times the Zipf frequency of each. Greek words have
no accents, as in capitals.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

import numpy as np
from safetensors.numpy import save
from wordfreq import get_frequency_dict

from vit_str.decoding.prior import without_accents
from vit_str.synthesis.korean import KOREAN, korean_words, nouns
from vit_str.synthesis.spellings import SERBIAN, in_serbian_cyrillic

OUT = Path(__file__).parents[1] / "vit_str" / "decoding" / "words.safetensors"
STEPS = 25  # of the Zipf frequency, from 0 to 10
BILLION = 1e9  # Zipf frequencies are logarithms of occurrences in so many words
LANGUAGES = (
    "en+de+fr+es+it+pt+nl+sv+da+nb+fi+pl+cs+sk+hu+ro+tr+sh+sl+lt+lv+is+ca"
    "+vi+ru+uk+bg+mk+sr+el+ko"
)
MOST = 11_000  # words of a language
# Of the languages that a pair of weights is made for, and that have many forms of a word
MORE = {
    "en": 320_000,
    "ru": 60_000,
    "uk": 30_000,
    "bg": 30_000,
    "mk": 30_000,
    "el": 40_000,
    "ko": 90_000,
}
RARER = 1 / 200
"""How often words that are put together from pieces are, over how often they are drawn: what is
written has far more of them."""
SOURCE = {
    "source": "wordfreq",
    "licence": "CC BY-SA 4.0, https://creativecommons.org/licenses/by-sa/4.0/",
    "authors": "Robyn Speer and the sources that wordfreq names in its NOTICE",
}


def main() -> None:
    """Write the table."""
    tensors = {}
    for language in LANGUAGES.split("+"):
        hashes, zipf = _columns(_frequent(language))
        tensors[f"{language}.hashes"] = hashes
        tensors[f"{language}.zipf"] = zipf
    OUT.write_bytes(save(tensors, SOURCE))


def _frequent(language: str) -> dict[str, float]:
    """The most frequent words; those of Serbian in both of its scripts."""
    if language == KOREAN:
        return _korean()
    if language == SERBIAN:
        latin = _frequent("sh")
        return latin | {
            in_serbian_cyrillic(word): share for word, share in latin.items()
        }
    frequencies = get_frequency_dict(language, wordlist="best")
    top = dict(list(frequencies.items())[: MORE.get(language, MOST)])
    if language != "el":
        return top
    words: dict[str, float] = {}
    for word, share in top.items():
        words.setdefault(without_accents(word), share)
    return words


def _korean() -> dict[str, float]:
    """Nouns as often as wordfreq has them, and words with particles and endings."""
    drawn = korean_words()
    total = sum(drawn.values())
    words = {word: RARER * count / total for word, count in drawn.items() if count > 1}
    frequencies = get_frequency_dict(KOREAN, wordlist="best")
    words |= {noun: frequencies[noun] for noun in nouns() if noun in frequencies}
    ranked = sorted(words, key=lambda word: -words[word])
    return {word: words[word] for word in ranked[: MORE[KOREAN]]}


def _columns(frequencies: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Hashes as planes of bytes, and Zipf frequencies in steps; of equal hashes the first word."""
    zipf: dict[int, int] = {}
    for word, frequency in frequencies.items():
        if not re.search(r"\d", word):  # a digit stands for any digit there
            zipf.setdefault(
                crc32(word.encode()), round(STEPS * np.log10(frequency * BILLION))
            )
    hashes = np.array(sorted(zipf), dtype=">u4")
    planes = hashes.view(np.uint8).reshape(-1, 4).T
    return np.ascontiguousarray(planes), np.array(
        [zipf[hash_] for hash_ in hashes], dtype=np.uint8
    )


if __name__ == "__main__":
    main()
