"""Words of languages without a list of frequent words: made of their syllables.

A reader needs the letters of a language in likely neighborhoods; the words need not exist.
"""

import random
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

_WORDS = 4000  # made of a language
# Syllables of a word, and how often there are so many
_LENGTHS = {1: 2, 2: 5, 3: 3, 4: 1}
_PINYIN_LENGTHS = (1, 2, 2, 2, 3)  # the same, all as likely
_TONELESS = 0.1  # share of the syllables of pinyin


@dataclass(frozen=True, slots=True)
class Syllables:
    """What syllables begin with, have inside and end with; ``-`` stands for nothing.

    What is listed twice is drawn twice as often.
    """

    onsets: str
    vowels: str
    codas: str

    def words(self, seed: str) -> dict[str, float]:
        """Words, all as frequent; the same ones for a seed."""
        rng = random.Random(seed)
        onsets = self.onsets.split()
        vowels = self.vowels.split()
        codas = self.codas.split()
        words: dict[str, float] = {}
        while len(words) < _WORDS:
            (count,) = rng.choices(list(_LENGTHS), list(_LENGTHS.values()))
            word = ""
            for _ in range(count):
                word += rng.choice(onsets) + rng.choice(vowels) + rng.choice(codas)
            words[word.replace("-", "")] = 1.0
        return words


SYLLABLES: Mapping[str, Syllables] = MappingProxyType(
    {
        "az": Syllables(  # Azerbaijani
            "- - b c ç d f g h x j k q l m n p r s ş t v y z ğ",
            "a e ə ə ə ı i o ö u ü",
            "- - - - r l n m z s ş t k q d",
        ),
        "be": Syllables(  # Belarusian
            "- - б в г д ж дз дж з к л м н п р с т х ц ч ш",
            "а э ы у о і а о е ё ю я і",
            "- - - - ў й л н р с т к м ў ць нь",
        ),
        "cy": Syllables(  # Welsh
            "- b c ch d dd f ff g ng h l ll m n p r rh s t th gw",
            "a e i o u w y â ê î ô û ŵ ŵ ŷ ŷ ẁ ẃ ẅ ỳ á é ae ai aw ei ew oe wy yw ŵy",
            "- - - n r l s dd th d g ll ch",
        ),
        "eo": Syllables(  # Esperanto
            "b c ĉ d f g ĝ h ĥ j ĵ k l m n p r s ŝ t v z ĝ ĥ ĵ",
            "a e i o u a e i o aŭ eŭ",
            "- - - n r l s j jn",
        ),
        "ff": Syllables(  # Fula, Bambara, Akan and their neighbors
            "- b ɓ c d ɗ f g h j k l m n ɲ ŋ p r s t w y ƴ ky gy ɲ ŋ",
            "a e ɛ i o ɔ u ɛ ɔ aa oo",
            "- - - - n ŋ m r l",
        ),
        "ha": Syllables(  # Hausa
            "b ɓ c d ɗ f g gw h j k ƙ ƙw kw l m n r s sh t ts w y ƴ z ɓ ɗ ƙ ƴ ƴ",
            "a a i u e o ai au aa",
            "- - - n r m s l k",
        ),
        "ig": Syllables(  # Igbo
            "- b ch d f g gb gh gw h j k kp kw l m n ṅ nw ny p r s sh t v w y z ṅ ṅ",
            "a e i ị o ọ u ụ à ì ò ù á í ó ú ị ọ ụ",
            "- - - - m n ṅ",
        ),
        "kk": Syllables(  # Kazakh
            "- - б ғ д ж з к қ л м н п р с т ш һ х ғ қ",
            "а ә е и і о ө у ұ ү ы э ә ө ұ ү",
            "- - - л н ң р с т к қ й м ң",
        ),
        "ky": Syllables(  # Kyrgyz
            "- - б г д ж з к л м н п р с т ч ш",
            "а е и о ө у ү ы э оо өө уу үү аа",
            "- - - л н ң р с т к й м ң",
        ),
        # Latin of dictionaries; its long vowels are Japanese and Maori too
        "la": Syllables(
            "- b c d f g h i l m n p qu r s t v tr st",
            "a ā e ē i ī o ō u ū ă ĕ ĭ ŏ ŭ æ œ ō ŏ ĕ ĭ",
            "- - - m n r s t x",
        ),
        "mn": Syllables(  # Mongolian
            "- - б г д ж з л м н р с т х ц ч ш",
            "а э и о ө у ү аа ээ ий оо өө уу үү ай ой я е ё ю",
            "- - - л н р с т г д в м х гч",
        ),
        "mt": Syllables(  # Maltese
            "b ċ d f ġ g għ h ħ j k l m n p q r s t v w x ż z",
            "a e i o u ie à è ì ò ù",
            "- - n r l t s ħ b ż",
        ),
        "nv": Syllables(  # Navajo
            "- b ch d dl g gh h j k l ł m n s sh t tł ts w x y z zh",
            "a ą e ę i į o ǫ á é í ó aa ąą ee oo ǫǫ ǫ ǫ",
            "- - - h d s sh ł",
        ),
        "sa": Syllables(  # Sanskrit, Arabic and Berber in Latin letters
            "k g ṅ c j ǧ ñ ṭ ḍ ṇ t th d dh n p b bh m y r l ḷ v ś ṣ s h ḥ ẓ š ġ ẓ ḷ ǧ",
            "a a ā i ī u ū ṛ e ai o au ā",
            "- - - ṃ ḥ n m t r ṇ ṣ ṭ",
        ),
        "se": Syllables(  # Northern Sami
            "b c č d đ f g h j k l m n ŋ p r s š t ŧ v z ž ŋ ŧ",
            "a á e i o u ea ie oa uo",
            "- - - t d s l r n ŋ",
        ),
        "tg": Syllables(  # Tajik
            "- б в г ғ д ж з к қ л м н п р с т ф х ҳ ч ҷ ш ғ қ ҳ ҷ",
            "а о и у ӯ э е ё ю я ӯ",
            "- - - н р м ш т д з ъ л ӣ",
        ),
        "yo": Syllables(  # Yoruba
            "- b d f g gb h j k l m n p r s ṣ ṣ t w y",
            "a e ẹ i o ọ u á é í ó ú à è ì ò ù an in ọn un ẹ ọ",
            "- - - - - ń ǹ ḿ n",
        ),
    }
)
"""Languages by code, and their neighbors in spelling."""

