"""Pages that are hard to decide: lone digits, minus signs, turned pictures, codes, stamps.

    python benchmarks/hard_pages.py [KIND...] [--count 20] [--seed 1] [--model tiny]
        [--detector auto] [--save FOLDER]

Each kind is a function of this file that draws a page, other numbers, words, fonts and sizes in
every one. A page is right if it holds the words that were drawn and no others, each as often;
dashes are of one kind, and so are several low lines. Words are judged as a bag, with their F1, and
texts of several words by whether they are read in one piece. Codes that are meant to be doubtful
count as kept if a word is there that is like it.
"""

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

from vit_str.characters.distances import edit_distance
from vit_str.pages.find.detectors import AUTO
from vit_str.pages.reader import load_page

FONTS = (
    "DejaVuSans.ttf",
    "DejaVuSerif.ttf",
    "DejaVuSansMono.ttf",
    "DejaVuSans-Bold.ttf",
    "STIXGeneral.ttf",
)
"""Files of matplotlib."""
ITEMS = (
    "Paper Pen Ruler Folder Stapler Eraser Marker Tape Clip Brush Lamp Cable Plug Hinge Screw "
    "Washer Filter Gasket Valve Belt"
)
NAMES = "Lisbon Tartu Ghent Malmö Cork Turin Bergen Basel Porto Graz Leipzig Dundee"
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
TWO_WAYS = "ON NO 99 66 SIS 96 69 1961 MOW pod SOS OHIO 8 0 NOON 906 SWIMS 16 91 NOM"
MINUSES = "-–−"
LIKENESS = 0.5  # of its characters that differ, at most, in a word that is a code
_DASHES = str.maketrans("–—−‐", "----")


class Drawn(NamedTuple):
    """A page, its words, those that only have to be there, however they are read, and its texts."""

    image: Image.Image
    words: list[str]
    doubtful: list[str]
    texts: list[str]


class Sheet:
    """A white page to write on, which keeps what is written."""

    def __init__(self, chance: random.Random, width: int, height: int) -> None:
        self.chance = chance
        self.image = Image.new("RGB", (width, height), "white")
        self.pen = ImageDraw.Draw(self.image)
        self.size = chance.randint(15, 24)
        folder = Path(find_spec("matplotlib").origin).parent  # type: ignore[union-attr, arg-type]
        file = folder / "mpl-data/fonts/ttf" / chance.choice(FONTS)
        self.font = ImageFont.truetype(file, self.size)
        self.words: list[str] = []
        self.texts: list[str] = []

    def write(self, x: float, y: float, text: str, anchor: str = "la") -> None:
        """A text whose anchor, as Pillow names them, is at a place."""
        self.pen.text((x, y), text, "black", self.font, anchor)
        self.words += text.split()
        self.texts.append(text)

    def write_rows(self, texts: Iterable[str], step: int = 46) -> None:
        """Texts below each other, so many pixels apart."""
        for row, text in enumerate(texts):
            self.write(30, 30 + row * step, text)

    def paste(self, other: "Sheet", image: Image.Image, place: tuple[int, int]) -> None:
        """What is written on another sheet, as a picture of it."""
        self.image.paste(image, place)
        self.words += other.words
        self.texts += other.texts

    def drawn(self, doubtful: tuple[str, ...] = ()) -> Drawn:
        """What was drawn."""
        return Drawn(self.image, self.words, [*doubtful], self.texts)


def quantities(chance: random.Random) -> Drawn:
    """A table without rules, with a digit by itself in two of its columns."""
    sheet = Sheet(chance, 640, 620)
    for x, head in ((40, "Item"), (220, "Qty"), (320, "Price"), (460, "Back")):
        sheet.write(x, 30, head)
    for row, item in enumerate(chance.sample(ITEMS.split(), 12)):
        y = 75 + row * 42
        sheet.write(40, y, item)
        sheet.write(230, y, str(chance.randint(0, 9)))
        sheet.write(320, y, f"{chance.uniform(1, 99):.2f}")
        sheet.write(470, y, str(chance.randint(0, 9)))
    return sheet.drawn()


