"""Nobody has to choose weights: a language, or what an image says, does."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from vit_str.characters.charset import charset_of
from vit_str.decoding.prior import prior_of
from vit_str.decoding.readings import Character, Reading, reading_row
from vit_str.decoding.search import Search
from vit_str.engines.weights_contents import BUNDLED
from vit_str.images.image_decoding import decode
from vit_str.images.preprocessing import Preprocessing
from vit_str.scripts import registry
from vit_str.scripts.evidence import (
    is_doubtful,
    is_likelier,
    is_of_other_script,
    is_surer,
    may_be_line_of_other_script,
    may_be_of_other_script,
    sees_other_script,
)
from vit_str.scripts.one_script import has_look_alikes, one_script
from vit_str.scripts.registry import choose_weights, languages_of, lines_of
from vit_str.torch_runtime.weights_file import WeightsFile, save_weights
from vit_str.words.reader import Reader, load

Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path, small_recognizer) -> Folder:
    """Makes a folder of random weights, by name and charset."""

    def make(**charsets: str) -> Path:
        for name, charset in charsets.items():
            known = charset_of(charset)
            path = tmp_path / f"{name.replace('_', '-')}.safetensors"
            save_weights(path, small_recognizer(len(known)), known, Preprocessing(), {})
        return tmp_path

    return make


@pytest.fixture
def both(folder) -> Path:
    return folder(tiny="latin", cyrillic_greek="cyrillic-greek")


def asked(language: str | None) -> Search:
    return Search(language=language)


def test_without_other_scripts_all_is_read_by_the_package(latin_alone):
    for search in (
        None,
        asked(None),
        asked("none"),
        asked("de+en"),
        Search(alphabet="abc"),
    ):
        assert choose_weights("tiny", search) == ("tiny", (), None)
        assert choose_weights("line", search) == ("line", (), None)
    assert lines_of("tiny") == BUNDLED / "line.safetensors"
    assert lines_of("mine.safetensors") == "line"


@pytest.mark.parametrize("language", ["ru", "el+en", "ru+de", "sr"])
def test_a_language_that_nothing_here_reads_is_refused(language, latin_alone):
    with pytest.raises(ValueError, match=r"needs weights that read (Cyrillic|Greek), "):
        choose_weights("tiny", asked(language))


@pytest.mark.parametrize(
    "language", ["ru", "uk", "ru+en", "el", "ru+el", "kk", "en+ru"]
)
def test_a_language_takes_the_weights_that_read_it(both, language):
    choice = choose_weights(both, asked(language))
    assert choice == (both / "cyrillic-greek.safetensors", (), None)


@pytest.mark.parametrize("language", ["ru+de", "sr", None])
def test_several_scripts_take_both(both, language):
    choice = choose_weights(both, asked(language))
    others = (both / "cyrillic-greek.safetensors",)
    assert choice == (both / "tiny.safetensors", others, None)


@pytest.mark.parametrize(
    ("search", "name"),
    [
        (Search(language="none"), "tiny"),
        (Search(language="en+de"), "tiny"),
        (Search(alphabet="0123456789"), "tiny"),
        (Search(lexicon=["one", "two"]), "tiny"),
        (Search(lexicon=["один", "два"]), "cyrillic-greek"),
        (Search(alphabet="АВЕК0123456789"), "cyrillic-greek"),
        (Search(pattern="[Α-Ω]{3}-[0-9]{4}"), "cyrillic-greek"),
    ],
)
def test_what_may_be_read_says_which(both, search, name):
    assert choose_weights(both, search) == (both / f"{name}.safetensors", (), None)


def test_weights_put_into_the_package_are_found(both, monkeypatch):
    monkeypatch.setattr(registry, "BUNDLED", both)
    assert (
        choose_weights("tiny", asked("ru")).first == both / "cyrillic-greek.safetensors"
    )
    assert choose_weights("tiny").others == (both / "cyrillic-greek.safetensors",)
    alone = ("mine.safetensors", (), None)
    assert choose_weights("mine.safetensors", asked("ru")) == alone
    assert choose_weights(both / "tiny.safetensors") == (
        both / "tiny.safetensors",
        (),
        None,
    )


@pytest.mark.parametrize(
    ("search", "others"),
    [
        (None, ["cyrillic-greek", "base"]),
        (Search(language="de"), ["base"]),
        (Search(lexicon=["one", "two"]), ["base"]),
        (Search(language="ru+de"), ["cyrillic-greek", "base"]),
        (Search(language="ru"), []),
    ],
)
def test_larger_weights_look_at_what_the_first_doubt(folder, search, others):
    path = folder(tiny="latin", cyrillic_greek="cyrillic-greek", base="latin")
    choice = choose_weights(path, search)
    found = [path.stem for path in (*choice.others, choice.second) if path]
    assert found == others
    assert choice.first.parent == path


def test_larger_weights_of_the_package_stand_beside_their_own_alone(
    folder, monkeypatch
):
    path = folder(tiny="latin", base="latin")
    base = path / "base.safetensors"
    assert choose_weights(path) == (path / "tiny.safetensors", (), base)
    for alone in (path / "tiny.safetensors", base, "mine.safetensors", "line"):
        assert choose_weights(alone).second is None
    monkeypatch.setattr(registry, "BUNDLED", path)
    assert choose_weights("tiny").second == base
    assert choose_weights("base") == ("base", (), None)


def test_a_folder_may_have_the_other_scripts_alone(folder):
    path = folder(cyrillic_greek="cyrillic-greek")
    assert choose_weights(path)[:2] == ("tiny", (path / "cyrillic-greek.safetensors",))
    with pytest.raises(ValueError, match="pages need cyrillic-greek-line"):
        lines_of(path / "cyrillic-greek.safetensors")
    folder(cyrillic_greek_line="cyrillic-greek")
    lines = lines_of(path / "cyrillic-greek.safetensors")
    assert lines == path / "cyrillic-greek-line.safetensors"


def test_a_reader_is_opened_for_its_language(both, word_image):
    reader = load(both, "cpu", search=asked("ru"))
    assert reader.charset == charset_of("cyrillic-greek")
    assert load(both, "cpu", search=asked("de")).charset == charset_of("latin")
    assert load(both, "cpu").read(word_image("word")).text is not None


def reading(text: str, confidence: float) -> Reading:
    characters = tuple(Character(character, confidence) for character in text)
    return Reading(text, confidence ** len(text), characters)


def test_doubt_is_of_the_characters():
    assert is_doubtful(reading("MockBa", 0.85))
    assert not is_doubtful(reading("internationalisation", 0.95))
    assert not is_doubtful(Reading("", 0.97, ())), "no text"
    assert is_doubtful(Reading("", 0.5, ()))


def test_the_other_reader_is_surer_only_of_its_own_letters():
    latin = charset_of("latin")
    own = [reading("MockBa", 0.7)]
    assert is_surer(own, [reading("Москва", 0.8)], latin)
    assert not is_surer(own, [reading("Москва", 0.6)], latin)
    assert not is_surer(own, [reading("Moscow", 0.9)], latin)
    assert not is_surer([Reading("", 0.9, ())], [reading("Москва", 0.6)], latin)


def test_accents_tell_of_the_first_reader():
    latin = charset_of("latin")
    vietnamese = [reading("Vẫn còn bình chữa cháy", 0.95)]
    plain = [reading("Van con binh сһйа chay", 0.97)]
    assert not is_surer(vietnamese, plain, latin)
    assert not sees_other_script(vietnamese, plain, latin)
    mixed = [reading("PhotoDesk Pro закрывается", 0.97)]
    assert sees_other_script([reading("PhotoDesk Pro záкphbaetcя", 0.9)], mixed, latin)
    assert is_surer([reading("PhotoDesk Pro zaĸpuвaeтca", 0.7)], mixed, latin)


@pytest.mark.parametrize(
    ("own", "other", "is_seen"),
    [
        (reading("počecima", 0.99), reading("росесіта", 0.93), False),
        (reading("ÚNIKOVÝM", 0.99), reading("ύΝΙΚΟνΫΜ", 0.94), False),
        (reading("EPICTÈTE", 0.90), reading("ЕРІСТЀТЕ", 0.98), False),
        (reading("JĄĄPAHCKOM", 0.86), reading("ЈАДРАНСКОМ", 0.99), True),
        (reading("ïxa", 0.98), reading("їжа", 0.99), True),
        (reading("ënka", 0.99), reading("ёлка", 0.98), True),
    ],
)
def test_as_many_accents_as_telling_letters_are_decided_by_sureness(
    own, other, is_seen
):
    assert sees_other_script([own], [other], charset_of("latin")) is is_seen


class Fixed(Reader):
    """A reader that always says the same; counts what it is asked for."""

    def __init__(self, weights: WeightsFile, said: Reading, **options) -> None:
        super().__init__(weights, "cpu", torch.float32, **options)
        self.said = said
        self.asked = 0

    def _read_whole(self, images, *, boxes, attention):
        self.asked += len(images)
        return [self.said] * len(images)


@pytest.mark.parametrize(
    ("own", "language", "text", "asked_for"),
    [
        (reading("Mockea", 0.7), None, "Москве", 2),
        (reading("Mockea", 0.95), None, "Москве", 2),  # no word
        (reading("Moscow", 0.95), None, "Moscow", 0),
        (reading("16:45", 0.95), None, "16:45", 0),
        (reading("Mockea", 0.97), "ru+de", "Москве", 2),
        (reading("Mockea", 0.7), "ru+de", "Москве", 2),
    ],
)
def test_crops_go_to_the_reader_of_their_script(
    weights, word_image, own, language, text, asked_for
):
    first, other = readers_of_two_scripts(weights, own, reading("Москве", 0.95))
    first.language = language
    found = first.read([word_image("one"), word_image("two")])
    assert [each.text for each in found] == [text] * 2
    assert other.asked == asked_for


def readers_of_two_scripts(
    weights: WeightsFile, own: Reading, other: Reading, effort: str | None = None
) -> tuple[Fixed, Fixed]:
    """Readers that read every image alike, of English and of Russian."""
    doubting = replace(weights.preprocessing, reread_below=0.9)
    weights = replace(weights, preprocessing=doubting)
    russian = replace(weights, provenance={"language": "ru"})
    second = Fixed(russian, other)
    second.charset = charset_of("cyrillic-greek")
    english = replace(weights, provenance={"language": "en"})
    first = Fixed(english, own, others=[lambda: second], effort=effort)
    first.charset = charset_of("latin")
    return first, second


def test_who_reads_images_once_asks_no_other_reader(weights, word_image):
    own = reading("Mockea", 0.7)
    first, other = readers_of_two_scripts(weights, own, reading("Москве", 0.95), "fast")
    assert first.read(word_image("one")).text == "Mockea"
    assert other.asked == 0


@pytest.mark.parametrize(
    ("own", "other", "is_other"),
    [
        (reading("Mockea", 0.95), reading("Москве", 0.95), True),
        (reading("Mockea", 0.95), reading("Москве", 0.85), False),
        (reading("KAPBEPE", 0.99), reading("КАРЬЕРЕ", 0.95), True),
        # All letters look like Latin ones: the one that is a word
        (reading("POMAHC", 0.99), reading("РОМАНС", 0.95), True),
        (reading("POMAHCX", 0.99), reading("РОМАНСХ", 0.95), False),
        (reading("MAMA", 0.99), reading("МАМА", 0.95), False),
        (reading("a", 0.6), reading("а", 0.95), False),
        (reading("Moscow", 0.6), reading("Moscow", 0.95), False),
        # No word, with letters that look like none of Latin
        (reading("Bay", 0.98), reading("Взу", 0.95), False),
        (reading("Bay", 0.94), reading("Взу", 0.95), True),
    ],
)
def test_one_sure_look_at_letters_of_its_own_is_believed(own, other, is_other):
    known = charset_of("latin")
    english = prior_of(None, "en")
    russian = prior_of(None, "ru")
    assert is_of_other_script(own, other, known, english, russian) is is_other


def test_unknown_words_need_another_reader_and_doubts_where_no_words_are_known():
    english = prior_of(None, "en")
    assert not may_be_of_other_script(reading("Museum", 0.8), english, None)
    assert not may_be_of_other_script(reading("12,50", 0.8), english, None)
    assert may_be_of_other_script(reading("My3eee", 0.99), english, None)
    assert may_be_of_other_script(reading("My3eee", 0.6), english, None)
    assert not may_be_of_other_script(reading("My3eee", 0.2), english, None), "hopeless"
    assert may_be_of_other_script(reading("Museum", 0.8), None, None)
    assert not may_be_of_other_script(reading("My3eee", 0.95), None, None)


@pytest.mark.parametrize(
    ("text", "confidence", "is_looked_at"),
    [
        ("Come to the museum, 9-17", 0.97, False),
        ("Come to My3eee", 0.95, True),
        ("Ham HpaBNTCR My3ee", 0.97, True),
        ("10,9002", 0.95, True),  # 10,900원
        ("10,900", 0.99, False),
        ("SM+:", 0.97, True),  # 상품수:, and SM is in lists by chance
        ("W Z H", 0.35, True),
        ("The museum", 0.6, True),
        ("The museum", 0.95, False),
    ],
)
def test_lines_are_looked_at_that_hold_no_word_surely(text, confidence, is_looked_at):
    own = reading(text, confidence)
    english = prior_of(None, "en")
    assert may_be_line_of_other_script(own, english) is is_looked_at
    assert may_be_line_of_other_script(own, None) is (confidence < 0.9)


@pytest.mark.parametrize(
    ("own", "other", "is_likely"),
    [
        (("3 ₴ &", 0.4), ("차림상", 0.86), True),
        (("U249-9n", 0.2), ("무침(인분)", 0.7), True),
        (("CUSANG", 0.3), ("어31C", 0.1), False),  # illegible
        (("OK, today", 0.95), ("OK, 또day", 0.95), False),
        (("N,", 0.5), ("В,", 0.9), False),  # which may be a Latin letter
        (("Dấu một mấy", 0.6), ("마u mot may", 0.9), False),  # accents tell of Latin
    ],
)
def test_lines_are_what_is_far_more_probable(
    weights, word_image, own, other, is_likely
):
    known = charset_of("latin")
    assert is_likelier(reading(*own), reading(*other), known) is is_likely
    first = Fixed(replace(weights, provenance={"language": "en"}), reading(*own))
    second = Fixed(replace(weights, provenance={"language": "ko"}), reading(*other))
    second.charset = charset_of("korean")
    first._others = (lambda: second,)
    first.reads_lines = True
    assert (first.read(word_image("one")).text == other[0]) is is_likely


@pytest.mark.parametrize(
    ("text", "confidence", "probability", "is_looked_at"),
    [
        ("My3eee", 0.95, 0.1, False),
        ("My3eee", 0.95, 0.5, True),
        ("Museum", 0.95, 0.5, False),
        ("Museum", 0.95, 0.95, True),
        ("Museum", 0.995, 0.95, False),
        ("Museum", 0.2, 0.95, False),
        ("12,50", 0.95, 0.95, False),
    ],
)
def test_a_detector_tells_what_to_look_at(text, confidence, probability, is_looked_at):
    own = reading(text, confidence)
    english = prior_of(None, "en")
    assert may_be_of_other_script(own, english, probability) is is_looked_at


@pytest.mark.parametrize(("language", "asked_for"), [(None, 0), ("ru+de", 1)])
def test_the_other_reader_looks_once_where_it_sees_no_letters_of_its_own(
    weights, word_image, language, asked_for
):
    """Its copy that reads at one look is asked first; `asked` counts full readings."""
    other = Fixed(weights, reading("Moscow", 0.99))
    first = Fixed(weights, reading("Moscovv", 0.7), others=[lambda: other])
    first.language = language
    assert first.read(word_image("one")).text == "Moscovv"
    assert other.asked == asked_for
    assert other.at_one_look()._batches.rereader.options.doubtful == 0.0


def test_readers_that_see_other_sizes_do_not_read_together(weights, word_image):
    wide = replace(weights, preprocessing=Preprocessing(turn_above=2.0))
    other = Fixed(wide, reading("Москва", 0.9))
    first = Fixed(weights, reading("MockBa", 0.5), others=[lambda: other])
    with pytest.raises(ValueError, match="see images in the same size"):
        first.read_decoded([decode(word_image("word"), first.preprocessing)])


def test_a_reader_of_several_scripts_writes_words_in_one(weights, word_image):
    reader = Fixed(weights, reading("Mocквa TOM", 0.9))
    reader.charset = charset_of("cyrillic-greek")
    assert reader.read(word_image("word")).text == "Москва ТОМ"


@pytest.fixture
def three(folder) -> Path:
    """A folder of Latin, Cyrillic and Greek, and Korean."""
    return folder(tiny="latin", cyrillic_greek="cyrillic-greek", korean="korean")


@pytest.mark.parametrize(
    ("language", "first", "others"),
    [
        ("ko", "korean", ()),
        ("ko+en", "korean", ()),
        ("ko+de", "tiny", ("korean",)),
        ("ru+ko", "cyrillic-greek", ("korean",)),
        ("de+ru+ko", "tiny", ("cyrillic-greek", "korean")),
        ("ru", "cyrillic-greek", ()),
        ("de", "tiny", ()),
        (None, "tiny", ("cyrillic-greek", "korean")),
    ],
)
def test_three_pairs_are_chosen_by_language(three, language, first, others):
    choice = choose_weights(three, asked(language))
    assert Path(choice.first).stem == first
    assert tuple(path.stem for path in choice.others) == others


def test_what_may_be_read_in_hangul_is_for_the_korean_reader(three):
    for search in (
        Search(lexicon=["서울", "부산"]),
        Search(alphabet="가나다0123456789"),
        Search(pattern="[가-힣]{2,3}"),
    ):
        assert choose_weights(three, search).first == three / "korean.safetensors"


def test_korean_without_its_weights_is_refused_in_one_line(latin_alone):
    with pytest.raises(ValueError, match=r"read Hangul, .*vit_tiny_korean\.yaml"):
        choose_weights("tiny", asked("ko"))


def test_lines_are_of_the_pair(folder):
    path = folder(korean="korean", korean_line="korean")
    assert lines_of(path / "korean.safetensors") == path / "korean-line.safetensors"
    assert languages_of(path / "korean-line.safetensors") == ["ko"]
    assert {"ru", "el"} <= set(languages_of("cyrillic-greek"))
    assert languages_of("tiny") == []


@pytest.mark.parametrize(
    ("own", "other", "is_seen"),
    [
        (reading("EtA", 0.7), reading("태사", 0.95), True),
        # A syllable is read as about two letters, accents among them
        (reading("Bàñg", 0.95), reading("방", 0.93), False),
        (reading("Bàñg", 0.6), reading("방", 0.93), True),
        # Letters of Hangul alone and Chinese characters look like Latin letters and signs
        (reading("o l", 0.7), reading("ㅇ ㅣ", 0.99), False),
        (reading("A-", 0.7), reading("大", 0.99), False),
    ],
)
def test_syllables_of_hangul_tell(own, other, is_seen):
    assert sees_other_script([own], [other], charset_of("latin")) is is_seen


@pytest.mark.parametrize(
    ("cyrillic", "korean", "text"),
    [
        (reading("Москве", 0.95), reading("모스크바", 0.97), "모스크바"),
        (reading("Москве", 0.97), reading("모스크바", 0.95), "Москве"),
        (reading("Mockea", 0.97), reading("모스크바", 0.95), "모스크바"),
        (reading("Mockea", 0.97), reading("Mockea", 0.95), "Mockea"),
    ],
)
@pytest.mark.parametrize("language", [None, "de+ru+ko"])
def test_of_several_other_readers_the_surest_is_believed(
    weights, word_image, cyrillic, korean, text, language
):
    first, second = readers_of_two_scripts(weights, reading("Mockea", 0.7), cyrillic)
    third = Fixed(replace(weights, provenance={"language": "ko"}), korean)
    third.charset = charset_of("korean")
    first._others = (lambda: second, lambda: third)
    first.language = language
    assert first.read(word_image("one")).text == text


def test_a_detector_says_which_reader_looks(weights, word_image):
    first, second = readers_of_two_scripts(
        weights,
        replace(reading("Mockea", 0.7), other_script=0.96, of_others=(0.01, 0.95)),
        reading("Москве", 0.99),
    )
    third = Fixed(weights, reading("서울", 0.95))
    third.charset = charset_of("korean")
    first._others = (lambda: second, lambda: third)
    assert first.read(word_image("one")).text == "서울"
    assert second.asked == 0


def test_korean_words_are_left_as_they_are_read(weights, word_image):
    """Hangul looks like no other script: nothing is to be written in one."""
    reader = Fixed(weights, reading("API를 A4로", 0.9))
    reader.charset = charset_of("korean")
    assert not has_look_alikes(weights.charset)
    assert not has_look_alikes(charset_of("korean"))
    assert one_script("API를 Mocквa 서울") == "API를 Москва 서울"
    assert reader.read(word_image("word")).text == "API를 A4로"


@pytest.mark.parametrize(
    ("text", "confidence", "probability", "is_left_out"),
    [
        ("nlwn", 0.6, 0.99, True),
        ("nlwn", 0.6, 0.9, False),
        ("nlwn", 0.6, None, False),
        ("nlwn", 0.95, 0.99, False),  # sure
        ("Museum", 0.6, 0.99, False),  # a word
        ("12,50", 0.6, 0.99, False),
    ],
)
def test_unsure_texts_in_scripts_that_nobody_reads_are_left_out(
    weights, word_image, text, confidence, probability, is_left_out
):
    said = replace(reading(text, confidence), unread_script=probability)
    first = Fixed(replace(weights, provenance={"language": "en"}), said)
    found = first.read(word_image("one"))
    assert found.is_left_out is is_left_out
    assert found.text == ("" if is_left_out else text)
    row = reading_row("one.png", found)
    assert row.get("unread_script") == (probability if is_left_out else None)
    first.language = "en"
    assert first.read(word_image("one")).text == text, "as somebody has asked for it"


def test_what_another_reader_is_sure_of_is_not_left_out(weights, word_image):
    own = replace(reading("Mockea", 0.7), unread_script=0.99)
    first, _ = readers_of_two_scripts(weights, own, reading("Москве", 0.95))
    assert first.read(word_image("one")).text == "Москве"
