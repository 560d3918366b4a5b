"""Starting from the weights of another run, perhaps with another charset.

A character keeps its embedding and its row of the output wherever it stands in the new charset.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from lightning.pytorch import Callback, LightningModule, Trainer
from torch import Tensor, nn

from vit_str.characters.charset import Charset
from vit_str.engines.weights_contents import resolve
from vit_str.models import LineTransformer, Recognizer, VisionTransformer, describe
from vit_str.torch_runtime.weights_file import WeightsFile, load_weights
from vit_str.training.checkpoints import CannotStart
from vit_str.training.console import report
from vit_str.training.growth import (
    grown,
    growth_of,
    is_new,
    start_as_identity,
)
from vit_str.training.module import RecognizerTraining

# First axis: one row for each character in the order of the charset, then one for start or end.
_EMBEDDINGS = "decoder.embed_characters.weight"
_OUTPUTS = (
    "decoder.classify.weight",
    "decoder.classify.bias",
    "decoder.draft.classify.weight",
    "decoder.draft.classify.bias",
)
_GRID_POSITIONS = "encoder.embed_positions.weight"
_PATCHES = "encoder.embed_patches"
_TEXT_POSITIONS = "decoder.embed_positions.weight"
# Weights of one mean nothing in the other, although their shapes may fit.
_MUST_AGREE = ("dim", "heads", "mlp_ratio", "widths", "strides")
# Said with the characters and the positions, or no matter of weights.
_MAY_DIFFER = (
    "charset_size",
    "maximum_length",
    "dropout",
    "label_smoothing",
    "draft_grid",
)
# Of the encoders of words and of lines.
_SIZES = ("dim", "heads", "mlp_ratio", "stem_widths", "stem_depths")
_MOST_CHARACTERS = 20  # that are listed
_MOST_NAMES = 5


def start_from(
    recognizer: Recognizer,
    charset: Charset,
    weights: WeightsFile,
    source: str = "weights",
) -> list[str]:
    """Fill a model with the weights of a file, as far as they fit.

    * Characters that both have keep their rows, by what they are and not by where they stand, and
      so do the start and the end. Their scores for given text are the same as before.
    * A new character has a random embedding. Its row of the output is the mean of those kept: it
      is never the most probable one before it has been learned, and never far off.
    * Positions are kept as far as both reach: of characters from the first on, of patches by their
      row and column.
    * A model with more blocks computes what the weights do: see `vit_str.training.growth`.
    * A `LineTransformer` takes what it can of a `VisionTransformer`: its patches, as high as the
      image, begin as the sum of the patches below each other, and columns have no positions.
    * What else differs in shape stays as it is in ``recognizer``.

    Args:
        recognizer: the model, which is changed.
        charset: its characters.
        weights: of the file.
        source: what to call the file.

    Returns:
        Lines for people: what was taken over, what is new, and what of the file is not used.

    Raises:
        ValueError: weights of another architecture, see `check_architecture`.
    """
    check_architecture(recognizer, weights.recognizer, source)
    rows = _KeptRows.of(charset, weights.charset)
    growths = growth_of(recognizer, weights.recognizer)
    filling = _fill(recognizer, weights, rows)
    fresh = [name for name in filling.fresh if not is_new(name, growths)]
    parts = {
        "positions kept": filling.partly,
        "fresh, not in the file or of another shape": fresh,
        "in the file, but without a place in this model": filling.unused,
        "not as in the file": _differences(
            recognizer, weights.recognizer, _MUST_AGREE + _MAY_DIFFER
        ),
    }
    total = len(recognizer.state_dict())
    taken = f"{total - len(filling.fresh)} of {total} tensors taken over"
    return [
        f"starting from {source}{_seen(weights)}: {taken}",
        f"characters: {len(rows.own) - 1:,} kept, {_changes(charset, weights.charset)}",
        *map(str, growths),
        *(f"{name}: {_first(items)}" for name, items in parts.items() if items),
    ]


@dataclass(frozen=True, slots=True)
class _KeptRows:
    """Rows of embeddings and outputs that both charsets have, in the same order.

    The last one is the start or the end.
    """

    own: list[int]
    given: list[int]

    @classmethod
    def of(cls, charset: Charset, old: Charset) -> "_KeptRows":
        """The rows that the charset of a model and that of the file share."""
        unknown = old.unknown(charset.characters)
        kept = "".join(
            character for character in charset.characters if character not in unknown
        )
        return cls(
            own=[*charset.encode(kept), len(charset)],
            given=[*old.encode(kept), len(old)],
        )


@dataclass(frozen=True, slots=True)
class _Filling:
    """Names of tensors that were not simply taken over.

    Attributes:
        partly: positions, with how many of them are kept.
        fresh: as they were before.
        unused: of the file.
    """

    partly: list[str]
    fresh: list[str]
    unused: list[str]


@torch.no_grad()
def _fill(recognizer: Recognizer, weights: WeightsFile, rows: _KeptRows) -> _Filling:
    """Copy what fits into a model."""
    given = weights.recognizer.state_dict()
    tensors = recognizer.state_dict()
    growths = growth_of(recognizer, weights.recognizer)
    given = grown(given, recognizer, growths)
    if _turns_to_lines(recognizer, weights.recognizer):
        given |= _for_lines(given, weights.recognizer.encoder.grid[0], tensors)
    partly = []
    fresh = []
    for name, tensor in tensors.items():
        if name not in given:
            fresh.append(name)
        elif name in (_EMBEDDINGS, *_OUTPUTS):
            _fill_rows(name, tensor, rows.own, given[name][rows.given])
        elif given[name].shape == tensor.shape:
            tensor.copy_(given[name])
        elif name in (_GRID_POSITIONS, _TEXT_POSITIONS):
            count = _fill_positions(name, tensor, given[name], recognizer, weights)
            partly.append(f"{name} {count} of {len(tensor)}")
        else:
            fresh.append(name)
    start_as_identity(recognizer, growths)
    unused = [name for name in given if name not in tensors]
    return _Filling(partly, fresh, unused)


def _fill_rows(
    name: str,
    tensor: Float[Tensor, "symbol ..."],
    own_rows: Sequence[int],
    values: Float[Tensor, "kept ..."],
) -> None:
    """Give rows of characters their values; in outputs the others become the mean of these."""
    if name in _OUTPUTS:
        _fill_with_mean(tensor, values[:-1])
    tensor[own_rows] = values.to(tensor)


def _changes(charset: Charset, old: Charset) -> str:
    """Which characters are new, and which are dropped."""
    new = _some(old.unknown(charset.characters), "new")
    dropped = _some(charset.unknown(old.characters), "dropped")
    return f"{new}, {dropped}"


def _seen(weights: WeightsFile) -> str:
    """On how many images they were trained, if the file says so."""
    images = weights.provenance.get("images")
    return f" ({images:,} images seen)" if isinstance(images, int) and images else ""


def _fill_with_mean(tensor: Tensor, rows: Tensor) -> None:
    """Every row becomes the mean of the given ones, if there are several."""
    if len(rows) > 1:
        tensor.copy_(rows.mean(0).expand_as(tensor))


def _fill_positions(
    name: str,
    tensor: Tensor,
    given: Tensor,
    recognizer: Recognizer,
    weights: WeightsFile,
) -> int:
    """Positions that both have; returns how many they are."""
    if name == _TEXT_POSITIONS:
        count = min(len(tensor), len(given))
        tensor[:count] = given[:count].to(tensor)
        return count
    own_grid = recognizer.encoder.grid
    given_grid = weights.recognizer.encoder.grid
    rows = min(own_grid[0], given_grid[0])
    columns = min(own_grid[1], given_grid[1])
    own = tensor.view(*own_grid, -1)
    theirs = given.view(*given_grid, -1)
    own[:rows, :columns] = theirs[:rows, :columns].to(tensor)
    return rows * columns


def _turns_to_lines(recognizer: Recognizer, given: Recognizer) -> bool:
    """Whether a reader of words is to begin as a reader of lines."""
    reads_words = isinstance(given.encoder, VisionTransformer)
    return reads_words and isinstance(recognizer.encoder, LineTransformer)


def _for_lines(
    given: dict[str, Tensor],
    rows: int,
    own: dict[str, Tensor],
) -> dict[str, Tensor]:
    """The first layer of a reader of words with rows of patches, for one row or as many."""
    weight = given[f"{_PATCHES}.weight"]
    bias = given[f"{_PATCHES}.bias"]
    if own[f"{_PATCHES}.weight"].shape[1] == weight.shape[1]:
        positions = given[_GRID_POSITIONS].view(rows, -1, weight.shape[0])
        return {"encoder.embed_rows": positions.mean(1, keepdim=True)}
    return {
        f"{_PATCHES}.weight": weight.repeat(1, rows) / rows**0.5,
        f"{_PATCHES}.bias": bias + given[_GRID_POSITIONS].mean(0),
    }


def check_architecture(recognizer: Recognizer, given: Recognizer, source: str) -> None:
    """Refuse weights that would mean something else in this model.

    Raises:
        ValueError: with what differs.
    """
    if _turns_to_lines(recognizer, given):
        differences = _differences_of_lines(recognizer, given)
    else:
        names: set[str] = set()
        for _, _, arguments in _parts(recognizer):
            names.update(arguments)
        differences = _differences(recognizer, given, ignored=names - set(_MUST_AGREE))
    if differences:
        raise ValueError(
            f"cannot start from {source}: {'; '.join(differences)}; take the "
            "configuration that these weights were trained with, or weights of this "
            "one"
        )
    growth_of(recognizer, given)


def _differences_of_lines(recognizer: Recognizer, given: Recognizer) -> list[str]:
    """Differences between encoders of lines and of words that cannot be bridged, a line each."""
    lines = []
    for name in _SIZES:
        mine = getattr(recognizer.encoder, name)
        theirs = getattr(given.encoder, name)
        if mine != theirs:
            lines.append(
                f"encoder.{name} is {mine} in the configuration, {theirs} in the file"
            )
    return lines


def _differences(
    recognizer: Recognizer,
    given: Recognizer,
    ignored: Iterable[str],
) -> list[str]:
    """Differences between the descriptions of two models, a line each, but for some arguments."""
    lines = []
    left_out = set(ignored)
    pairs = zip(_parts(recognizer), _parts(given), strict=True)
    for (part, here, mine), (_, there, theirs) in pairs:
        if here != there:
            lines.append(
                f"the {part} is {here} in the configuration, {there} in the file"
            )
            continue
        for name, value in mine.items():
            other = theirs.get(name)
            if name not in left_out and value != other:
                lines.append(
                    f"{part}.{name} is {value} in the configuration, {other} in the "
                    "file"
                )
    return lines


def _parts(recognizer: Recognizer) -> list[tuple[str, str, dict[str, Any]]]:
    """Name, class and arguments of the encoder and the decoder, sequences as lists."""
    description = json.loads(json.dumps(describe(recognizer)))
    return [
        (part, given["class"], given["arguments"])
        for part, given in description.items()
    ]


def _some(characters: str, what: str) -> str:
    """How many, and which the first are."""
    if not characters:
        return f"none {what}"
    more = " ..." if len(characters) > _MOST_CHARACTERS else ""
    return f"{len(characters):,} {what} ({characters[:_MOST_CHARACTERS]}{more})"


def _first(items: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    more = len(items) - _MOST_NAMES
    return ", ".join(items[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


class StartFromWeights(Callback):
    """Start a run from a weights file; a run that resumes from a checkpoint leaves it alone.

    The moving average starts there too. The auxiliary heads, which are not in weights files, start
    at zero: while they know nothing, they do not pull at an encoder that does.

    Args:
        source: a ``.safetensors`` file or the name of weights of the package.
    """

    def __init__(self, source: str) -> None:
        self.source = source

    def load(self, module: RecognizerTraining) -> WeightsFile:
        """The weights, checked against the model."""
        weights = load_weights(resolve(self.source))
        check_architecture(module.recognizer, weights.recognizer, self.source)
        return weights

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Checkpoints are loaded by now, so it is known whether there is one.

        Raises:
            CannotStart: for weights that cannot be read, or of another architecture.
        """
        assert isinstance(pl_module, RecognizerTraining)
        if trainer.ckpt_path:
            report(
                f"--init {self.source} is not used, as the run resumes; give another "
                "--folder"
            )
            return
        try:
            weights = self.load(pl_module)
        except ValueError as error:
            raise CannotStart(str(error)) from error
        lines = start_from(
            pl_module.recognizer, pl_module.charset, weights, self.source
        )
        pl_module.average.start(pl_module.recognizer)
        nn.init.zeros_(pl_module.token_classifier.classify.weight)
        nn.init.zeros_(pl_module.token_classifier.classify.bias)
        pl_module.started_from = {
            "weights": self.source,
            "images": weights.provenance.get("images"),
            "language": weights.provenance.get("language"),
        }
        for line in lines + _advice(trainer, pl_module, weights):
            report(line)


def _advice(
    trainer: Trainer,
    module: RecognizerTraining,
    weights: WeightsFile,
) -> list[str]:
    """Warnings about weights and settings that are likely to disappoint, a line each."""
    lines = []
    if weights.preprocessing != module.preprocessing:
        lines.append(
            f"preprocessing: {module.preprocessing.to_dict()} here, "
            f"{weights.preprocessing.to_dict()} in the file"
        )
    remembered = round(1 / max(1e-9, 1 - module.average.decay))
    if 0 < trainer.max_steps < 3 * remembered:
        averaging = max(0.0, round(1 - 10 / trainer.max_steps, 3))
        lines.append(
            f"model.averaging {module.average.decay} remembers about {remembered:,} "
            f"steps, and this run has {trainer.max_steps:,}: the weights that it "
            f"writes will lag behind; --model.averaging {averaging} would not"
        )
    return lines
