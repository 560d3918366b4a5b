"""Whole pictures read by vit-str, RapidOCR and Tesseract, on the same files and one CPU thread.

    python benchmarks/page_reading.py FOLDER... [--every 4] [--model tiny] [--json FILE]

Each folder holds ``images/`` and ``labels/`` as for ``vit-str evaluate --page``, whose protocols
this uses: finding and reading by place where labels are words, and the F1 of words as a bag, whole
and with their letters and digits alone. Each system reads them in a process of its own; time is
that of the CPU without loading, memory the highest of the process. What is not installed is left
out. A second table says where words are lost, see ``page_losses.py``; with ``--doubtful``, for
which vit-str reads twice and its times mean nothing, it tells those that were left out too.
"""

import argparse
import csv
import json
import os
import resource
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from page_losses import KINDS, losses

from vit_str.evaluation.pages.labels import labeled_pictures, read_labels
from vit_str.evaluation.pages.scores import score_page, summary
from vit_str.pages.find.detectors import AUTO, RAPIDOCR, finder_path
from vit_str.pages.page import Page, Word

Found = list[tuple[str, list[tuple[float, float]]]]
"""Texts and their four corners."""
Answers = dict[str, Found]
"""What a system finds in a picture, by the name of its row."""
OURS = "vit-str"
DOUBTFUL = "vit-str without a limit"
_WHOLE_LINES = "RapidOCR, its lines"
_WORD_BOXES = "RapidOCR, its word boxes"


def main() -> None:
    """Compare the systems, or be one of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--model", default="tiny", help="the reader of vit-str (tiny)")
    parser.add_argument(
        "--every",
        type=int,
        default=1,
        help="read every so many pictures (1)",
    )
    parser.add_argument(
        "--doubtful",
        action="store_true",
        help="tell words that vit-str leaves out as doubtful",
    )
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write all numbers here too",
    )
    parser.add_argument(
        "--detector",
        default=AUTO,
        metavar="NAME|FILE",
        help="of vit-str, as of vit-str read --page (auto)",
    )
    parser.add_argument(
        "--systems", nargs="+", choices=SYSTEMS, default=[*SYSTEMS], help="(all)"
    )
    parser.add_argument("--system", choices=SYSTEMS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        pictures = {f: labeled_pictures(f)[:: options.every] for f in options.folders}
        if options.detector not in (AUTO, RAPIDOCR):
            finder_path(options.detector)
    except ValueError as error:
        parser.error(str(error))
    if options.system:
        paths = [str(path) for path, _ in chain.from_iterable(pictures.values())]
        answer(SYSTEMS[options.system](options), paths)
        return
    # Before anything loads torch: Linux counts the memory of a parent as that of its children.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.environ["OMP_THREAD_LIMIT"] = "1"
    measured = {name: run(name) for name in options.systems if is_installed(name)}
    from measuring import print_machine, write_json

    print_machine()
    results = {str(f): dict(score(pairs, measured)) for f, pairs in pictures.items()}
    for folder, rows in results.items():
        print(f"{folder}\n{report(rows)}\n{lost(rows)}\n")
    write_json(options.json, {"every": options.every, "results": results})


def is_installed(name: str) -> bool:
    """Whether a system is here; says so if it is not."""
    found = bool(
        shutil.which("tesseract") if name == "tesseract" else find_spec("rapidocr")
    )
    if not found:
        print(f"{name} is left out: not installed", file=sys.stderr)
    return found


def ours(options: argparse.Namespace) -> Callable[[str], Answers]:
    """Words of at least the usual confidence; and all of them, if they are asked for."""
    from vit_str.pages.reader import load_page

    reader = load_page(options.model, detector=options.detector)
    limits = {
        OURS: reader.minimum_confidence,
        **({DOUBTFUL: 0.0} if options.doubtful else {}),
    }

    def read(path: str) -> Answers:
        found = {}
        for name, reader.minimum_confidence in limits.items():
            found[name] = [
                (word.text, list(word.polygon)) for word in reader.read(path).words
            ]
        return found

    return read


def rapidocr(options: argparse.Namespace) -> Callable[[str], Answers]:
    """Its lines, and the words of them, from one run."""
    from rapidocr import RapidOCR

    threads = "EngineConfig.onnxruntime.intra_op_num_threads"
    engine: Any = RapidOCR(params={"Global.log_level": "error", threads: 1})

    def read(path: str) -> Answers:
        found = engine(path, return_word_box=True)
        if found.boxes is None:
            return {_WHOLE_LINES: [], _WORD_BOXES: []}
        words = chain.from_iterable(found.word_results)
        return {
            _WHOLE_LINES: list(zip(found.txts, found.boxes.tolist(), strict=True)),
            _WORD_BOXES: [
                (text, [list(map(float, c)) for c in box]) for text, _, box in words
            ],
        }

    return read


def tesseract(options: argparse.Namespace) -> Callable[[str], Answers]:
    """Sparse text, in no order."""

    def read(path: str) -> Answers:
        command = ["tesseract", path, "stdout", "--psm", "11", "tsv"]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
        lines = answer.stdout.splitlines()
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        found = []
        for row in rows:
            left = int(row["left"])
            top = int(row["top"])
            width = int(row["width"])
            height = int(row["height"])
            right = left + width
            bottom = top + height
            if row["text"].strip():
                corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
                found.append((row["text"], corners))
        return {"Tesseract --psm 11": found}

    return read


SYSTEMS = {"vit-str": ours, "rapidocr": rapidocr, "tesseract": tesseract}


def answer(read: Callable[[str], Answers], paths: list[str]) -> None:
    """Print a line of JSON for each picture: what was found, CPU seconds, memory in MB."""
    read(paths[0])  # what is loaded late
    for path in paths:
        before = cpu_seconds()
        found = read(path)
        memory = max(
            resource.getrusage(who).ru_maxrss
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        seconds = cpu_seconds() - before
        print(
            json.dumps(
                {"path": path, "found": found, "seconds": seconds, "mb": memory / 1024}
            )
        )


def cpu_seconds() -> float:
    """Of this process and those it has started."""
    return sum(
        sum(resource.getrusage(who)[:2])
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )


def run(name: str) -> dict[str, Any]:
    """The answers of one system, by path."""
    command = [sys.executable, *sys.argv, "--system", name]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    lines = answer.stdout.splitlines()
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    return {row["path"]: row for row in rows}


def score(
    pairs: list[tuple[Path, Path]], measured: dict[str, dict[str, Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and figures of every row."""
    for rows in measured.values():
        mine = [rows[str(path)] for path, _ in pairs]
        for name in mine[0]["found"]:
            scores = []
            ends = Counter[str]()
            for row, (_, path) in zip(mine, pairs, strict=True):
                words = words_of(row["found"][name])
                labels = read_labels(path)
                scores.append(score_page(Page(1, 1, ((words,),)), labels))
                doubtful = row["found"].get(DOUBTFUL, []) if name == OURS else []
                ends += losses(words, left_out(doubtful, row["found"][name]), labels)
            costs = {
                "seconds": sum(row["seconds"] for row in mine) / len(mine),
                "mb": max(row["mb"] for row in mine),
            }
            yield name, {**summary(scores), **costs, "ends": ends}


