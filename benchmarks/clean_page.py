"""How much of a page of clean text is read right: ten languages, three fonts, three sizes.

    python benchmarks/clean_page.py [--model tiny] [--save FOLDER] [--json FILE]

The page is drawn here, in two columns, with sentences of this file. It is read as it is and turned
by 180, 90, 270 and 5 degrees. Character accuracy is one minus the edit distance to the whole text
in its order over the length of the text, white space as single spaces; words are those that occur
as often in both.
"""

import argparse
import textwrap
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from vit_str.characters.distances import edit_distance
from vit_str.pages.reader import load_page

SENTENCES = (
    "The keeper of the lighthouse wrote down every ship: 14 in May, 27 in June, and "
    "none at all in the long, quiet week before Christmas (1931).",
    "Der Bäcker verkauft größere Brötchen für 0,85 € das Stück; müde Gäste hören "
    "früh um fünf die ersten Straßenbahnen über die Brücke fahren.",
    "L'été, où naît la chaleur, le garçon près de la forêt reçoit une lettre à "
    "l'hôtel : « Noël arrivera tôt », écrit sa sœur aînée.",
    "¿Cuándo llegará el niño? Mañana por la mañana, señor; el camión salió de "
    "Logroño a las 7:45 y aún está más allá del río.",
    "A canção não é só do avô: três irmãs também a cantam às terças, põem pão na "
    "mesa e dão a lição de português às crianças.",
    "Zażółcona łąka pod Łodzią śpi; dziś źrebię pójdzie ścieżką, aż księżyc "
    "wzejdzie nad rzeką i ktoś zamknie drzwi młyna.",
    "Příliš mnoho vlků žije v té hoře, říká děda; nejmladší kůň přešel můstek, ťukl "
    "kopytem a zůstal stát u dveří chýše.",
    "Az öreg kertész hűvös őszi estén fűtött, és tűzifát vágott; a kút mögött "
    "üvegházat épített hétszáz színes, illatos virágnak.",
    "På ön växer blåbär, hjortron och några träd; båten från Åbo går klockan åtta, "
    "kör över sjön och är här före nästa söndag.",
    "Güneş doğunca çocuklar ırmağın kıyısında şarkı söyledi; yaşlı balıkçı ağını "
    "çekip üç büyük lüfer ile döndü, İstanbul uyanıyordu.",
)
FONTS = (("DejaVuSerif.ttf", 30), ("DejaVuSans.ttf", 25), ("STIXGeneral.ttf", 36))
"""Files of matplotlib, and pixels of their size: 9 to 13 points at 200 dots per inch."""
SIZE = (1654, 2339)
MARGIN = 110
GUTTER = 90
TURNS = (0, 180, 90, 270, 5)


def main() -> None:
    """Draw, turn, read, and print a row for each turn."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--model",
        default="tiny",
        help="as of vit-str read --page (tiny)",
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FOLDER",
        help="write the pages there",
    )
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write all numbers here too",
    )
    options = parser.parse_args()
    from measuring import print_machine, table, write_json

    image, text = draw()
    reader = load_page(options.model)
    rows = [["turned by", "characters", "words", "confidence"]]
    results = []
    for turn in TURNS:
        turned = image.rotate(
            -turn,
            Image.Resampling.BICUBIC,
            expand=True,
            fillcolor="white",
        )
        if options.save:
            options.save.mkdir(parents=True, exist_ok=True)
            turned.save(options.save / f"page-{turn}.png")
        page = reader.read(turned)
        found = " ".join(page.text.split())
        accuracy = 1 - edit_distance(found, text) / len(text)
        written = text.split()
        both = Counter(found.split()) & Counter(written)
        shared = both.total() / len(written)
        least = min((word.confidence for word in page.words), default=0.0)
        results.append(
            {"turn": turn, "characters": accuracy, "words": shared, "text": found}
        )
        rows.append([str(turn), f"{accuracy:.2%}", f"{shared:.1%}", f"{least:.2f}"])
    print(f"{len(text):,} characters\n{table(rows)}")
    print_machine()
    write_json(options.json, {"text": text, "pages": results})


def draw() -> tuple[Image.Image, str]:
    """The page and its text in reading order."""
    image = Image.new("RGB", SIZE, "white")
    pen = ImageDraw.Draw(image)
    width = (SIZE[0] - 2 * MARGIN - GUTTER) // 2
    folder = Path(find_spec("matplotlib").origin).parent / "mpl-data/fonts/ttf"  # type: ignore[union-attr, arg-type]
    lines = []
    for column in range(2):
        left = MARGIN + column * (width + GUTTER)
        top = MARGIN
        for name, size in FONTS:
            font = ImageFont.truetype(folder / name, size)
            for line in wrapped(font, width, SENTENCES[column::2]):
                pen.text((left, top), line, "black", font)
                lines.append(line)
                top += round(1.4 * size)
            top += size
    return image, " ".join(lines)


def wrapped(
    font: ImageFont.FreeTypeFont,
    width: int,
    sentences: tuple[str, ...],
) -> Iterator[str]:
    """Lines that are no wider than a column."""
    text = " ".join(sentences)
    while text:
        count = next(
            n for n in range(len(text), 0, -1) if font.getlength(text[:n]) <= width
        )
        line, *_ = textwrap.wrap(text, count)
        yield line
        text = text[len(line) :].strip()


if __name__ == "__main__":
    main()