def grids(chance: random.Random) -> Drawn:
    """Rows of single digits, some of them empty, with rules around them or without."""
    side = chance.randint(5, 9)
    room = chance.randint(44, 64)
    sheet = Sheet(chance, 60 + side * room, 60 + side * room)
    share = chance.choice((0.4, 0.7, 1.0))
    if chance.random() < 0.5:
        for place in range(side + 1):
            at = 30 + place * room
            sheet.pen.line((30, at, 30 + side * room, at), "black")
            sheet.pen.line((at, 30, at, 30 + side * room), "black")
    for row in range(side):
        for column in range(side):
            if chance.random() < share:
                x = 30 + (column + 0.5) * room
                y = 30 + (row + 0.5) * room
                sheet.write(x, y, str(chance.randint(0, 9)), "mm")
    return sheet.drawn()


def charts(chance: random.Random) -> Drawn:
    """Bars over numbers, beside an axis with numbers from zero on."""
    sheet = Sheet(chance, 660, 460)
    bars = chance.randint(3, 8)
    step = chance.choice((1, 2, 5, 10, 20, 50))
    sheet.pen.line((90, 30, 90, 390), "black", 2)
    sheet.pen.line((90, 390, 640, 390), "black", 2)
    for tick in range(5):
        sheet.write(80, 390 - tick * 85, str(tick * step), "rm")
    for place in range(bars):
        x = 90 + (place + 0.5) * 550 / bars
        top = chance.randint(60, 360)
        color = chance.choice(("steelblue", "gray", "darkorange", "black"))
        sheet.pen.rectangle((x - 14, top, x + 14, 389), fill=color)
        sheet.write(x, 402, str(place + 1), "ma")
    return sheet.drawn()


def single_words(chance: random.Random) -> Drawn:
    """A word or number that is one upside down too, alone on its picture."""
    sheet = Sheet(chance, 500, 260)
    sheet.font = sheet.font.font_variant(size=chance.randint(30, 90))
    sheet.write(250, 130, chance.choice(TWO_WAYS.split()), "mm")
    return sheet.drawn()


def minus_signs(chance: random.Random) -> Drawn:
    """Numbers with a minus of any kind, at them or with a space between."""
    sheet = Sheet(chance, 660, 480)
    minus = chance.choice(MINUSES)
    space = chance.choice(("", "", " "))
    for row in range(10):
        y = 30 + row * 42
        sheet.write(30, y, f"Line {row + 1}")
        for x in (180, 340, 500):
            number = chance.choice((f"{chance.randint(1, 999)}", "100", "0.5", "3 %"))
            sign = chance.choice(("", "+", minus + space, minus + space))
            sheet.write(x, y, sign + number)
    return sheet.drawn()


def zeros(chance: random.Random) -> Drawn:
    """Noughts by themselves, among numbers or as numbers of several of them."""
    sheet = Sheet(chance, 600, 460)
    for row, name in enumerate(chance.sample(NAMES.split(), 8)):
        y = 30 + row * 48
        sheet.write(30, y, name)
        for x in (220, 340, 460):
            sheet.write(x, y, chance.choice(("0", "0", "00", "000000", "10", "7")))
    return sheet.drawn()


def turned_pictures(chance: random.Random) -> Drawn:
    """A screen with a picture in it that is turned upside down, or on its side."""
    sheet = Sheet(chance, 820, 460)
    for x, text in ((20, "Main Page"), (180, "Settings"), (340, "Regions of Interest")):
        sheet.write(x, 12, text)
    steps = (
        "Take Picture",
        "Align Image",
        "Takes up to a",
        "minute",
        "Analyse",
        "Save",
    )
    for place, text in enumerate(steps):
        sheet.write(600, 80 + place * 46, text)
    label = Sheet(chance, 500, 330)
    lines = (
        f"SERIAL {chance.randint(10**8, 10**9)}",
        f"MODEL WN-{chance.randint(20, 90)} CLASS B",
        f"MADE IN {chance.choice(NAMES.split()).upper()} {chance.randint(1990, 2024)}",
        f"MAX {chance.randint(2, 9)} MPa {chance.randint(20, 70)} C",
    )
    for place, text in enumerate(lines[: chance.randint(2, 4)]):
        label.write(30, 40 + place * 65, text)
    label.pen.rectangle((0, 0, 499, 329), outline="gray", width=3)
    turn = chance.choice((Image.Transpose.ROTATE_180, Image.Transpose.ROTATE_90))
    sheet.paste(label, label.image.transpose(turn).resize(_fitting(turn)), (20, 70))
    return sheet.drawn()


def _fitting(turn: Image.Transpose) -> tuple[int, int]:
    return (500, 330) if turn == Image.Transpose.ROTATE_180 else (250, 379)


