"""Starting from the weights of another run, perhaps with another charset.

A character keeps its embedding and its row of the output wherever it stands in the new charset.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from vit_str.charset import Charset
from vit_str.models import Recognizer, describe
from vit_str.weights import WeightsFile

# First axis: one row for each character in the order of the charset, then one for start or end.
_EMBEDDINGS = "decoder.embed_characters.weight"
_OUTPUTS = ("decoder.classify.weight", "decoder.classify.bias")
_GRID_POSITIONS = "encoder.embed_positions.weight"
_TEXT_POSITIONS = "decoder.embed_positions.weight"
# Weights of one mean nothing in the other, although their shapes may fit.
_MUST_AGREE = ("dim", "heads", "mlp_ratio", "widths", "strides")
# Said with the characters and the positions, or no matter of weights.
_MAY_DIFFER = ("charset_size", "maximum_length", "dropout", "label_smoothing")


@dataclass(frozen=True, slots=True)
class Start:
    """What a model has taken over from a weights file.

    Attributes:
        source: the file or its name.
        images: that the weights in it have seen, if it says so.
        tensors: number of tensors of the model.
        kept: characters that file and model both have, in the order of the model.
        new: characters that the file lacks.
        dropped: characters of the file that the model lacks.
        partly: tensors of which only some positions were there, with how many.
        fresh: tensors of the model that the file lacks or has in another shape.
        unused: tensors of the file that the model has no place for.
        differences: what else the two descriptions disagree about.
    """

    source: str
    images: int | None
    tensors: int
    kept: str
    new: str
    dropped: str
    partly: list[str]
    fresh: list[str]
    unused: list[str]
    differences: list[str]

    def lines(self) -> list[str]:
        """All of it, for people."""
        seen = f" ({self.images:,} images seen)" if self.images else ""
        taken = self.tensors - len(self.fresh)
        lines = [
            f"starting from {self.source}{seen}: {taken} of {self.tensors} tensors taken over",
            f"characters: {len(self.kept):,} kept, {_some(self.new, 'new')}, "
            f"{_some(self.dropped, 'dropped')}",
        ]
        parts = {
            "positions kept": self.partly,
            "fresh, not in the file or of another shape": self.fresh,
            "in the file, but without a place in this model": self.unused,
            "not as in the file": self.differences,
        }
        return lines + [f"{name}: {_first(items)}" for name, items in parts.items() if items]


def start_from(
    recognizer: Recognizer, charset: Charset, weights: WeightsFile, source: str = "weights"
) -> Start:
    """Fill a model with the weights of a file, as far as they fit.

    * Characters that both have keep their rows, by what they are and not by where they stand, and
      so do the start and the end. Their scores for given text are the same as before.
    * A new character has a random embedding. Its row of the output is the mean of those kept: it
      is never the most probable one before it has been learned, and never far off.
    * Positions are kept as far as both reach: of characters from the first on, of patches by their
      row and column.
    * What else differs in shape stays as it is in ``recognizer``.

    Args:
        recognizer: the model; changed in place.
        charset: of the model.
        weights: the file.
        source: how to call the file.

    Raises:
        ValueError: the architectures differ.
    """
    check_architecture(recognizer, weights.recognizer, source)
    given, names = weights.recognizer.state_dict(), recognizer.state_dict()
    rows = _rows(charset, weights.charset)
    partly, fresh = [], []
    with torch.no_grad():
        for name, tensor in names.items():
            if name in (_EMBEDDINGS, *_OUTPUTS) and name in given:
                _fill_rows(tensor, given[name], rows, name in _OUTPUTS)
            elif name in given and given[name].shape == tensor.shape:
                tensor.copy_(given[name])
            elif name in given and name in (_GRID_POSITIONS, _TEXT_POSITIONS):
                partly.append(_fill_positions(name, tensor, given[name], recognizer, weights))
            else:
                fresh.append(name)
    old, new = weights.charset, charset
    images = weights.provenance.get("images")
    return Start(
        source,
        images if isinstance(images, int) else None,
        len(names),
        kept="".join(c for c in new.characters if not old.unknown(c)),
        new=old.unknown(new.characters),
        dropped=new.unknown(old.characters),
        partly=partly,
        fresh=fresh,
        unused=[name for name in given if name not in names],
        differences=_differences(recognizer, weights.recognizer, _MUST_AGREE + _MAY_DIFFER),
    )


def _rows(new: Charset, old: Charset) -> tuple[list[int], list[int]]:
    """Rows of the new symbols that the old ones have too, and theirs there; the last is the end."""
    kept = [character for character in new.characters if not old.unknown(character)]
    return [*new.encode("".join(kept)), len(new)], [*old.encode("".join(kept)), len(old)]


def _fill_rows(
    tensor: Tensor, given: Tensor, rows: tuple[list[int], list[int]], outputs: bool
) -> None:
    """Rows of characters that both have; in the output, new ones become the mean of these."""
    here, there = rows
    kept_characters = there[:-1]
    if outputs and len(kept_characters) > 1:
        tensor.copy_(given[kept_characters].mean(0).expand_as(tensor))
    tensor[here] = given[there].to(tensor)


def _fill_positions(
    name: str, tensor: Tensor, given: Tensor, recognizer: Recognizer, weights: WeightsFile
) -> str:
    """Positions that both have; returns how many of how many."""
    if name == _TEXT_POSITIONS:
        count = min(len(tensor), len(given))
        tensor[:count] = given[:count].to(tensor)
    else:
        grids = recognizer.encoder.grid, weights.recognizer.encoder.grid
        rows, columns = (min(sizes) for sizes in zip(*grids, strict=True))
        here, there = tensor.view(*grids[0], -1), given.view(*grids[1], -1)
        here[:rows, :columns] = there[:rows, :columns].to(tensor)
        count = rows * columns
    return f"{name} {count} of {len(tensor)}"


def check_architecture(recognizer: Recognizer, given: Recognizer, source: str) -> None:
    """Refuse weights that would mean something else in this model.

    Args:
        recognizer: the model.
        given: that of the file.
        source: how to call the file.

    Raises:
        ValueError: what differs.
    """
    agreeing = {name for part in _parts(recognizer) for name in part[2]} - {*_MUST_AGREE}
    differences = _differences(recognizer, given, agreeing)
    if differences:
        raise ValueError(
            f"cannot start from {source}: {'; '.join(differences)}; take the configuration that "
            "these weights were trained with, or weights of this one"
        )


def _differences(recognizer: Recognizer, given: Recognizer, ignored: Iterable[str]) -> list[str]:
    """What the descriptions of two models disagree about, but for some arguments."""
    lines = []
    for (part, here, mine), (_, there, theirs) in zip(
        _parts(recognizer), _parts(given), strict=True
    ):
        if here != there:
            lines.append(f"the {part} is {here} in the configuration, {there} in the file")
            continue
        lines += [
            f"{part}.{name} is {mine[name]} in the configuration, {theirs.get(name)} in the file"
            for name in mine
            if name not in set(ignored) and mine[name] != theirs.get(name)
        ]
    return lines


def _parts(recognizer: Recognizer) -> list[tuple[str, str, dict[str, Any]]]:
    """Name, class and arguments of the encoder and the decoder, sequences as lists."""
    description = json.loads(json.dumps(describe(recognizer)))
    return [(part, given["class"], given["arguments"]) for part, given in description.items()]


def _some(characters: str, what: str) -> str:
    """How many, and which the first are."""
    if not characters:
        return f"none {what}"
    more = " ..." if len(characters) > 20 else ""
    return f"{len(characters):,} {what} ({characters[:20]}{more})"


def _first(items: Sequence[str]) -> str:
    more = f" and {len(items) - 5} more" if len(items) > 5 else ""
    return ", ".join(items[:5]) + more