def words_of(found: Found) -> tuple[Word, ...]:
    """What a system found, as words of a page."""
    return tuple(Word(text, 1.0, tuple(map(tuple, corners))) for text, corners in found)  # type: ignore[arg-type]


def left_out(everything: Found, kept: Found) -> list[str]:
    """Texts that are in the one and not in the other."""
    rest = Counter(text for text, _ in everything) - Counter(text for text, _ in kept)
    return list(rest.elements())


def report(rows: dict[str, dict[str, Any]]) -> str:
    """A table in percent with 95 % intervals; nothing by place where labels are lines."""
    from measuring import table

    titles = ["", "finding", "and reading", "words as a bag", "letters and digits"]
    cells = [[*titles, "CPU s/picture", "MB"]]
    for name, values in rows.items():
        of_lines = values["labels_are_lines"]
        shown = [
            "-" if of_lines and by_place else percent(values[key])
            for key, by_place in (
                ("detection", True),
                ("end_to_end", True),
                ("bag_of_words", False),
                ("letters_and_digits", False),
            )
        ]
        cells.append([name, *shown, f"{values['seconds']:.2f}", f"{values['mb']:.0f}"])
    return table(cells)


def percent(value: dict[str, Any]) -> str:
    """A harmonic mean with its interval."""
    low, high = value["interval"]
    return f"{100 * value['harmonic_mean']:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def lost(rows: dict[str, dict[str, Any]]) -> str:
    """What became of all labelled words, in percent."""
    from measuring import table

    cells = [["", *KINDS]]
    for name, values in rows.items():
        ends = values["ends"]
        shares = (100 * ends[kind] / max(1, sum(ends.values())) for kind in KINDS)
        cells.append([name, *(f"{share:.1f}" for share in shares)])
    return table(cells)


if __name__ == "__main__":
    main()
