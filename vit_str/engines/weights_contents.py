"""Contents of weights files, read without the library that trains models."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from safetensors import SafetensorError, safe_open

from vit_str.characters.charset import Charset
from vit_str.console import one_line, reason_of
from vit_str.engines.ranges import Ranges, checked_ranges
from vit_str.images.preprocessing import Preprocessing

if TYPE_CHECKING:
    from jaxtyping import Float

BUNDLED = Path(__file__).parents[1] / "bundled"
"""Folder of the weights that come with the package: ``<name>.safetensors``."""

PRETRAINED = "model.safetensors"
"""The weights in a folder as the Hugging Face Hub has them, see ``vit_str.hub``."""

FORMAT = "vit-str"
VERSION = "1"
VERSION_WITH_TEMPERATURE = "2"  # what reads 1 alone would leave the temperature out
VERSION_IN_INT8 = "3"  # what reads 2 alone knows no weights in 8 bits
_VERSIONS = (VERSION, VERSION_WITH_TEMPERATURE, VERSION_IN_INT8)
GOLDEN = ("golden", "golden.images")
"""Texts and images for tests of machines, which files of version 0.1.0 may have."""

CHECKSUM = "sha256"
"""Name of the checksum in the metadata of a weights file."""

SCALES = ":scales"
"""Behind the name of a tensor in 8 bits: the scale of each of its outputs, which it is times."""

RANGES = "ranges"
"""Name of the ranges in the metadata, which files may have; see `Ranges`."""

_MOST_PIXELS = 1 << 20  # of an image as the model gets it
_LONGEST_REASON = 300  # characters
# bytes: parts that stay in the cache take half the time of the whole
_HASHED_AT_ONCE = 1 << 18
_FOREIGN_STARTS = {
    # Four bytes: "PK" alone also begins a safetensors file whose header has 0x4B50 bytes.
    b"PK\x03\x04": "a PyTorch checkpoint or other zip; give the .safetensors file made for reading",
    b"version https://git-lfs": "a Git LFS pointer; get the file itself with: git lfs pull",
}
_COLDEST = 0.01  # below, every confidence is 1
_HOTTEST = 100.0  # above, none is anything
# Seventy times the largest weight of all models of this project, whose largest are 1.2 to 6.5:
# models beyond read one text in everything, as surely as can be
_LARGEST_WEIGHT = 500.0
_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I8": "<i1"}


@dataclass(frozen=True, slots=True)
class WeightsHeader:
    """Description of the model of a weights file, without the weights.

    Attributes:
        description: of the model, see ``vit_str.models.description``.
        charset: the characters that it writes.
        preprocessing: what images go through before they come to it.
        provenance: where the weights come from: command, data, date, scores; free form.
        temperature: what makes confidences mean what they say.
        ranges: of the numbers inside the model, for an encoder in 8 bits; may be none.
    """

    description: dict[str, Any]
    charset: Charset
    preprocessing: Preprocessing
    provenance: dict[str, Any]
    temperature: float
    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Contents(WeightsHeader):
    """Contents of a weights file, besides a model that is built of it.

    Attributes:
        tensors: the weights in float32, by name.
    """

    tensors: dict[str, Float[np.ndarray, ...]]


def load_header(path: str | Path) -> WeightsHeader:
    """Read what a weights file says, once its checksum is found to be right.

    Raises:
        ValueError: see `load_contents`.
    """
    path = Path(path)
    metadata = read_metadata(path)
    with fitting_parts(path):
        charset = metadata["charset"]
        description = _parsed(metadata["model"])
        size = description["decoder"]["arguments"]["charset_size"]
        if len(charset) != size:
            raise ValueError(
                f"a model of {size} characters with a charset of {len(charset)}"
            )
        preprocessing = Preprocessing.from_dict(_parsed(metadata["preprocessing"]))
        if preprocessing.height * preprocessing.width > _MOST_PIXELS:
            raise ValueError(f"images of more than {_MOST_PIXELS:,} pixels")
        return WeightsHeader(
            description=description,
            charset=Charset(charset),
            preprocessing=preprocessing,
            provenance=dict(_parsed(metadata["provenance"])),
            temperature=checked_temperature(float(metadata.get("temperature", "1"))),
            ranges=checked_ranges(_parsed(metadata.get(RANGES, "{}"))),
        )


def load_contents(path: str | Path, header: WeightsHeader | None = None) -> Contents:
    """Read a weights file.

    Args:
        path: of the file.
        header: of the file, if it is known already.

    Raises:
        ValueError: no such file, cut short, of another format or version, not as it was written,
            or its parts do not fit together. One line that says what to do.
    """
    path = Path(path)
    header = header or load_header(path)
    with fitting_parts(path):
        with damage_reported(path):
            tensors = _tensors(path)
        _check_numbers(tensors)
    return Contents(
        description=header.description,
        charset=header.charset,
        preprocessing=header.preprocessing,
        provenance=header.provenance,
        temperature=header.temperature,
        ranges=header.ranges,
        tensors=tensors,
    )


def read_metadata(path: Path) -> dict[str, str]:
    """Metadata of a file that is a weights file as far as can be seen from outside.

    Raises:
        ValueError: for a file that is not there, of another program or version, or changed since.
    """
    if not path.is_file():
        what = (
            "not a file; give a .safetensors file" if path.exists() else "no such file"
        )
        raise unusable(path, f"{what}; check the path")
    with damage_reported(path):
        with path.open("rb") as file:
            start = file.read(64)
        for foreign, what in _FOREIGN_STARTS.items():
            if start.startswith(foreign):
                raise unusable(path, what)
        with safe_open(path, "np") as opened:
            metadata = opened.metadata() or {}
    if metadata.get("format") != FORMAT:
        raise unusable(
            path, "safetensors, but not from vit-str; give one that it has written"
        )
    version = metadata.get("version")
    if version not in _VERSIONS:
        known = " and ".join(_VERSIONS)
        reason = f"version {version}, this vit-str reads {known}; use the vit-str it came with"
        raise unusable(path, reason)
    if is_intact(path) is False:
        reason = "not as it was written, its checksum does not fit; download or export it again"
        raise unusable(path, reason)
    return metadata


@contextmanager
def damage_reported(path: Path) -> Iterator[None]:
    """Say in one line that a file is damaged, or that the system does not give it.

    Raises:
        ValueError: with the reason, and what to do, in one line.
    """
    try:
        yield
    except OSError as error:
        reason = f"cannot be read ({error.strerror}); check the path and its disk"
        raise unusable(path, reason) from error
    except SafetensorError as error:
        raise unusable(
            path, f"damaged ({error}); download or export it again"
        ) from error


@contextmanager
def fitting_parts(path: Path) -> Iterator[None]:
    """Say in one line that the parts of a file do not fit together, whoever wrote it.

    Raises:
        ValueError: with the reason, and what to do, in one line.
    """
    try:
        yield
    except Exception as error:
        reason = f"its parts do not fit together ({reason_of(error)}); export it again"
        raise unusable(path, reason) from error


def checked_temperature(temperature: float) -> float:
    """The temperature, if it is one.

    Raises:
        ValueError: for one outside of the range that files may hold.
    """
    if not _COLDEST <= temperature <= _HOTTEST:
        raise ValueError(
            f"a temperature is {_COLDEST} to {_HOTTEST}, found {temperature}"
        )
    return float(temperature)


def checksum(file: BinaryIO) -> str:
    """SHA-256 of all that a safetensors file holds: tensors and metadata, but for the checksum.

    Not of the bytes of the file: the order of its header is free.
    """
    return _digest(_header(file), file)


def is_intact(path: Path) -> bool | None:
    """Whether a weights file is as it was written; None without a checksum."""
    with path.open("rb") as file:
        header = _header(file)
        stored = header.get("__metadata__", {}).get(CHECKSUM)
        return None if stored is None else bool(stored == _digest(header, file))


def stored_checksum(path: Path) -> str | None:
    """The checksum that a weights file says it has; None if it has none, or is no such file."""
    try:
        with safe_open(path, "np") as file:
            return (file.metadata() or {}).get(CHECKSUM)
    except (OSError, SafetensorError):
        return None


def unusable(path: Path, reason: str) -> ValueError:
    """The error that says in one line what is wrong with a weights file."""
    reason = one_line(reason)
    if len(reason) > _LONGEST_REASON:
        start = reason[: _LONGEST_REASON // 2]
        end = reason[-_LONGEST_REASON // 2 :]
        reason = f"{start} ... {end}"
    return ValueError(f"weights file {one_line(str(path))}: {reason}")


def _header(file: BinaryIO) -> dict[str, Any]:
    length = int.from_bytes(file.read(8), "little")
    header: dict[str, Any] = json.loads(file.read(length))
    return header


def _digest(header: dict[str, Any], data: BinaryIO) -> str:
    metadata = header.get("__metadata__", {})
    said = {name: value for name, value in metadata.items() if name != CHECKSUM}
    described = json.dumps(header | {"__metadata__": said}, sort_keys=True)
    digest = hashlib.sha256(described.encode())
    while part := data.read(_HASHED_AT_ONCE):
        digest.update(part)
    return digest.hexdigest()


def _parsed(text: str) -> Any:
    """The value of a JSON text; numbers that are none make it unusable."""
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except RecursionError:
        raise ValueError("nested too deep") from None


def resolve(name_or_path: str | Path) -> Path:
    """Where the weights are that a user asks for.

    Args:
        name_or_path: a file, if it ends in ``.safetensors`` or holds a path separator, a folder
            that ``vit-str export`` or ``vit_str.hub`` has made, else the name of weights that come
            with the package.

    Raises:
        ValueError: for a name that is neither a file or folder nor weights of the package.
    """
    text = os.fspath(name_or_path)
    if text and (Path(text) / PRETRAINED).is_file():
        return Path(text) / PRETRAINED
    separators = [separator for separator in (os.sep, os.altsep) if separator]
    is_path = any(separator in text for separator in separators)
    if is_path or text.endswith(".safetensors"):
        return Path(text)
    path = BUNDLED / f"{text}.safetensors"
    if path.is_file():
        return path
    if text and os.path.isdir(text):
        return Path(text)
    known = ", ".join(bundled_names()) or "none"
    raise ValueError(
        f"no model {text!r}: give a .safetensors file or a model of the package: "
        f"{known}"
    )


def bundled_names() -> list[str]:
    """Names of the weights that come with the package."""
    return sorted(path.stem for path in BUNDLED.glob("*.safetensors"))


def _tensors(path: Path) -> dict[str, np.ndarray]:
    """The tensors of a file that fits its header, in float32, by name.

    They are made of the file as the system maps it into memory, without a copy between.
    """
    with path.open("rb") as file:
        described = _header(file)
        described.pop("__metadata__", None)
        stored = np.memmap(file, np.uint8, "r", offset=file.tell())
    tensors = {
        name: _array(name, entry, stored)
        for name, entry in described.items()
        if name not in GOLDEN
    }
    for name in [name for name in tensors if described[name]["dtype"] == "I8"]:
        scales = tensors.pop(name + SCALES)
        tensors[name] *= np.expand_dims(scales, tuple(range(1, tensors[name].ndim)))
    return tensors


def _array(name: str, entry: Mapping[str, Any], stored: np.ndarray) -> np.ndarray:
    """A tensor in float32, in memory of its own; of one in 8 bits what its scales multiply."""
    dtype = entry["dtype"]
    if dtype not in _DTYPES:
        raise ValueError(f"{name} holds no weights but {dtype}")
    start, end = entry["data_offsets"]
    values = np.asarray(stored[start:end]).view(_DTYPES[dtype]).reshape(entry["shape"])
    if dtype == "BF16":  # the upper half of a float32
        return (values.astype("<u4") << 16).view(np.float32)
    if dtype == "F16":
        return _float16_values().take(values.view("<u2"))
    return values.astype(np.float32)


@cache
def _float16_values() -> np.ndarray:
    """Every number of 16 bits in float32, by its bits: NumPy converts at half the speed."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    return bits.view(np.float16).astype(np.float32)


def _check_numbers(tensors: Mapping[str, np.ndarray]) -> None:
    for name, tensor in tensors.items():
        least = tensor.min(initial=0)
        most = tensor.max(initial=0)
        if not (least >= -_LARGEST_WEIGHT and most <= _LARGEST_WEIGHT):
            raise ValueError(
                f"{name} holds what is no number or above {_LARGEST_WEIGHT:g}: the "
                "training failed, take an earlier export"
            )
