"""``vit-str analyze characters``: where the decoder looked for each character, with scores."""

import argparse
import json
import time
from dataclasses import asdict
from typing import Any

import torch
from tqdm import tqdm

from vit_str.analysis import cli
from vit_str.analysis.characters import Combination, Observer, Word, saliency_maps
from vit_str.analysis.figures.overlays import Shown
from vit_str.analysis.localization import Looks
from vit_str.analysis.material import Material
from vit_str.analysis.report.characters import characters_page
from vit_str.analysis.scoreboard import Scoreboard, not_better, write_scores
from vit_str.analysis.subjects import UNTRAINED, Subject, load_subject
from vit_str.analysis.tables import write_summary, write_whole
from vit_str.analysis.walk import material_for
from vit_str.devices import choose_device

_MOST_SHOWN = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    cli.models(parser, several=False)
    cli.common(parser)
    parser.add_argument(
        "--block", type=int, metavar="N", help="of the decoder, from 1 (default: the last)"
    )
    parser.add_argument(
        "--head", type=int, metavar="N", help="of the block, from 1 (default: the mean of all)"
    )
    parser.add_argument(
        "--show", type=int, default=12, metavar="N", help="words to draw with all their maps (12)"
    )


def run(options: argparse.Namespace) -> None:
    """Watch a model read, score where it looked, and write what was found."""
    start = time.monotonic()
    if not 0 <= options.show <= _MOST_SHOWN:
        raise ValueError(f"--show must be from 0 to {_MOST_SHOWN}, found {options.show}")
    subject, others = _subjects(options)
    observer = Observer(subject, others, choose_device(options.device))
    combination = _combination(options, observer)
    material = material_for(subject, options)
    names = [other.name for other in others]
    board = Scoreboard(subject.name, names, observer.grid, combination)
    records, shown = _watch(observer, board, material, options)
    rows = board.rows(options.seed)
    write_scores(options.out / "characters.csv", rows)
    _write_records(options, observer, combination, records)
    losses = [asdict(row) for row in not_better(rows)]
    write_summary(
        options.out,
        options,
        [subject, *others],
        material,
        time.monotonic() - start,
        words=board.words,
        characters=board.characters,
        not_better_than_slices=losses,
    )
    page = characters_page(board, rows, shown, records, material.description)
    cli.report(page.write(options.out), material)


def _subjects(options: argparse.Namespace) -> tuple[Subject, tuple[Subject, ...]]:
    """The model, and the same without training if it has some."""
    (name,) = options.models
    subject = load_subject(name, options.seed)
    if not subject.trained:
        return subject, ()
    return subject, (load_subject(f"{UNTRAINED}{name}", options.seed),)


def _combination(options: argparse.Namespace, observer: Observer) -> Combination:
    block = observer.blocks if options.block is None else options.block
    head = 1 if options.head is None else options.head
    if not (1 <= block <= observer.blocks and 1 <= head <= observer.heads):
        raise ValueError(
            f"--block and --head are from 1 to {observer.blocks} and {observer.heads} in this "
            f"model, found {block} and {head}"
        )
    return Combination(block - 1, None if options.head is None else head - 1)


def _watch(
    observer: Observer, board: Scoreboard, material: Material, options: argparse.Namespace
) -> tuple[list[dict[str, Any]], list[Shown]]:
    """Score every word; tell of each what ``characters.json`` holds, and draw a few."""
    records: list[dict[str, Any]] = []
    shown: list[Shown] = []
    drawn = {place * material.count // max(options.show, 1) for place in range(options.show)}
    words = observer.words(material, options.batch_size)
    for place, word in enumerate(tqdm(words, total=material.count, unit="image", disable=None)):
        board.add(word)
        looks = word.looks(board.model, board.grid, board.combination)
        records.append(_record(word, looks, board))
        if place in drawn and word.text:
            shown.append(Shown(word, looks, _saliency(observer.subject, word)))
    if not records:
        raise ValueError(f"none of {material.description} could be read")
    return records, shown


def _saliency(subject: Subject, word: Word) -> torch.Tensor:
    ids = torch.tensor(subject.charset.encode(word.text))
    return saliency_maps(subject.recognizer, subject.preprocessing, word.pixels, ids)


def _record(word: Word, looks: Looks, board: Scoreboard) -> dict[str, Any]:
    """One image as plain values, in pixels of the model's input."""
    known = word.true_boxes
    true_boxes = {} if known is None else {i: _rounded(known[j]) for i, j in word.true_places()}
    special = board.combination.of(word.special_mass[board.model]).tolist()
    return {
        "image": word.name,
        "text": word.text,
        "label": word.label,
        "right": word.right,
        "characters": [
            {
                "character": character,
                "confidence": round(word.confidences[place], 6),
                "centroid": _rounded(looks.centers[place]),
                "box": _rounded(looks.boxes[place]),
                "true_box": true_boxes.get(place),
                "special_mass": round(special[place], 6),
            }
            for place, character in enumerate(word.text)
        ],
    }


def _rounded(values: torch.Tensor) -> list[float]:
    return [round(value, 2) for value in values.tolist()]


def _write_records(
    options: argparse.Namespace,
    observer: Observer,
    combination: Combination,
    records: list[dict[str, Any]],
) -> None:
    height, width = observer.subject.recognizer.encoder.image_size
    values = {
        "model": observer.subject.name,
        "block": combination.block + 1,
        "head": None if combination.head is None else combination.head + 1,
        "image_size": {"height": height, "width": width},
        "unit": "pixels of the model's input; boxes are left, top, right, bottom",
        "images": records,
    }
    text = json.dumps(values, indent=1, ensure_ascii=False)
    write_whole(options.out / "characters.json", f"{text}\n".encode())
