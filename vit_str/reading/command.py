"""``vit-str read``: the text in image files."""

import argparse
from functools import partial

from vit_str.console import positive, probability, whole_number
from vit_str.reading.options import add_reader_arguments

_EPILOG = """\
The formats: text is path, tab, text, tab, confidence; jsonl is one object per line with path,
text, confidence and characters, or error for an image that cannot be read; csv has a header. In
text and csv, line breaks and other control characters are escaped as in Python. A cell of csv that
begins with =, +, - or @ is a formula to spreadsheets: import the columns as text.

The confidence is the probability of the whole text, 0 to 1, among the texts that the model can
write. Characters that it does not know are left out or replaced, and the confidence does not tell.
An image without text may give some text; --min-confidence leaves the text of doubtful ones empty.
A box is left, top, right, bottom, in pixels of the image turned upright.

examples:
  vit-str read word.png                             one image
  vit-str read crops/ --format jsonl --out readings.jsonl
                                                    a folder, into a file
  vit-str read --line headline.png                  an image of one line of any length
  vit-str read --page street.jpg --overlay seen/    all words of a photograph
  find . -name '*.jpg' | vit-str read --files-from - --min-confidence 0.5

exit codes: 0 success; 1 some image could not be read, or the output not written; 2 wrong use;
130 interrupted with Ctrl-C."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``vit-str read``."""
    parser.description = "Print the text in image files, one line each: path, text, confidence."
    parser.epilog = _EPILOG
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="image file, folder (with the folders in it), glob, or - for standard input",
    )
    parser.add_argument(
        "--files-from", metavar="FILE", help="read what this file lists too, a path per line"
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="write the results there when all are read; with --engine ray a folder, which gets a "
        "file for each part",
    )
    parser.add_argument(
        "--min-confidence",
        type=probability,
        metavar="P",
        help="leave the text empty where the confidence is below P, 0 to 1; with --page, leave out "
        "words whose characters have a lower geometric mean (default there: 0.8)",
    )
    parser.add_argument(
        "--format",
        choices=("text", "jsonl", "csv", "hocr", "tsv", "md", "parquet"),
        help="default: text, or jsonl with --boxes or --n-best; with --page hocr, tsv, md; parquet "
        "(default) or jsonl with --engine ray",
    )
    parser.add_argument(
        "--boxes",
        action="store_true",
        help="say about where each character is, in jsonl or parquet",
    )
    parser.add_argument(
        "--n-best",
        type=positive,
        default=1,
        metavar="N",
        help="give the N likeliest texts, in jsonl",
    )
    add_reader_arguments(parser)
    parser.add_argument(
        "--line",
        action="store_const",
        const="line",
        dest="model",
        help="images of one line of any length: the same as --model line",
    )
    pages = parser.add_argument_group(
        "whole pictures",
        "Photographs, scans, TIFF and PDF files: words are found, put in reading order and read.\n"
        "--out is then a folder that gets a file for each picture; the same command resumes.",
    )
    pages.add_argument("--page", action="store_true", help="read whole pictures, not cropped words")
    pages.add_argument(
        "--overlay", metavar="FOLDER", help="write pictures with the words that were found there"
    )
    pages.add_argument("--pages", metavar="N-M", help="read these only, such as 3-5 or 1,7-")
    pages.add_argument(
        "--dpi",
        type=partial(whole_number, least=30, end=1201),
        metavar="N",
        help="draw pages of PDF files with so many dots per inch (default: 200)",
    )
    pages.add_argument("--password", metavar="TEXT", help="of PDF files that are locked")
    pages.add_argument(
        "--text-layer",
        action="store_true",
        help="take the text of PDF pages that have some, and read the others",
    )
    ray = parser.add_argument_group(
        "many images",
        "--engine ray reads with several processes, also on a cluster: images, folders of them,\n"
        "tar archives and Parquet files. The same command resumes where it was stopped.",
    )
    ray.add_argument("--engine", choices=("plain", "ray"), default="plain")
    ray.add_argument(
        "--characters", action="store_true", help="write each character and its confidence too"
    )
    ray.add_argument(
        "--column",
        metavar="NAME",
        help="of Parquet files, with image files as bytes (default: the only one of bytes)",
    )
    ray.add_argument(
        "--part-size", type=positive, metavar="N", help="images in a part (default: 1024)"
    )
    ray.add_argument(
        "--ray-address",
        metavar="ADDRESS",
        help="a cluster: auto or HOST:6379 (default: this machine alone)",
    )


def run(options: argparse.Namespace) -> int:
    """Read the images that the command line names and print their text as it comes."""
    if not options.paths and not options.files_from:
        raise ValueError("name image files or folders to read, or a list of them with --files-from")
    if options.files_from:
        from vit_str.reading.inputs import listed

        options.paths = [*options.paths, *listed(options.files_from)]
    if options.page:
        from vit_str.reading.pages.command import run_pages

        return run_pages(options)
    if options.engine == "ray":
        from vit_str.reading.bulk.command import run_ray

        return run_ray(options)
    from vit_str.reading.crops import run_crops

    return run_crops(options)
