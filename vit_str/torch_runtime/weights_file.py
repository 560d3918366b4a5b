"""Writing and reading weights files."""

import json
import math
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save
from torch import Tensor

from vit_str.characters.charset import Charset
from vit_str.engines.initializers import output_scales, quantized_outputs
from vit_str.engines.ranges import Ranges, checked_ranges
from vit_str.engines.weights_contents import (
    CHECKSUM,
    FORMAT,
    GOLDEN,
    RANGES,
    SCALES,
    VERSION,
    VERSION_IN_INT8,
    VERSION_WITH_TEMPERATURE,
    Contents,
    WeightsHeader,
    checked_temperature,
    checksum,
    damage_reported,
    fitting_parts,
    load_contents,
    load_header,
    read_metadata,
)
from vit_str.files import write_atomically
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import Recognizer, build, describe

_LARGEST_NUMBER = 1 << 20  # in the description of a model
_MOST_TOKENS = 1 << 13  # attention takes memory by their square


@dataclass(frozen=True, slots=True)
class WeightsFile:
    """Contents of a weights file."""

    recognizer: Recognizer  # the model in float32 on the CPU, ready to read
    charset: Charset  # the characters that it writes
    preprocessing: Preprocessing  # what images go through before they come to it
    # Where the weights come from: command, data, date, scores; free form
    provenance: dict[str, Any]
    # What makes confidences mean what they say, see `vit_str.evaluation.calibration`
    temperature: float = 1.0
    # Of the numbers inside the model, for an encoder in 8 bits, see `measure_ranges`; may be none
    ranges: Ranges = field(default_factory=dict)


def save_weights(
    path: str | Path,
    recognizer: Recognizer,
    charset: Charset,
    preprocessing: Preprocessing,
    provenance: Mapping[str, Any],
    dtype: torch.dtype | None = None,
    *,
    temperature: float = 1.0,
    ranges: Ranges | None = None,
) -> None:
    """Write a weights file atomically; missing folders are created.

    It gets the lowest version that holds all there is: every vit-str reads files without a
    temperature.

    Args:
        path: of the file, which is replaced.
        recognizer: the model.
        charset: the characters that it knows.
        preprocessing: what images go through first.
        provenance: where the weights come from, in values that JSON knows.
        dtype: to store floats in; None for as they are, ``torch.float16`` takes half the size.
        temperature: what scores are divided by, above 0.
        ranges: see `measure_ranges`; without them a model reads as well, but slower where it reads
            in 8 bits.

    Raises:
        ValueError: for a temperature or ranges that no reader takes.
    """
    metadata = {
        "format": FORMAT,
        "version": VERSION,
        "model": json.dumps(describe(recognizer)),
        "charset": charset.characters,
        "preprocessing": json.dumps(preprocessing.to_dict()),
        "provenance": json.dumps(dict(provenance), ensure_ascii=False),
    }
    tensors = {
        name: _stored(tensor, dtype) for name, tensor in recognizer.state_dict().items()
    }
    _write(Path(path), tensors, metadata, temperature, ranges or {})


def renew_weights(source: str | Path, target: str | Path, file: WeightsFile) -> None:
    """Write a weights file again with other values beside the tensors.

    Those may be temperature, ranges, preprocessing and provenance; all else stays as it is, to
    the bit.
    """
    metadata = read_metadata(Path(source))
    with damage_reported(Path(source)):
        tensors = {
            name: each for name, each in load_file(source).items() if name not in GOLDEN
        }
    dropped = (*GOLDEN, RANGES)
    kept = {name: value for name, value in metadata.items() if name not in dropped}
    kept["provenance"] = json.dumps(file.provenance, ensure_ascii=False)
    kept["preprocessing"] = json.dumps(file.preprocessing.to_dict())
    _write(Path(target), tensors, kept, file.temperature, file.ranges)