PINYIN = "pinyin"
"""Chinese in Latin letters, with tones."""

_FINALS: Mapping[str, str] = MappingProxyType(
    {
        "b p m f": "a o ai ei ao an en ang eng u",
        "b p m d t n l j q x": "i ie iao ian in ing",
        "d t n l g k h zh ch sh r z c s": "e ai ao ou an en ang eng u uo uan un ong",
        "g k h zh ch sh": "a ua uai uang ui",
        "j q x": "ia iang iong iu u ue uan un",
        "zh ch sh r z c s": "i",
        "n l": "ü ü ü üe iu iang",
        "-": "a ai an ang ao e en er o ou yi ya ye yao you yan yin yang ying yong "
        "wu wa wo wai wei wan wen wang yu yue yuan yun",
    }
)
"""What can follow what begins a syllable."""
_TONES = "\u0304\u0301\u030c\u0300"

# wordfreq has ss for ß: these are stems with ß that no common word with ss contains.
_SHARP_STEMS = re.compile(
    r"(stra|gro|grö|gru|grü|blo|stö|gemä|(?<!ka)spä)ss"
    r"|((?:d|h|l|r|b|w|m|fl|schl|gen|g|gr|kr|schm|schw|fr|spr|dr)(?:ei|ie))ss(?=$|e|t$|lich|ig)"
    r"|(\bfu|\bfü|\bspa|sü|bü|fu|sto)ss(?=$|e|b|t$|i|l|g)"
    r"|(\bdrau|\bau)ss(?=e[nr](?!d))|(\bma)ss(?=nahm|geb|stab)|(mä)ss(?=ig)"
)

_LONG_S = "-Latf"
"""Behind a code: as print of before 1941 has it, with the long s and older spellings."""
_OLD_GERMAN = (
    (re.compile(r"^(s|b|zw|dr|fr)ei(?=$|n$|nd$|de|en|er|es|t|l|h|s)"), r"\1ey"),
    (re.compile(r"ei$"), "ey"),
    (
        re.compile(r"(?<![sct])t(?=eil|u[mnet]|ür|[aä]l(?:$|e|s)|or(?:$|e|s)|ier|rän)"),
        "th",
    ),
    (re.compile(r"(?<=[mr])ut(?=$|e|ig|s)"), "uth"),
    (re.compile(r"(?<=[nr])ot(?=$|e|w)"), "oth"),
    (re.compile(r"(?<=r)at(?=$|h|s|e$)"), "ath"),
    (re.compile(r"wert"), "werth"),
    (re.compile(r"ier(?=en$|t$|te)"), "ir"),
    (re.compile(r"^k(?=on|om|ap|las|ul|op)"), "c"),
    (re.compile(r"z(?=ess$|ent$|i[aeo])"), "c"),
    (re.compile(r"kt(?=$|e|i|u)"), "ct"),
    (re.compile(r"nis$"), "niß"),
    (re.compile(r"mal$"), "mahl"),
)
"""How German was spelled until about 1880: seyn, Theil, Noth, regiren, Concert, Kenntniß."""
# Where parts of words end: no German root has this inside it.
_ROUND_BEFORE = {"de": "bdfghjklmnrvwz"}
_ROUND_BEFORE_ELSEWHERE = "bf"  # in English, French, Italian and Latin


def spelled(code: str) -> bool:
    """Whether there are words of a language here."""
    return code in SYLLABLES or code == PINYIN


