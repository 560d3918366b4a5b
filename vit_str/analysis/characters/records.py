"""``characters.json``: what was found in every image, as plain values."""

from typing import Any

import torch
from torch import Tensor

from vit_str.analysis.characters.localization import Looks
from vit_str.analysis.characters.measure import Observer, Word
from vit_str.analysis.characters.scores import Scoreboard
from vit_str.analysis.images import ImageSet, batches_of
from vit_str.analysis.map_sheet import MappedWord
from vit_str.analysis.relevance.methods import gradient_times_input


def watch(
    observer: Observer, board: Scoreboard, images: ImageSet, batch_size: int, show: int
) -> tuple[list[dict[str, Any]], list[MappedWord]]:
    """Score every word on the board; also the record of every image, and a few words to show.

    Args:
        observer: of the model that reads.
        board: gets the scores.
        images: to read.
        batch_size: images at once.
        show: how many words, evenly spread; those without text are left out.

    Raises:
        ValueError: no image could be read.
    """
    records: list[dict[str, Any]] = []
    shown: list[MappedWord] = []
    drawn = {index * images.count // max(show, 1) for index in range(show)}
    for batch, pixels in batches_of(observer.subject, images, batch_size, observer.device):
        for row, word in enumerate(observer.observe(batch, pixels)):
            board.add(word)
            looks = word.looks(board.model, board.grid, board.combination)
            if len(records) in drawn and word.text:
                shown.append(_mapped(observer, word, looks, pixels[row]))
            records.append(_record(word, looks, board))
    return records, shown


def records_json(observer: Observer, board: Scoreboard, records: list[dict[str, Any]]) -> object:
    """What ``characters.json`` holds."""
    height, width = observer.subject.recognizer.encoder.image_size
    block, head = board.combination.block, board.combination.head
    return {
        "model": board.model,
        "block": block + 1,
        "head": None if head is None else head + 1,
        "image_size": {"height": height, "width": width},
        "unit": "pixels of the model's input; boxes are left, top, right, bottom",
        "images": records,
    }


def _mapped(observer: Observer, word: Word, looks: Looks, image: Tensor) -> MappedWord:
    """A word with attention and gradients of every character."""
    ids = torch.tensor([observer.subject.charset.encode(word.text)], device=image.device)
    gradients = gradient_times_input(observer.subject.recognizer, image[None], ids)[0]
    verdict = "" if word.label is None else f"the label is {word.label}"
    title = f"{word.text}    {'read right' if word.right else verdict}    ({word.name})"
    maps = {"attention": looks.maps, "|gradient × input|": gradients}
    truth = [] if word.true_boxes is None else word.true_boxes.tolist()
    return MappedWord(title, word.pixels, word.text, maps, looks.boxes.tolist(), truth)


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
                "confidence": round(word.confidences[index], 6),
                "centroid": _rounded(looks.centers[index]),
                "box": _rounded(looks.boxes[index]),
                "true_box": true_boxes.get(index),
                "special_mass": round(special[index], 6),
            }
            for index, character in enumerate(word.text)
        ],
    }


def _rounded(values: Tensor) -> list[float]:
    return [round(value, 2) for value in values.tolist()]
