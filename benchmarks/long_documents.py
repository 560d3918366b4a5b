"""Memory of reading long documents page by page: that of 1,000 pages beside that of ten.

    python benchmarks/long_documents.py FOLDER [--pages 10 100 1000] [--json FILE]

TIFF files of as many small pages, each of three lines of other words, are written to FOLDER. A
process for each reads it with ``vit_str.stream_pages`` and lets every page go; another one keeps
the pages, as ``vit_str.read_document`` does. Memory is the most that the process had in RAM; it
decodes pages in a process of its own, whose memory is bounded, see docs/pages.md.
"""

import argparse
import resource
import subprocess
import sys
from pathlib import Path

from measuring import print_machine, write_json
from PIL import Image, ImageDraw, ImageFont

SIZE = (420, 160)  # pixels
_WAYS = ("stream_pages", "read_document")


def main() -> None:
    """Write the documents, read each in a process of its own, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--pages", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all here too")
    parser.add_argument("--read", nargs=2, metavar=("WAY", "FILE"), help="one of them")
    options = parser.parse_args()
    if options.read:
        print(*peak(*options.read))
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    rows = []
    print("pages", *(f"{way}: MiB, MiB at the first page" for way in _WAYS), sep="\t")
    for count in options.pages:
        path = options.folder / f"{count}.tiff"
        write_document(path, count)
        row: dict[str, object] = {"pages": count}
        for way in _WAYS:
            command = [sys.executable, __file__, str(options.folder), "--read", way]
            run = subprocess.run([*command, str(path)], capture_output=True, check=True)
            most, first = map(float, run.stdout.split())
            row[way] = {"most": most, "first": first}
        rows.append(row)
        shown = (f"{row[way]['most']:.0f}, {row[way]['first']:.0f}" for way in _WAYS)  # type: ignore[index]
        print(count, *shown, sep="\t", flush=True)
    print_machine()
    write_json(options.json, {"documents": rows})


def write_document(path: Path, count: int) -> None:
    """A file of so many pages."""
    font = ImageFont.load_default(32)

    def page(number: int) -> Image.Image:
        image = Image.new("L", SIZE, "white")
        pen = ImageDraw.Draw(image)
        for line, text in enumerate((f"Page {number}", "Open daily", f"{number * 37}")):
            pen.text((20, 10 + 48 * line), text, "black", font)
        return image

    pages = (page(number) for number in range(2, count + 1))
    page(1).save(path, save_all=True, append_images=pages, compression="tiff_lzw")


def peak(way: str, path: str) -> tuple[float, float]:
    """The most memory of this process, in MiB, and that when the first page was read."""
    import vit_str

    reader = vit_str.load_page(device="cpu")
    pages = vit_str.stream_pages(path, reader=reader)
    kept = [next(pages)]
    first = used()
    if way == "read_document":
        kept += pages
    for _ in pages:
        pass
    return used(), first


def used() -> float:
    """The most memory that this process had in RAM, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