def codes(chance: random.Random) -> Drawn:
    """Codes of signs that nobody tells apart in some faces, beside words that are plain."""
    sheet = Sheet(chance, 620, 420)
    doubtful = []
    for row in range(8):
        y = 30 + row * 46
        code = "".join(chance.choices("0O1lI8B5S2Z", k=chance.randint(4, 8)))
        sheet.write(30, y, f"{chance.choice(('ID:', 'Key:', 'Code:', 'Ref:'))}")
        sheet.pen.text((150, y), code, "black", sheet.font)
        doubtful.append(code)
    return sheet.drawn(tuple(doubtful))


def look_alikes(chance: random.Random) -> Drawn:
    """Numbers and words whose signs other scripts have too, on a page of Latin letters."""
    sheet = Sheet(chance, 640, 420)
    texts = ("COPY", "TOKEN", "HOBBY", "MAP", "BOOK", "TEXT", "CAKE", "HAMMER")
    for row, text in enumerate(chance.sample(texts, 6)):
        y = 30 + row * 56
        noughts = "0" * chance.randint(3, 9)
        sheet.write(30, y, f"{chance.choice(('Visa', 'Note', 'Annotation'))} *")
        sheet.write(260, y, chance.choice((noughts, text)))
        sheet.write(460, y, chance.choice(("AB", "HE", "PC", "OX", "303", "TV")))
    return sheet.drawn()


def identifiers(chance: random.Random) -> Drawn:
    """Long identifiers, dates without spaces, calls and words with hyphens, and spaces that are."""
    sheet = Sheet(chance, 900, 470)

    def some(signs: str, count: int) -> str:
        return "".join(chance.choices(signs, k=count))

    digits = "0123456789"
    drawn = (
        lambda: "-".join(some(digits + "abcdef", size) for size in (8, 4, 4, 4, 12)),
        lambda: some(digits + "abcdef", chance.choice((16, 32, 40))),
        lambda: some("ABCDEFGHJKLMNPRS" + digits, 17),
        lambda: " ".join(("DE" + some(digits, 2), *(some(digits, 4) for _ in "1234"))),
        lambda: f"{some(digits, 2)}{chance.choice(MONTHS.split())}20{some(digits, 2)}",
        lambda: f"{chance.randint(1, 28)} {chance.choice(MONTHS.split())} 2011",
        lambda: f"{chance.choice(NAMES.split()).lower()}(item[{some(digits, 1)}])",
        lambda: f"{chance.choice(ITEMS.split()).lower()}.clear()",
        lambda: "{}-{} {}".format(*chance.sample(NAMES.upper().split(), 3)),
    )
    sheet.write_rows(chance.choice(drawn)() for _ in range(9))
    return sheet.drawn()


def low_lines(chance: random.Random) -> Drawn:
    """Names with low lines between words, and blanks to write on within sentences."""
    sheet = Sheet(chance, 820, 420)

    def name() -> str:
        return "_".join(chance.sample(ITEMS.lower().split(), chance.randint(2, 3)))

    blank = "_" * chance.randint(4, 12)

    def text() -> str:
        texts = (
            f"{name()} = {name()}({name()})",
            f"/home/{name()}/{name()}.txt",
            f"from {name()} import {name()}",
            f"The {chance.choice(ITEMS.split())} of {blank} is {blank} now",
        )
        return chance.choice(texts)

    sheet.write_rows(text() for _ in range(8))
    return sheet.drawn()


def low_ends(chance: random.Random) -> Drawn:
    """Names with low lines before and behind them, one or two, in a face of source."""
    sheet = Sheet(chance, 640, 420)
    sheet.font = _font(sheet, "DejaVuSansMono.ttf", "DejaVuSans.ttf")

    def name() -> str:
        lines = chance.choice(("_ ", "__ ", "__ __", "_ _", " _")).split(" ")
        return chance.choice(ITEMS.lower().split()).join(lines)

    def text() -> str:
        texts = (
            f"{name()} and {name()}",
            f"def {name()}(self):",
            f"self.{name()} = {name()}",
            f"from . import {name()}",
            name(),
        )
        return chance.choice(texts)

    sheet.write_rows(text() for _ in range(8))
    return sheet.drawn()


def dashes(chance: random.Random) -> Drawn:
    """Sentences that begin or end with a dash, as those of a conversation."""
    sheet = Sheet(chance, 640, 420)

    def text() -> str:
        words = chance.sample(ITEMS.lower().split(), chance.randint(2, 4))
        sentence = " ".join(words).capitalize()
        dash = chance.choice("—–")
        return chance.choice((f"{sentence} {dash}", f"{dash} {sentence}"))

    sheet.write_rows(text() for _ in range(8))
    return sheet.drawn()


