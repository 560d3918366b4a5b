"""Whole pictures read by vit-str, RapidOCR and Tesseract, on the same files and one CPU thread.

    python benchmarks/page_reading.py FOLDER... [--every 4] [--model tiny] [--json FILE]

Each folder holds ``images/`` and ``labels/`` as for ``vit-str evaluate --page``, whose protocol
this uses. Each system reads them in a process of its own; time is that of the CPU without loading,
memory the highest of the process. What is not installed is left out.
"""

import argparse
import csv
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vit_str.evaluation.page_scores import read_labels, score_page, summary
from vit_str.evaluation.pages import labelled_pictures
from vit_str.reading.pages.page import Page, Word

Found = list[tuple[str, list[tuple[float, float]]]]
"""Texts and their four corners."""
Answers = dict[str, Found]
"""What a system finds in a picture, by the name of its row."""
_WHOLE_LINES = "RapidOCR, its lines"
_WORD_BOXES = "RapidOCR, its word boxes"


def main() -> None:
    """Compare the systems, or be one of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--model", default="tiny", help="the reader of vit-str (tiny)")
    parser.add_argument("--every", type=int, default=1, help="read every so many pictures (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers here too")
    parser.add_argument("--system", choices=SYSTEMS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    pictures = {f: labelled_pictures(f)[:: options.every] for f in options.folders}
    if options.system:
        answer(
            SYSTEMS[options.system](options.model),
            [str(p) for f in pictures.values() for p, _ in f],
        )
        return
    # Before anything loads torch: Linux counts the memory of a parent as that of its children.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.environ["OMP_THREAD_LIMIT"] = "1"
    measured = {name: run(name) for name in SYSTEMS if is_installed(name)}
    from measuring import print_machine, write_json

    print_machine()
    results = {str(f): dict(score(pairs, measured)) for f, pairs in pictures.items()}
    for folder, rows in results.items():
        print(f"{folder}\n{report(rows)}\n")
    write_json(options.json, {"every": options.every, "results": results})


def is_installed(name: str) -> bool:
    """Whether a system is here; says so if it is not."""
    found = bool(shutil.which("tesseract") if name == "tesseract" else find_spec("rapidocr"))
    if not found:
        print(f"{name} is left out: not installed", file=sys.stderr)
    return found


def ours(model: str) -> Callable[[str], Answers]:
    """Words of at least the usual confidence."""
    from vit_str.reading.pages.reader import load_page

    reader = load_page(model)
    return lambda path: {
        "vit-str": [(word.text, list(word.polygon)) for word in reader.read(path).words]
    }


def rapidocr(model: str) -> Callable[[str], Answers]:
    """Its lines, and the words of them, from one run."""
    from rapidocr import RapidOCR

    threads = "EngineConfig.onnxruntime.intra_op_num_threads"
    engine: Any = RapidOCR(params={"Global.log_level": "error", threads: 1})

    def read(path: str) -> Answers:
        found = engine(path, return_word_box=True)
        if found.boxes is None:
            return {_WHOLE_LINES: [], _WORD_BOXES: []}
        words = [word for line in found.word_results for word in line]
        return {
            _WHOLE_LINES: list(zip(found.txts, found.boxes.tolist(), strict=True)),
            _WORD_BOXES: [(text, [list(map(float, c)) for c in box]) for text, _, box in words],
        }

    return read


def tesseract(model: str) -> Callable[[str], Answers]:
    """Sparse text, in no order."""

    def read(path: str) -> Answers:
        command = ["tesseract", path, "stdout", "--psm", "11", "tsv"]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = []
        for row in csv.DictReader(output.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
            left, top, width, height = (int(row[k]) for k in ("left", "top", "width", "height"))
            right, bottom = left + width, top + height
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
        print(json.dumps({"path": path, "found": found, "seconds": seconds, "mb": memory / 1024}))


def cpu_seconds() -> float:
    """Of this process and those it has started."""
    return sum(
        sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )


def run(name: str) -> dict[str, Any]:
    """The answers of one system, by path."""
    command = [sys.executable, *sys.argv, "--system", name]
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {row["path"]: row for row in rows}


def score(
    pairs: list[tuple[Path, Path]], measured: dict[str, dict[str, Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and figures of every row."""
    for rows in measured.values():
        mine = [rows[str(path)] for path, _ in pairs]
        for name in mine[0]["found"]:
            scores = []
            for row, (_, labels) in zip(mine, pairs, strict=True):
                words = tuple(
                    Word(text, 1.0, tuple(map(tuple, corners)))  # type: ignore[arg-type]
                    for text, corners in row["found"][name]
                )
                scores.append(score_page(Page(1, 1, ((words,),)), read_labels(labels)))
            seconds = sum(row["seconds"] for row in mine) / len(mine)
            costs = {"seconds": seconds, "mb": max(row["mb"] for row in mine)}
            yield name, summary(scores) | costs


def report(rows: dict[str, dict[str, Any]]) -> str:
    """A table; words as a bag where labels are lines."""
    from measuring import table

    titles = ["", "detection", "precision", "recall", "F", "95 %", "CPU s/picture", "MB"]
    cells = [titles]
    for name, values in rows.items():
        of_lines = values["labels_are_lines"]
        best = values["bag_of_words" if of_lines else "end_to_end"]
        figures = [best["precision"], best["recall"], best["harmonic_mean"]]
        low, high = best["interval"]
        found = "-" if of_lines else f"{100 * values['detection']['harmonic_mean']:.1f}"
        shown = [f"{100 * figure:.1f}" for figure in figures]
        costs = [f"{values['seconds']:.2f}", f"{values['mb']:.0f}"]
        cells.append([name, found, *shown, f"{100 * low:.1f}-{100 * high:.1f}", *costs])
    return table(cells)


if __name__ == "__main__":
    main()
