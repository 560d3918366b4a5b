"""Whole pages to words in reading order."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.characters.alphabets import scripts_in
from vit_str.characters.charset import charset_of
from vit_str.decoding.boxes import Box
from vit_str.decoding.prior import prior_of
from vit_str.decoding.readings import Character, Reading
from vit_str.decoding.search import Search
from vit_str.pages.find.geometry import Quadrilateral, Strip, rectangle
from vit_str.pages.pictures import pictures_in
from vit_str.pages.read.lines import PageReaders, read_lines
from vit_str.pages.read.pieces import Piece, joined, whole, words_of
from vit_str.pages.read.sure_words import MINIMUM_CONFIDENCE, with_sure_words
from vit_str.pages.reader import PageReader, load_page
from vit_str.pages.write.json_rows import page_row
from vit_str.words.reader import Reader, load

Drawn = tuple[Image.Image, Any]
Draw = Callable[..., Drawn]


@pytest.mark.parametrize("quarters", range(4))
def test_pages_are_read_however_they_are_turned(drawn, page_reader, lines, quarters):
    image, detector = drawn
    detector.quarters = quarters
    turned = image.rotate(-90 * quarters, expand=True)
    page = page_reader.read(turned)
    assert page.text == "\n".join(lines)
    assert (page.width, page.height) == turned.size
    assert len(page.words) == sum(len(line.split()) for line in lines)


def test_pages_are_read_in_every_form(drawn, page_reader, tmp_path):
    image, _ = drawn
    image.save(tmp_path / "page.png")
    array = np.asarray(image)
    forms = [tmp_path / "page.png", (tmp_path / "page.png").read_bytes(), array]
    forms += [np.moveaxis(array, 2, 0), array / 255]
    expected = page_reader.read(image).text
    for form in forms:
        assert page_reader.read(form).text == expected
    with pytest.raises(ValueError, match="give several images as a list"):
        page_reader.read(np.zeros((2, 32, 128, 3), np.uint8))


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", [3, 6])
def test_turned_photographs_are_read_upright(
    drawn, page_reader, lines, form, orientation, tmp_path
):
    image, _ = drawn
    path = tmp_path / "photo"
    turn = {3: Image.Transpose.ROTATE_180, 6: Image.Transpose.ROTATE_90}
    exif = Image.Exif()
    exif[0x0112] = orientation
    image.transpose(turn[orientation]).save(path, form, exif=exif, quality=95)
    for source in (path, path.read_bytes(), next(pictures_in(str(path)))):
        page = page_reader.read(source)
        assert page.text == "\n".join(lines)
        assert (page.width, page.height) == image.size


def test_a_photograph_has_all_its_pixels_in_every_form(page_reader, tmp_path):
    path = tmp_path / "scan.jpg"
    Image.new("RGB", (2480, 3508), "white").save(path)
    page_reader.detector.boxes = []
    with path.open("rb") as file:
        for source in (path, path.read_bytes(), file):
            page = page_reader.read(source)
            assert (page.width, page.height) == (2480, 3508)


def test_characters_lie_in_their_words_and_words_in_their_lines(drawn, page_reader):
    image, _ = drawn
    page = page_reader.read(image, boxes=True)
    rows = [word.box for word in page.words]
    assert all(one.top <= other.top + 10 for one, other in pairwise(rows))
    for word in page.words:
        assert len(word.characters) == len(word.text)
        lefts = [character.box.left for character in word.characters if character.box]
        assert lefts == sorted(lefts) and len(lefts) == len(word.text)
        assert word.box.left - 4 <= lefts[0] and lefts[-1] < word.box.right


def test_a_line_across_the_page_is_turned_by_itself(draw, drawn, tiny):
    image, detector = drawn
    label = draw(["LIBRARY"])[0]
    upwards = label.crop((20, 10, 200, 80)).rotate(90, expand=True)
    wide = Image.new("RGB", (520, image.height), "white")
    wide.paste(image, (0, 0))
    wide.paste(upwards, (430, 10))
    detector.boxes = [*detector.boxes, rectangle(435, 15, 490, 185)]
    page = PageReader(tiny, detector).read(wide)
    assert "LIBRARY" in {word.text for word in page.words}
    assert {"Museum", "daily", "tea"} <= {word.text for word in page.words}


@pytest.mark.parametrize("word", ["ON", "99", "pod", "SIS"])
def test_a_word_that_is_one_upside_down_too_is_upright(draw, tiny, word):
    image, detector = draw([word])
    assert PageReader(tiny, detector).read(image).text == word


def test_lone_digits_are_upright(draw, tiny):
    digits = [*"2746310"]
    image, detector = draw(digits)
    narrower = rectangle(3, 0, -3, 0)  # boxes of detectors are taller than wide
    detector.boxes = [box + narrower for box in detector.boxes]
    assert all(np.ptp(box, 0)[1] > 1.3 * np.ptp(box, 0)[0] for box in detector.boxes)
    page = PageReader(tiny, detector).read(image, boxes=True)
    assert page.text.split() == digits
    for word, box in zip(page.words, detector.boxes, strict=True):
        (character,) = word.characters
        middle = box.mean(0)[0]
        assert character.box.left < middle < character.box.right


def test_a_line_that_is_turned_among_others_is_read_by_itself(draw, tiny):
    lines = ["Museum station", "Coffee with milk", "Bakery and books"]
    image, detector = draw(lines)
    corner = tuple(detector.boxes[1].astype(int)[0])
    box = (*corner, *detector.boxes[1].astype(int)[2])
    image.paste(image.crop(box).rotate(180), corner)
    words = PageReader(tiny, detector).read(image).text.split()
    assert sorted(words) == sorted(" ".join(lines).split())


class LineReader:
    """Reads every strip as the line whose length fits best."""

    reads_lines, is_constrained, language = True, False, None
    charset = charset_of("latin")
    known_words = prior_of(None, "en")

    def __init__(self, lines: Sequence[str], confidence: float = 0.999) -> None:
        self.lines, self.confidence = lines, confidence

    def read(self, images: Sequence[Image.Image], *, boxes: bool) -> list[Reading]:
        assert boxes
        return [self._read(image) for image in images]

    def _read(self, image: Image.Image) -> Reading:
        text = min(self.lines, key=lambda line: abs(17 * len(line) - image.width))
        side = image.width / len(text)
        characters = (
            Character(
                character,
                self.confidence,
                Box(place * side, 0, (place + 1) * side, image.height),
            )
            for place, character in enumerate(text)
        )
        return Reading(text, 0.9, tuple(characters))


def test_lines_of_a_reader_of_lines_are_cut_at_their_spaces(draw):
    lines = ["Exit", "Open daily", "Coffee and tea for two"]
    image, detector = draw(lines)
    page = PageReader(cast(Reader, LineReader(lines)), detector).read(image)
    assert page.text == "\n".join(lines)
    assert len(page.words) == sum(len(line.split()) for line in lines)
    for word, after in pairwise(page.words):
        assert word.confidence == pytest.approx(0.999 ** len(word.text))
        same_line = abs(word.box.top - after.box.top) < 5
        assert not same_line or word.box.right < after.box.left


def test_a_word_longer_than_the_reader_takes_is_read_in_parts(draw, tiny):
    word = "internationalisationofcoffeehouses"
    image, detector = draw([word])
    doubtful = cast(Reader, LineReader([word], confidence=0.5))
    (found,) = PageReader(tiny, detector, doubtful, 0.0).read(image, boxes=True).words
    assert len(found.text) > 25
    assert found.text[:8] == word[:8] and found.text[-6:] == word[-6:]
    first, last = found.characters[0].box, found.characters[-1].box
    assert first and last and first.left < 60 and last.right > image.width - 60


def test_a_reader_that_never_ends_its_texts_comes_to_an_end(draw):
    def read(images: Sequence[Image.Image], boxes: bool) -> list[Reading]:
        return [Reading("x" * 25, 0.5, (Character("x", 0.5),) * 25) for _ in images]

    endless = SimpleNamespace(
        read=read,
        maximum_length=25,
        reads_lines=False,
        is_constrained=False,
        language=None,
    )
    word = "internationalisation"
    image, detector = draw([word])
    doubtful = cast(Reader, LineReader([word], confidence=0.5))
    (found,) = (
        PageReader(cast(Reader, endless), detector, doubtful, 0.0).read(image).words
    )
    assert set(found.text) == {"x"}


def test_a_reader_of_words_looks_at_what_the_reader_of_lines_doubts(draw, tiny):
    lines = ["Coffee", "Restaurant"]
    image, detector = draw(lines)
    wrong = ["Co1fee", "Rest4urant"]
    readers = (
        cast(Reader, LineReader(wrong, confidence)) for confidence in (0.5, 0.999)
    )
    doubted, sure = (
        PageReader(tiny, detector, each).read(image).text for each in readers
    )
    assert (doubted, sure) == ("\n".join(lines), "\n".join(wrong))


def reader_of_words(text: str, **others: object) -> SimpleNamespace:
    """Reads the same text in every word, surely."""

    def read(images: Sequence[Image.Image], boxes: bool) -> list[Reading]:
        return [Reading(text, 0.99, (Character(text, 0.99),)) for _ in images]

    return SimpleNamespace(
        read=read,
        maximum_length=25,
        reads_lines=False,
        is_constrained=False,
        language=None,
        charset=charset_of("european"),
        **others,
    )


@pytest.mark.parametrize(
    ("count", "effort", "expected"),
    [(10, None, "s"), (9, None, "v"), (10, "careful", "v")],
)
def test_words_of_print_are_read_without_other_views(draw, count, effort, expected):
    lines = ["one two six ten"] * count
    image, detector = draw(lines)
    simply = reader_of_words("s")
    with_views = reader_of_words(
        "v", effort=effort, without_augmentation=lambda: simply
    )
    doubtful = cast(Reader, LineReader(lines, confidence=0.5))
    page = PageReader(cast(Reader, with_views), detector, doubtful, 0.0).read(image)
    assert {word.text for word in page.words} == {expected}


@pytest.mark.parametrize(
    ("line", "expected"),
    [("ſie wußten es", "ſie"), ("ſie sangen es als eins", "w"), ("das Haus", "w")],
)
def test_print_with_the_long_s_is_for_the_reader_of_lines(draw, line, expected):
    image, detector = draw([line])
    words = reader_of_words("w", effort=None)
    doubtful = cast(Reader, LineReader([line], confidence=0.5))
    page = PageReader(cast(Reader, words), detector, doubtful, 0.0).read(image)
    assert page.words[0].text == expected


class CyrillicReader(LineReader):
    """Reads Cyrillic and ASCII; its page is that of another reader."""

    charset = charset_of("cyrillic-greek")


def page_of(
    draw: Draw, seen: Sequence[str], latin: float, others: Sequence[str], sure: float
) -> tuple[str, list[int]]:
    """What two readers of lines make of a page, and how often the other one was opened."""
    image, detector = draw(seen)
    opened: list[int] = []

    def open_other() -> PageReaders:
        opened.append(1)
        return PageReaders(cast(Reader, CyrillicReader(others, sure)), None)

    first = cast(Reader, LineReader(seen, latin))
    return PageReader(first, detector, None, 0.0, [open_other]).read(image).text, opened


def test_lines_that_are_doubtful_go_to_the_surer_reader(draw):
    latin = ["MockBa", "Open daily until"]
    other = ["Москва", "Open daily until"]
    text, opened = page_of(draw, latin, 0.7, other, 0.9)
    assert text == "Москва\nOpen daily until", (
        "English stays with the reader of Latin letters"
    )
    assert len(opened) == 1
    text, _ = page_of(draw, latin, 0.7, other, 0.6)
    assert text == "MockBa\nOpen daily until"


def test_where_the_lines_are_sure_no_other_reader_is_opened(draw):
    lines = ["Museum", "Open daily until"]
    text, opened = page_of(draw, lines, 0.97, ["Музеум", "Опен даилы унтил"], 0.99)
    assert text == "\n".join(lines)
    assert not opened


def test_lines_of_no_words_are_of_another_script_however_sure_they_are(draw):
    latin = ["nporpaMMa", "6n6noTeKa nopra"]
    other = ["программа", "библиотека порта"]
    text, opened = page_of(draw, latin, 0.97, other, 0.95)
    assert text == "\n".join(other)
    assert len(opened) == 1
    text, opened = page_of(draw, latin, 0.97, other, 0.85)
    assert text == "\n".join(latin), "the other reader is not sure"
    assert len(opened) == 1


def test_all_lines_of_a_page_of_another_script_go_to_its_reader(draw):
    latin = [f"Mock{'Ba' * count}" for count in range(1, 9)]
    other = [f"Моск{'ва' * count}" for count in range(1, 9)]
    text, opened = page_of(draw, latin, 0.7, other, 0.95)
    assert len(text.split()) == 8
    assert scripts_in(text) == {"Cyrillic"}, "the two beyond the six longest too"
    assert len(opened) == 1


class KoreanReader(LineReader):
    """Reads Hangul and ASCII; its page is that of another reader."""

    charset = charset_of("korean")


def test_every_line_goes_to_the_surest_of_several_readers(draw):
    seen = ["MockBa", "AEEEAEEEAEEEAE", "Open daily"]
    image, detector = draw(seen)
    first = cast(Reader, LineReader(seen, 0.7))
    cyrillic = CyrillicReader(["Москва", "AEEEAEEEAEEEAE", "Open daily"], 0.95)
    hangul = "서울특별시청앞지하철역입구"
    korean = KoreanReader(["모스크바시내", hangul, "Open daily"], 0.93)
    others = [
        lambda: PageReaders(cast(Reader, cyrillic), None),
        lambda: PageReaders(cast(Reader, korean), None),
    ]
    page = PageReader(first, detector, None, 0.0, others).read(image)
    assert page.text == f"Москва\n{hangul}\nOpen daily"


@pytest.mark.parametrize(("probability", "is_asked"), [(0.98, True), (0.3, False)])
def test_a_short_line_of_another_script_on_a_page_of_longer_ones(
    draw, probability, is_asked
):
    english = ["Open daily until ten in the evening"] * 7
    image, detector = draw([*english, "72WI: 471"])
    doubtful = [*english, "Seoul 471"]

    class Lines(LineReader):
        """Doubts the short line."""

        def _read(self, image: Image.Image) -> Reading:
            found = super()._read(image)
            is_short = len(found.text) < 12
            confidence = 0.7 if is_short else 0.999
            characters = (
                replace(each, confidence=confidence) for each in found.characters
            )
            return replace(found, characters=tuple(characters))

    def read(images: Sequence[Image.Image], boxes: bool) -> list[Reading]:
        told = {"other_script": probability, "of_others": (probability,)}
        return [Reading("x", 0.5, (Character("x", 0.5),), **told) for _ in images]

    words = SimpleNamespace(
        read=read,
        maximum_length=25,
        reads_lines=False,
        is_constrained=False,
        language=None,
        effort="careful",
        charset=charset_of("european"),
    )
    opened: list[int] = []

    def open_korean() -> PageReaders:
        opened.append(1)
        korean = KoreanReader([*english, "추천인 471"], 0.97)
        return PageReaders(cast(Reader, korean), None)

    lines = cast(Reader, Lines(doubtful))
    reader = PageReader(cast(Reader, words), detector, lines, 0.0, [open_korean])
    found = Counter(word.text for word in reader.read(image).words)
    last = "추천인 471" if is_asked else "Seoul 471"
    assert found == Counter(" ".join([*english, last]).split())
    assert bool(opened) == is_asked


def test_words_in_scripts_that_nobody_reads_are_left_out_of_pages(draw):
    seen = ["nlwn wnil", "Open daily"]
    image, detector = draw(seen)

    class Words:
        """Says that most words are of a script that it does not know."""

        is_constrained, language, reads_lines, maximum_length = False, None, False, 25
        effort = None

        def read(self, images, *, boxes):
            return [Reading("", 0.1, (), unread_script=0.99) for _ in images]

        def without_augmentation(self):
            return self

    for confidence, text in ((0.7, ""), (0.95, "nlwn wnil\nOpen daily")):
        lines = cast(Reader, LineReader(seen, confidence))
        page = PageReader(cast(Reader, Words()), detector, lines, 0.0).read(image)
        assert page.text == text
        assert page.is_mostly_unread is (not text)
        assert page_row("one.png", page).get("unread_script", False) is (not text)


@pytest.mark.parametrize(
    ("sure", "is_read"), [("1540 188", True), ("Open daily", True), ("wni lmr", False)]
)
def test_doubtful_pages_are_read_if_they_hold_known_words_or_numbers(
    draw, sure, is_read
):
    doubtful = "nlwn wnil nwil lnwi wlin inlw"
    image, detector = draw([doubtful, doubtful, sure])

    class Lines(LineReader):
        """Doubts all but the short line."""

        def _read(self, image: Image.Image) -> Reading:
            found = super()._read(image)
            confidence = 0.99 if found.text == sure else 0.3
            characters = (
                replace(each, confidence=confidence) for each in found.characters
            )
            return replace(found, characters=tuple(characters))

    lines = cast(Reader, Lines([doubtful, sure]))
    page = PageReader(lines, detector).read(image)
    assert page.text == (sure if is_read else "")
    assert page.unread == (0 if is_read else 14)


@pytest.mark.parametrize("language", [None, "ru", "ru+de"])
def test_pages_have_the_weights_of_their_languages(both_scripts, language):
    reader = load_page(both_scripts, "cpu", search=Search(language=language))
    other = charset_of("cyrillic-greek")
    assert (reader.reader.charset == other) == (language == "ru")
    assert (reader.lines.charset == other) == (language == "ru")
    assert bool(reader.others) == (language != "ru")
    for open_readers in reader.others:
        readers = open_readers()
        assert readers.words is not None
        assert readers.words.charset == readers.lines.charset == other


@pytest.mark.parametrize("effort", [None, "careful", "fast"])
def test_words_of_a_page_are_read_by_larger_weights_where_they_are_doubtful(
    doubting_folder, effort, word_image
):
    reader = load_page(doubting_folder, "cpu", effort=effort)
    words = load(doubting_folder, "cpu", effort=effort)
    image = word_image("Two")
    assert reader.reader.read(image) == words.read(image)
    alone = load(doubting_folder / "tiny.safetensors", "cpu", effort=effort)
    is_same = words.read(image).text == alone.read(image).text
    assert is_same == (effort == "fast")


def test_words_of_a_page_have_one_script_as_their_lines(draw):
    lines = ["COP на TOM", "Mocквa и TOM на доме"]
    image, detector = draw(lines)
    found = PageReader(cast(Reader, CyrillicReader(lines)), detector).read(image)
    assert found.text == "СОР на ТОМ\nМосква и ТОМ на доме"
    assert [word.text for word in found.words] == found.text.split()


def test_words_of_a_lexicon_are_read_by_the_reader_of_words(draw):
    image, detector = draw(["Museum", "Open daily"])
    reader = load("tiny", "cpu", search=Search(lexicon=["museum", "Gallery", "Open"]))
    lines = cast(Reader, LineReader(["Museum", "Open daily"]))
    found = PageReader(reader, detector, lines, 0.0).read(image).words
    assert {word.text for word in found} <= {"museum", "Gallery", "Open"}


def test_words_below_the_least_confidence_are_left_out(drawn, tiny):
    assert not PageReader(tiny, drawn[1], minimum_confidence=1.0).read(drawn[0]).words


class NoLines:
    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        return []


def test_a_picture_without_text_has_no_words(tiny):
    page = PageReader(tiny, NoLines()).read(Image.new("RGB", (50, 50)))
    assert page.words == [] and page.text == ""


def test_a_crop_in_which_no_line_is_found_is_read_as_one(draw, tiny):
    image, _ = draw(["Museum station"])
    crop = image.crop((20, 15, 290, 70))
    assert PageReader(tiny, NoLines()).read(crop).text == "Museum station"


def test_parts_are_joined_where_their_texts_agree():
    def reading(text):
        return Reading(text, 1.0, tuple(Character(letter, 0.5) for letter in text))

    assert joined(reading("interna"), reading("ernatio")).text == "internatio"
    assert joined(reading("ab"), reading("cd")).text == "abcd"
    assert joined(reading("ab"), reading("cd")).confidence == 0.5**4


def test_marks_that_are_tall_are_not_taken_for_columns():
    strip = Strip(Image.new("RGB", (100, 40)), rectangle(0, 0, 100, 40))
    piece = Piece(strip, (50, 0, 60, 40))
    assert piece.image.size == (40, 40)
    seen = Character(":", 1.0, Box(10, 4, 30, 36))
    (character,) = piece.in_strip(Reading(":", 1.0, (seen,))).characters
    assert character.box == Box(52.5, 4, 57.5, 36)


def test_margins_of_words_stop_half_way_to_their_neighbors():
    strip = Strip(Image.new("RGB", (100, 20)), rectangle(0, 0, 100, 20))
    places = [("a", 1, 40), (" ", 40, 42), ("b", 42, 60), (" ", 60, 90), ("c", 90, 99)]
    characters = tuple(
        Character(c, 1.0, Box(left, 0, right, 20)) for c, left, right in places
    )
    found = words_of(whole(strip), Reading("a b c", 1.0, characters))
    assert [piece.box for piece, _ in found] == [
        (0, 0, 41, 20),
        (41, 0, 63, 20),
        (87, 0, 100, 20),
    ]
    ((piece, reading),) = words_of(whole(strip), Reading("", 1.0, ()))
    assert (piece.box, reading.text, reading.confidence) == ((0, 0, 100, 20), "", 0.0)


def test_the_detector_of_rapidocr_finds_the_lines(drawn):
    pytest.importorskip("rapidocr")
    from vit_str.pages.find.detection import RapidDetector

    image, detector = drawn
    found = RapidDetector().lines(image)
    assert len(found) == len(detector.boxes)
    tops = sorted(box[:, 1].min() for box in found)
    wanted = [box[0, 1] for box in detector.boxes]
    assert np.abs(np.array(tops) - wanted).max() < 15


@pytest.mark.parametrize("turned", [False, True])
def test_a_paper_ends_with_a_short_column(turned, matplotlib_fonts):
    """Found by the detector, by rules: headings over and between two columns, any way up."""
    pytest.importorskip("cv2")
    letters = ImageFont.truetype(str(matplotlib_fonts / "DejaVuSans.ttf"), 22)
    image = Image.new("RGB", (1000, 640), "white")
    pen = ImageDraw.Draw(image)
    left = ["window paper morning", "garden bridge silver", "market station letter"]
    right = ["kitchen summer doctor", "village picture orange"]
    below = ["mountain river forest", "teacher student school"], ["music concert piano"]
    pen.text((330, 20), "The heading of the page", "black", letters)
    pen.text((330, 300), "Another heading between", "black", letters)
    for columns, top in (((left, right), 80), (below, 360)):
        for column, start in zip(columns, (60, 540), strict=True):
            for number, text in enumerate(column):
                pen.text((start, top + 40 * number), text, "black", letters)
    reader = load_page()
    reader.arranger = None
    page = reader.read(image.rotate(180) if turned else image)
    read = [
        " ".join(word.text for word in line) for block in page.blocks for line in block
    ]
    expected = ["The heading of the page", *left, *right, "Another heading between"]
    assert read == [*expected, *below[0], *below[1]]


@pytest.mark.parametrize("turned", [False, True])
def test_marks_and_numbers_of_few_words_of_print_are_kept(turned, matplotlib_fonts):
    pytest.importorskip("cv2")
    letters = ImageFont.truetype(str(matplotlib_fonts / "DejaVuSerif.ttf"), 24)
    image = Image.new("RGB", (900, 260), "white")
    lines = [
        "and / or 1,234 Page 7",
        "It was so in 1968, and they told us, so often",
        "that nobody – not even we – asked why.",
        "Total 39.80 Tax 7 %",
    ]
    for number, text in enumerate(lines):
        ImageDraw.Draw(image).text((30, 20 + 55 * number), text, "black", letters)
    page = load_page().read(image.rotate(180) if turned else image)
    assert [line for line in page.text.splitlines() if line] == lines


def test_lines_are_found_in_pixels_of_the_image():
    pytest.importorskip("rapidocr")
    from vit_str.pages.find.detection import RapidDetector

    line = rectangle(20, 40, 220, 80)
    detector = RapidDetector()
    detector._boxes = lambda _: ([line], [])
    size = 736 // 2, 1472 // 2  # is searched at twice the size
    assert np.allclose(detector.lines(Image.new("RGB", size)), [line / 2])


@pytest.mark.parametrize(
    ("texts", "confidences", "kept"),
    [
        (["ID:", "0O1lI"], [0.99, 0.7], "ID: 0O1lI"),
        (["ID:", "0O1lI"], [0.99, 0.5], "ID:"),
        (["mx", "0O1lI"], [0.75, 0.7], ""),
        (["0O1lI"], [0.7], ""),
        (["–"], [0.99], ""),
        (["5", "–"], [0.99, 0.9], "5 –"),
    ],
)
def test_a_doubtful_word_is_kept_beside_a_sure_one(draw, texts, confidences, kept):
    image, detector = draw([" ".join(texts)])
    readers = PageReaders(cast(Reader, LineReader([" ".join(texts)])), None)
    (line,) = read_lines(readers, image, detector.boxes, 0)
    pieces = [piece for piece, _ in line.words]
    readings = []
    for text, confidence in zip(texts, confidences, strict=True):
        characters = tuple(Character(letter, confidence) for letter in text)
        readings.append(Reading(text, confidence ** len(text), characters))
    unsure = replace(line, words=tuple(zip(pieces, readings, strict=True)))
    (sure,) = with_sure_words([unsure], MINIMUM_CONFIDENCE)
    assert " ".join(reading.text for reading in sure.readings) == kept


def test_a_mark_between_sure_words_is_kept(draw):
    image, detector = draw(["one two six"])

    def found(text: str, confidence: float) -> str:
        def characters(word: str, sureness: float) -> tuple[Character, ...]:
            return tuple(Character(letter, sureness) for letter in word)

        readers = PageReaders(cast(Reader, LineReader(["one two six"])), None)
        (line,) = read_lines(readers, image, detector.boxes, 0)
        pieces = [piece for piece, _ in line.words]
        readings = [
            Reading("one", 1.0, characters("one", 0.99)),
            Reading(text, confidence, characters(text, confidence)),
            Reading("six", 1.0, characters("six", 0.99)),
        ]
        unsure = replace(line, words=tuple(zip(pieces, readings, strict=True)))
        (sure,) = with_sure_words([unsure], MINIMUM_CONFIDENCE)
        return " ".join(reading.text for reading in sure.readings)

    assert found("–", 0.4) == "one – six"
    assert found("x", 0.4) == "one six"
    assert found("x", 0.9) == "one x six"