def blanks(chance: random.Random) -> Drawn:
    """A form: lines to write on behind labels, in brackets and before marks."""
    sheet = Sheet(chance, 640, 460)
    names = ("Name", "Date", "Address", "City", "Phone", "Title", "Company", "Total")

    def blank(least: int = 3, most: int = 16) -> str:
        return "_" * chance.randint(least, most)

    forms = (
        lambda: f"{chance.choice(names)}: {blank()}",
        lambda: f"{chance.choice(names)} {blank()} {chance.choice(names)} {blank()}",
        lambda: f"I, {blank()}, agree.",
        lambda: f"{chance.choice(names)}: ( {blank(3, 4)} ) {blank(5, 9)}",
        lambda: f"{chance.choice(names)} $ {blank()} only",
        lambda: (
            f"{chance.randint(1, 9)}. The {chance.choice(ITEMS.split())} is {blank()}."
        ),
        lambda: f"Yes {blank(2, 4)} No {blank(2, 4)}",
    )
    sheet.write_rows((chance.choice(forms)() for _ in range(8)), 50)
    return sheet.drawn()


def struck_words(chance: random.Random) -> Drawn:
    """Words with a stroke through them, among others and beside words with a line below."""
    sheet = Sheet(chance, 640, 440)
    thickness = chance.choice((1, 2, 2))
    for row in range(8):
        words = chance.sample((ITEMS + " " + NAMES).split(), 3)
        words += [f"{chance.uniform(1, 999):.2f}", f"{chance.randint(10, 999)}"]
        chance.shuffle(words)
        first = chance.randint(0, 3)
        struck = range(first, first + chance.choice((1, 1, 2)))
        is_struck = chance.random() < 0.7
        _struck_line(sheet, 30 + row * 46, words, struck, is_struck, thickness)
    return sheet.drawn()


def _struck_line(
    sheet: Sheet,
    y: float,
    words: list[str],
    struck: range,
    is_struck: bool,
    thickness: int,
) -> None:
    """Words in a row with a stroke through some of them, or below them."""
    x = 30.0
    ends = []
    for word in words:
        sheet.pen.text((x, y), word, "black", sheet.font, "ls")
        ends.append((x, x + sheet.font.getlength(word)))
        x = ends[-1][1] + sheet.font.getlength(" ")
    left, right = ends[struck.start][0], ends[min(struck.stop, len(ends)) - 1][1]
    height = y - 0.27 * sheet.size if is_struck else y + 0.12 * sheet.size
    sheet.pen.line((left, height, right, height), "black", thickness)
    if is_struck:
        words = list(words)
        last = min(struck.stop, len(words)) - 1
        words[struck.start] = f"~~{words[struck.start]}"
        words[last] = f"{words[last]}~~"
    sheet.words += words
    sheet.texts.append(" ".join(words))


def underlined(chance: random.Random) -> Drawn:
    """Text with a line below it that runs through the feet of its letters."""
    sheet = Sheet(chance, 640, 400)
    words = ("gypsy", "quay", "page", "Typing", "jumpy", "copy", "apply", "pay", "joy")
    thickness = chance.choice((1, 2))
    below = chance.uniform(0.08, 0.16) * sheet.size
    for row in range(7):
        text = " ".join(
            (
                *chance.sample(words, 2),
                str(chance.choice((99, 92, 66, 9, 26, 199, 2019, 62))),
                *chance.sample(words, 1),
                str(chance.choice((99, 92, 66, 9, 26, 199, 2019, 62))),
            )
        )
        y = 40 + row * 48
        sheet.write(30, y, text, "ls")
        end = 30 + sheet.font.getlength(text)
        sheet.pen.line((30, y + below, end, y + below), "black", thickness)
    return sheet.drawn()


