"""Weights files: one safetensors file holds all that reading needs.

Tensors, and as metadata the description of the model, the charset, the preprocessing and where the
weights come from. Nothing in it is ever executed or unpickled.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from vit_str.charset import Charset
from vit_str.images import Preprocessing
from vit_str.models import Recognizer, build, describe

BUNDLED = Path(__file__).parent / "bundled"
"""Folder of the weights that come with the package: ``<name>.safetensors``."""

_FORMAT = "vit-str"
_VERSION = "1"
_LARGEST_HEADER = 100_000_000  # bytes, what the safetensors format allows
_FOREIGN_STARTS = {
    b"PK": "a PyTorch checkpoint or other zip archive; give the .safetensors file made for reading",
    b"version https://git-lfs": "a Git LFS pointer; get the file itself with: git lfs pull",
}


@dataclass(frozen=True, slots=True)
class WeightsFile:
    """What a weights file holds.

    Attributes:
        recognizer: the model in float32 on the CPU, ready to read.
        charset: the characters that it writes.
        preprocessing: what images go through before they come to it.
        provenance: where the weights come from: command, data, date, scores; free form.
    """

    recognizer: Recognizer
    charset: Charset
    preprocessing: Preprocessing
    provenance: dict[str, Any]


def save_weights(
    path: str | Path,
    recognizer: Recognizer,
    charset: Charset,
    preprocessing: Preprocessing,
    provenance: Mapping[str, Any],
    dtype: torch.dtype | None = None,
) -> None:
    """Write a weights file, whole or not at all; folders that are missing are made.

    Args:
        path: the file, ending in ``.safetensors``.
        recognizer: the model; it stays as it is.
        charset: of the model.
        preprocessing: of the model.
        provenance: values that JSON knows.
        dtype: of the stored weights, for example ``torch.float16`` for half the size; as they are
            if None.
    """
    metadata = {
        "format": _FORMAT,
        "version": _VERSION,
        "model": json.dumps(describe(recognizer)),
        "charset": charset.characters,
        "preprocessing": json.dumps(preprocessing.to_dict()),
        "provenance": json.dumps(dict(provenance), ensure_ascii=False),
    }
    tensors = {name: _stored(tensor, dtype) for name, tensor in recognizer.state_dict().items()}
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(save(tensors, metadata))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def load_weights(path: str | Path) -> WeightsFile:
    """Read a weights file.

    Raises:
        ValueError: no such file, cut short, of another format or version, or its tensors do not
            fit the model that it describes. One line that says what to do.
    """
    path = Path(path)
    _check_size(path)
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
            _check_format(path, metadata)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise _unusable(path, f"damaged ({error}); download or export it again") from error
    try:
        recognizer = build(json.loads(metadata["model"]))
        _fill(recognizer, tensors)
        charset = Charset(metadata["charset"])
        size = getattr(recognizer.decoder, "charset_size", len(charset))
        if size != len(charset):
            raise ValueError(f"a model of {size} characters with a charset of {len(charset)}")
        preprocessing = Preprocessing.from_dict(json.loads(metadata["preprocessing"]))
        provenance = dict(json.loads(metadata["provenance"]))
    except (ValueError, LookupError, TypeError, ArithmeticError, RuntimeError) as error:
        trouble = f"its parts do not fit together ({_first_line(error)}); export it again"
        raise _unusable(path, trouble) from error
    return WeightsFile(recognizer.eval(), charset, preprocessing, provenance)


def resolve(name_or_path: str | Path) -> Path:
    """Where the weights are that a user asks for.

    Args:
        name_or_path: a file, if it ends in ``.safetensors`` or holds a path separator, else the
            name of weights that come with the package.

    Raises:
        ValueError: there is no such file or name.
    """
    text = os.fspath(name_or_path)
    separators = [separator for separator in (os.sep, os.altsep) if separator]
    if text.endswith(".safetensors") or any(separator in text for separator in separators):
        return Path(text)
    path = BUNDLED / f"{text}.safetensors"
    if not path.is_file():
        known = ", ".join(bundled_names()) or "none"
        raise ValueError(
            f"no model {text!r}: give a .safetensors file or a model of the package: {known}"
        )
    return path


def bundled_names() -> list[str]:
    """Names of the weights that come with the package."""
    return sorted(path.stem for path in BUNDLED.glob("*.safetensors"))


def _stored(tensor: Tensor, dtype: torch.dtype | None) -> Tensor:
    """A copy for the file; copying separates tensors that share memory, which it cannot hold."""
    converted = dtype if tensor.is_floating_point() else None
    return tensor.detach().to("cpu", converted, copy=True).contiguous()


def _unusable(path: Path, trouble: str) -> ValueError:
    return ValueError(f"weights file {path}: {trouble}")


def _check_size(path: Path) -> None:
    """Tell a file that is no safetensors file from one that is cut short."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(64)
            header_size = int.from_bytes(start[:8], "little")
            header = file.read(max(0, header_size - 56)) if header_size <= _LARGEST_HEADER else b""
    except FileNotFoundError:
        raise _unusable(path, "no such file; check the path") from None
    except OSError as error:
        raise _unusable(path, f"cannot be read ({error.strerror}); check the path") from None
    for foreign, what in _FOREIGN_STARTS.items():
        if start.startswith(foreign):
            raise _unusable(path, what)
    if size == 0:
        raise _unusable(path, "empty; download or export it again")
    if header_size > _LARGEST_HEADER or start[8:9] not in (b"{", b""):
        raise _unusable(path, "not a safetensors file; give one that vit-str has written")
    needed = _needed_size(header_size, (start[8:] + header)[:header_size])
    if size < needed:
        trouble = f"cut short, {size:,} of {needed:,} bytes; download or export it again"
        raise _unusable(path, trouble)


def _needed_size(header_size: int, header: bytes) -> int:
    """Bytes of the whole file, as far as the header tells."""
    if len(header) < header_size:
        return 8 + header_size
    try:
        entries = json.loads(header)
        ends = [entry["data_offsets"][1] for name, entry in entries.items() if name[:2] != "__"]
        return 8 + header_size + max(ends, default=0)
    except (ValueError, LookupError, TypeError, AttributeError):
        return 0  # safe_open says what is wrong with it


def _check_format(path: Path, metadata: Mapping[str, str]) -> None:
    if metadata.get("format") != _FORMAT:
        raise _unusable(path, "safetensors, but not from vit-str; give one that it has written")
    version = metadata.get("version")
    if version != _VERSION:
        trouble = f"version {version}, this vit-str reads {_VERSION}; use the vit-str it came with"
        raise _unusable(path, trouble)


def _fill(recognizer: Recognizer, tensors: Mapping[str, Tensor]) -> None:
    expected = recognizer.state_dict()
    odd = sorted(expected.keys() ^ tensors.keys())
    if odd:
        raise ValueError(f"{len(odd)} tensors missing or too many, the first is {odd[0]}")
    for name, tensor in tensors.items():
        if tensor.shape != expected[name].shape:
            found, wanted = tuple(tensor.shape), tuple(expected[name].shape)
            raise ValueError(f"{name} is of shape {found}, the model needs {wanted}")
    recognizer.load_state_dict(dict(tensors))


def _first_line(error: Exception) -> str:
    lines = f"missing {error}" if isinstance(error, KeyError) else str(error)
    return lines.strip().splitlines()[0] if lines.strip() else type(error).__name__
