"""``characters.json``: what was found in every image, as plain values."""

from typing import Any

import torch
from torch import Tensor

from vit_str.analysis.characters.localization import Looks
from vit_str.analysis.characters.measure import Source, Word
from vit_str.analysis.map_sheet import MappedWord
from vit_str.analysis.relevance.methods import gradient_times_input
from vit_str.analysis.subjects import Subject


def mapped(subject: Subject, word: Word, looks: Looks, image: Tensor) -> MappedWord:
    """A word with attention and gradients of every character."""
    ids = torch.tensor([subject.charset.encode(word.text)], device=image.device)
    gradients = gradient_times_input(subject.recognizer, image[None], ids)[0]
    verdict = "" if word.label is None else f"the label is {word.label}"
    title = f"{word.text}    {'read right' if word.right else verdict}    ({word.name})"
    maps = {"attention": looks.maps, "|gradient × input|": gradients}
    truth = [] if word.true_boxes is None else word.true_boxes.tolist()
    return MappedWord(title, word.pixels, word.text, maps, looks.boxes.tolist(), truth)


def record(word: Word, looks: Looks, source: Source) -> dict[str, Any]:
    """One image as plain values, in pixels of the model's input."""
    known = word.true_boxes
    true_boxes = {} if known is None else {i: _rounded(known[j]) for i, j in word.true_places()}
    special = source.of(word.special_mass[source.model]).tolist()
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