def spelled_words(code: str) -> dict[str, float]:
    """Words of a language of which there is no list."""
    return _pinyin() if code == PINYIN else SYLLABLES[code].words(code)


def with_turkish_capitals(word: str) -> str:
    """A Turkish word in capitals, where i keeps its dot."""
    return word.replace("i", "İ").upper()


def with_cedillas(word: str) -> str:
    """A Romanian word as most computers wrote it before 2007."""
    return word.translate(str.maketrans("șț", "şţ"))


def with_final_sigma(word: str) -> str:
    """A Greek word with ς at its end, which lists of words have as σ."""
    return re.sub(r"σ\b", "ς", word)


def in_serbian_cyrillic(word: str) -> str:
    """A Serbian word as in Cyrillic; as it is if letters of other alphabets are in it.

    >>> in_serbian_cyrillic("ljubaznost"), in_serbian_cyrillic("džem"), in_serbian_cyrillic("www")
    ('љубазност', 'џем', 'www')
    """
    for latin, cyrillic in _SERBIAN_PAIRS.items():
        word = word.replace(latin, cyrillic)
    return word.translate(_SERBIAN) if _SERBIAN_WORD.fullmatch(word) else word


def in_capitals(text: str) -> str:
    """A text in capitals, as print has them: Greek without the accent."""
    joined = text.replace("ΐ", "ϊ").replace("ΰ", "ϋ")
    return joined.upper().translate(_WITHOUT_ACCENTS)


_SERBIAN_PAIRS = {"lj": "љ", "nj": "њ", "dž": "џ"}
_SERBIAN = str.maketrans("abcčćdđefghijklmnoprsštuvzž", "абцчћдђефгхијклмнопрсштувзж")
_SERBIAN_WORD = re.compile("[abcčćdđefghijklmnoprsštuvzžљњџ' -]+")
_WITHOUT_ACCENTS = str.maketrans("ΆΈΉΊΌΎΏ", "ΑΕΗΙΟΥΩ")

SERBIAN = "sr"
"""Serbian in Cyrillic, and some of it in Latin letters, as in Serbia; ``sh`` has these only."""

OTHER_SPELLINGS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {"tr": with_turkish_capitals, "az": with_turkish_capitals, "ro": with_cedillas}
)
"""How else words of a language are written."""


def with_sharp_s(word: str) -> str:
    """A German word with ß where it belongs.

    >>> with_sharp_s("strasse"), with_sharp_s("grosse"), with_sharp_s("masse")
    ('straße', 'große', 'masse')
    """
    return _SHARP_STEMS.sub(lambda match: match[0].replace("ss", "ß"), word)


def without_long_s(code: str) -> tuple[str, bool]:
    """The code of a language, and whether its words are to have the long s, as in ``de-Latf``."""
    return code.removesuffix(_LONG_S), code.endswith(_LONG_S)


def with_long_s(word: str, code: str = "de") -> str:
    """A word as Fraktur and early print spell it: ſ within a part of it, s at its end.

    >>> with_long_s("hausmeister"), with_long_s("wissens"), with_long_s("schloss")
    ('hausmeiſter', 'wiſſens', 'ſchloſs')
    >>> with_long_s("baptism", "en")
    'baptiſm'
    """
    round_before = _ROUND_BEFORE.get(code, _ROUND_BEFORE_ELSEWHERE)
    return re.sub(rf"s(?=\w)(?![{round_before}])", "ſ", word)


def in_old_spelling(word: str, code: str) -> str:
    """A word as books of before about 1880 spell it; of German only.

    >>> [in_old_spelling(word, "de") for word in ("sein", "teil", "not", "kommission", "akten")]
    ['seyn', 'theil', 'noth', 'commission', 'acten']
    """
    if code == "de":
        for pattern, old in _OLD_GERMAN:
            word = pattern.sub(old, word)
    return word


def _pinyin() -> dict[str, float]:
    rng = random.Random(PINYIN)
    syllables = []
    for initials, finals in _FINALS.items():
        for initial, final in product(initials.split(), finals.split()):
            syllables.append(initial.replace("-", "") + final)
    words: dict[str, float] = {}
    while len(words) < _WORDS:
        word = ""
        for _ in range(rng.choice(_PINYIN_LENGTHS)):
            word += _toned(rng.choice(syllables), rng)
        words[word] = 1.0
    return words


def _toned(syllable: str, rng: random.Random) -> str:
    """A syllable with the mark of one of four tones on the vowel that bears it, or of none."""
    if rng.random() < _TONELESS:
        return syllable
    place = _place_of_tone(syllable)
    vowel = unicodedata.normalize("NFC", syllable[place] + rng.choice(_TONES))
    return syllable[:place] + vowel + syllable[place + 1 :]


def _place_of_tone(syllable: str) -> int:
    """On a or e if there is one, on the o of ou, else on the last vowel."""
    for letters in ("a", "e", "ou"):
        if letters in syllable:
            return syllable.index(letters)
    return max(syllable.rfind(vowel) for vowel in "iouü")