def write_in_int8(
    source: str | Path, target: str | Path, names: Collection[str]
) -> None:
    """Write a weights file again with some tensors in 8 bits: half the size of float16.

    Every output is on a scale of its own, as graphs in 8 bits take it: what they compute stays the
    same. All else computes with the rounded weights.

    Args:
        source: the file; what is in 8 bits there stays as it is.
        target: the one to write.
        names: of the tensors, see `vit_str.engines.graph_files.int8_weights`.
    """
    header = load_header(source)
    tensors = load_file(source)
    for name in names:
        if name + SCALES in tensors:
            continue
        values = tensors[name].float().numpy()
        tensors[name] = torch.from_numpy(quantized_outputs(values))
        tensors[name + SCALES] = torch.from_numpy(output_scales(values))
    metadata = read_metadata(Path(source))
    _write(Path(target), tensors, metadata, header.temperature, header.ranges)


def _write(
    path: Path,
    tensors: dict[str, Tensor],
    metadata: dict[str, str],
    temperature: float,
    ranges: Ranges,
) -> None:
    """Write the file with what a file may have, and a checksum over everything."""
    metadata = metadata | {
        "version": _version(tensors, temperature),
        "temperature": repr(checked_temperature(temperature)),
    }
    if ranges:
        metadata[RANGES] = json.dumps(checked_ranges(ranges))
    metadata[CHECKSUM] = checksum(BytesIO(save(tensors, metadata)))
    with write_atomically(path) as temporary:
        temporary.write_bytes(save(tensors, metadata))


def _version(tensors: Mapping[str, Tensor], temperature: float) -> str:
    if any(name.endswith(SCALES) for name in tensors):
        return VERSION_IN_INT8
    return VERSION if temperature == 1 else VERSION_WITH_TEMPERATURE


def load_weights(path: str | Path, header: WeightsHeader | None = None) -> WeightsFile:
    """Read a weights file.

    Args:
        path: of the file.
        header: of the file, if it is known already.

    Raises:
        ValueError: no such file, cut short, of another format or version, not as it was written,
            or it describes no model that its tensors fit. One line that says what to do.
    """
    contents = load_contents(path, header)
    tensors = {
        name: torch.from_numpy(array.copy()) for name, array in contents.tensors.items()
    }
    with fitting_parts(Path(path)), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch remarks on tensors without elements
        recognizer = _build(contents, tensors)
        recognizer.load_state_dict(tensors)
    return WeightsFile(
        recognizer.eval(),
        contents.charset,
        contents.preprocessing,
        contents.provenance,
        contents.temperature,
        contents.ranges,
    )


def _build(contents: Contents, tensors: Mapping[str, Tensor]) -> Recognizer:
    """The model that a file describes, if its tensors are the weights of it.

    Whoever made the file may be mistaken or hostile: its size is known before memory is taken.
    """
    _check_numbers(contents.description, most_blocks=len(contents.tensors))
    with torch.device("meta"):
        outline = build(contents.description)
    outline.load_state_dict(tensors, assign=True)
    needed = outline.encoder.image_size
    size = contents.preprocessing.height, contents.preprocessing.width
    if tuple(needed) != size:
        raise ValueError(
            f"images of {size} for a model of {tuple(needed)} (height, width)"
        )
    if math.prod(outline.encoder.grid) > _MOST_TOKENS:
        raise ValueError(
            f"an encoder of {outline.encoder.grid} tokens, at most {_MOST_TOKENS:,}"
        )
    return build(contents.description)


def _check_numbers(value: Any, most_blocks: int, name: str = "") -> None:
    """Refuse numbers, also within lists and parts, for which no module should be made."""
    if isinstance(value, dict):
        for inner, part in value.items():
            _check_numbers(part, most_blocks, inner)
    elif isinstance(value, list):
        for part in value:
            _check_numbers(part, most_blocks, name)
    elif isinstance(value, int | float):
        most = most_blocks if "depth" in name else _LARGEST_NUMBER
        if not 0 <= value <= most:
            raise ValueError(
                f"{name} is a number from 0 to {most:,}, not {value!r:.20}"
            )


def _stored(tensor: Tensor, dtype: torch.dtype | None) -> Tensor:
    """A copy for the file; copying separates tensors that share memory, which it cannot hold."""
    converted = dtype if tensor.is_floating_point() else None
    return tensor.detach().to("cpu", converted, copy=True).contiguous()