def signs(chance: random.Random) -> Drawn:
    """A plate with names that have hyphens, some with room around them, some at ends of lines."""
    width = chance.randint(280, 620)
    ground, ink = chance.choice(
        (("black", "white"), ("#123a7a", "white"), ("#efe7c8", "#402010"))
    )
    sheet = Sheet(chance, width, width // 2)
    sheet.pen.rectangle((8, 8, width - 8, width // 2 - 8), ground, "gray", 3)
    lines = []
    for _ in range(2):
        first, second = chance.sample(NAMES.upper().split(), 2)
        lines.append(chance.choice((f"{first}-{second}", f"{first}-", first.title())))
    lines.append("{}-{}".format(*chance.sample(NAMES.upper().split(), 2)))
    longest = max(lines, key=len)
    room = chance.choice((0.0, 0.1, 0.18))
    size = 12
    while _length(sheet, longest, room, size + 1) < 0.8 * width and 8 * size < width:
        size += 1
    for row, text in enumerate(lines):
        y = (row + 0.35) * width // 7
        _spaced(sheet, y, text, room, size, ink)
    sheet.image = sheet.image.rotate(
        chance.uniform(-5, 5), Image.Resampling.BICUBIC, fillcolor="gray"
    )
    return sheet.drawn()


def _spaced(
    sheet: Sheet, y: float, text: str, room: float, size: int, ink: str
) -> None:
    """A text in the middle of a sheet with room around its hyphens, over the size of its face."""
    font = sheet.font.font_variant(size=size)
    x = (sheet.image.width - _length(sheet, text, room, size)) / 2
    for letter in text:
        beside = room * size if letter == "-" else 0.0
        sheet.pen.text((x + beside, y), letter, ink, font)
        x += font.getlength(letter) + 2 * beside
    sheet.words += text.split()
    sheet.texts.append(text)


def _length(sheet: Sheet, text: str, room: float, size: int) -> float:
    font = sheet.font.font_variant(size=size)
    return sum(map(font.getlength, text)) + 2 * room * size * text.count("-")


def programs(chance: random.Random) -> Drawn:
    """Lines of source with calls, indices and brackets, and lines of text with brackets."""
    sheet = Sheet(chance, 700, 460)
    if chance.random() < 0.6:
        sheet.font = _font(sheet, "DejaVuSansMono.ttf")

    def name() -> str:
        return chance.choice(ITEMS.lower().split())

    forms = (
        lambda: f"{name()}.clear()",
        lambda: f"{name()} = len({name()})",
        lambda: f"print({name()}[{chance.randint(0, 9)}], {name()}[1])",
        lambda: f"if {name()}({name()}) > {chance.randint(0, 99)}:",
        lambda: f"{name()} = {{'{name()}': [1, {chance.randint(0, 9)}]}}",
        lambda: f"for {name()} in range({chance.randint(1, 19)}):",
        lambda: f"{chance.choice(NAMES.split())} (see page {chance.randint(1, 99)})",
        lambda: f"{chance.choice(ITEMS.split())} ({name()}) and {name()}",
        lambda: f"return {name()}({name()}(), {name()}())",
    )
    sheet.write_rows(chance.choice(forms)() for _ in range(9))
    return sheet.drawn()


def _font(sheet: Sheet, *names: str) -> ImageFont.FreeTypeFont:
    """One of some faces of matplotlib in the size of a sheet."""
    folder = Path(str(sheet.font.path)).parent
    return ImageFont.truetype(folder / sheet.chance.choice(names), sheet.size)


def stamps(chance: random.Random) -> Drawn:
    """Lines of text with a line in the margin that runs upwards or downwards."""
    sheet = Sheet(chance, 760, 520)
    for row in range(14):
        words = chance.sample((ITEMS + " " + NAMES).lower().split(), 5)
        sheet.write(90, 30 + row * 34, " ".join(words))
    margin = Sheet(chance, 460, 40)
    number = f"{chance.randint(1000, 9999)}.{chance.randint(1000, 9999)}"
    place, word = chance.choice(NAMES.split()), chance.choice(ITEMS.lower().split())
    margin.write(10, 8, f"{word} {number} {place} v{chance.randint(1, 9)}")
    turn = chance.choice((Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_270))
    sheet.paste(margin, margin.image.transpose(turn), (20, 30))
    return sheet.drawn()


def gutters(chance: random.Random) -> Drawn:
    """Two justified columns, so near each other that boxes of lines may overlap."""
    sheet = Sheet(chance, 1000, 460)
    width = 400
    gutter = round(sheet.size * chance.uniform(1.0, 1.6))
    words = (ITEMS + " " + NAMES).lower().split()
    for column in range(2):
        for row in range(12):
            line: list[str] = []
            while sheet.font.getlength(" ".join([*line, "washer"])) < width:
                line.append(chance.choice(words))
            left = 30 + column * (width + gutter)
            _justify(sheet, left, 30 + row * 33, line, width)
    return sheet.drawn()


def _justify(sheet: Sheet, left: float, y: float, line: list[str], width: int) -> None:
    """Write words so that they fill a width."""
    lengths = [sheet.font.getlength(word) for word in line]
    space = (width - sum(lengths)) / max(1, len(line) - 1)
    for word, length in zip(line, lengths, strict=True):
        sheet.pen.text((left, y), word, "black", sheet.font)
        left += length + space
    sheet.words += line
    sheet.texts.append(" ".join(line))


KINDS: dict[str, Callable[[random.Random], Drawn]] = {
    each.__name__.replace("_", "-"): each
    for each in (
        quantities,
        grids,
        charts,
        single_words,
        minus_signs,
        zeros,
        turned_pictures,
        codes,
        look_alikes,
        identifiers,
        low_lines,
        low_ends,
        dashes,
        blanks,
        struck_words,
        underlined,
        signs,
        programs,
        stamps,
        gutters,
    )
}


def main() -> None:
    """Draw, read, and print a row for each kind."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--count", type=int, default=20, help="pages of each kind (20)")
    parser.add_argument("--seed", type=int, default=1, help="of the drawing (1)")
    parser.add_argument(
        "--model", default="tiny", help="as of vit-str read --page (tiny)"
    )
    parser.add_argument(
        "--detector",
        default=AUTO,
        metavar="NAME|FILE",
        help="as of vit-str read --page (auto)",
    )
    parser.add_argument(
        "--save", type=Path, metavar="FOLDER", help="write the pages there"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write all numbers here too"
    )
    options = parser.parse_args()
    unknown = [kind for kind in options.kinds if kind not in KINDS]
    if unknown:
        parser.error(f"no kind {unknown[0]!r}; there are {', '.join(KINDS)}")
    from measuring import print_machine, table, write_json

    try:
        reader = load_page(options.model, detector=options.detector)
    except ValueError as error:
        parser.error(str(error))
    rows = [["kind", "pages", "right", "words, F1", "texts whole", "codes kept"]]
    results = {}
    for kind in options.kinds or KINDS:
        scores = []
        for number in range(options.count):
            drawn = KINDS[kind](random.Random(f"{kind} {options.seed} {number}"))
            if options.save:
                options.save.mkdir(parents=True, exist_ok=True)
                drawn.image.save(options.save / f"{kind}-{number}.png")
            read = reader.read(drawn.image).text
            scores.append({**score(read, drawn), "text": read, "words": drawn.words})
        rows.append([kind, str(options.count), *summary(scores)])
        results[kind] = scores
    print(table(rows))
    print_machine()
    write_json(options.json, {"seed": options.seed, "kinds": results})


def score(read: str, drawn: Drawn) -> dict[str, int]:
    """How many words were drawn, read, and read right; how many codes were kept."""
    words = _of_one_kind(read).split()
    found = Counter(words)
    wanted = Counter(_of_one_kind(" ".join(drawn.words)).split())
    hits = (found & wanted).total()
    rest = list((found - wanted).elements())
    kept = 0
    for code in drawn.doubtful:
        likest = min(rest, key=lambda word: edit_distance(word, code), default="")
        if edit_distance(likest, code) <= LIKENESS * len(code):
            rest.remove(likest)
            kept += 1
    texts = [_of_one_kind(text) for text in drawn.texts if len(text.split()) > 1]
    line = f" {' '.join(words)} "
    return {
        "texts": len(texts),
        "whole": sum(f" {text} " in line for text in texts),
        "wanted": wanted.total(),
        "hits": hits,
        "others": len(rest),
        "codes": len(drawn.doubtful),
        "kept": kept,
    }


def _of_one_kind(text: str) -> str:
    """A text with one kind of dash, and no more than one low line in a row."""
    return re.sub("_+", "_", text.translate(_DASHES))


def summary(scores: list[dict[str, int]]) -> list[str]:
    """Pages that are right, F1 of words, texts in one piece, and codes that are kept."""
    names = ("wanted", "hits", "others", "codes", "kept", "texts", "whole")
    total = Counter[str]()
    for each in scores:
        total.update({name: each[name] for name in names})
    right = sum(
        each["hits"] == each["wanted"]
        and not each["others"]
        and each["kept"] == each["codes"]
        for each in scores
    )
    read = total["hits"] + total["others"]
    harmonic_mean = 2 * total["hits"] / (read + total["wanted"])
    kept = f"{total['kept']} of {total['codes']}" if total["codes"] else ""
    whole = f"{total['whole']} of {total['texts']}" if total["texts"] else ""
    return [str(right), f"{harmonic_mean:.1%}", whole, kept]


if __name__ == "__main__":
    main()
