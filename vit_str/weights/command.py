"""``vit-str doctor``: is everything all right with a weights file, on this machine?"""

import argparse
import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from vit_str import console
from vit_str.console import aligned, one_line
from vit_str.runtime import Reader, Search
from vit_str.runtime.engine import TORCH_HINT, Engine, has_torch
from vit_str.runtime.machine import cpu_count, processor, software
from vit_str.runtime.onnx_engine import find_graphs, load_with_graphs
from vit_str.runtime.prior import NO_LANGUAGE
from vit_str.runtime.weights_contents import (
    Contents,
    is_intact,
    load_contents,
    resolve,
    stored_dtypes,
)
from vit_str.weights.doctor import Difference, difference

_DESCRIPTION = """\
Print what this machine has and what a weights file holds, read the golden images of the file on
every device and in every number format that reading would use, and compare with what the model read
when the file was made. A golden image is a word kept in the file for that."""

_EPILOG = """\
examples:
  vit-str doctor                                    the weights of the package
  vit-str doctor my.safetensors                     a file

exit codes: 0 all well; 1 something differs; 2 wrong use, or a file that cannot be used;
130 interrupted with Ctrl-C."""

_TITLES = "device", "backend", "format", "read alike", "score off by", "allowed", "confidence"


@dataclass(frozen=True, slots=True)
class Check:
    """The golden images read on one device in one number format.

    Attributes:
        device: its name in torch.
        backend: ``onnx`` or ``torch``.
        precision: the number format.
        found: what differs; None without golden images.
        failure: why they could not be read at all.
    """

    device: str
    backend: str
    precision: str
    found: Difference | None = None
    failure: str | None = None

    @property
    def is_well(self) -> bool:
        """Whether nothing is wrong here."""
        return self.failure is None and (self.found is None or self.found.is_explained)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``vit-str doctor``."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument(
        "weights", nargs="?", default="tiny", metavar="WEIGHTS", help="a file, or tiny (default)"
    )
    parser.add_argument("--device", help="check this one only: cpu, cuda, cuda:1 or mps")
    parser.add_argument(
        "--backend", choices=("onnx", "torch"), help="check this one only (default: all there are)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    path = resolve(options.weights)
    file = load_contents(path)
    devices = _devices(options.device)
    facts = _facts(path, file)
    checks = list(_checks(path, file, options.device, options.backend))
    if not checks:
        raise ValueError(
            f"nothing here reads {path} so: leave out --device and --backend, or {TORCH_HINT}"
        )
    problems = list(_problems(checks))
    if options.json:
        console.write(json.dumps(_values(facts, devices, checks, problems), indent=2))
    else:
        console.write("\n".join(_lines(facts, devices, checks)))
    for problem in problems:
        console.warn(problem)
    if not problems and not options.json:
        console.write("all well" if file.golden else "nothing wrong that can be seen without them")
    return 1 if problems else 0


def _facts(path: Path, file: Contents) -> dict[str, Any]:
    """What the file holds, as plain values."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {
        "path": str(path),
        "bytes": path.stat().st_size,
        "sha256": digest,
        "intact": is_intact(path),
        "encoder": file.description["encoder"]["class"],
        "decoder": file.description["decoder"]["class"],
        "parameters": sum(tensor.size for tensor in file.tensors.values()),
        "stored_as": stored_dtypes(path),
        "charset": file.charset.characters,
        "image_size": [file.preprocessing.height, file.preprocessing.width],
        "temperature": file.temperature,
        "golden_images": len(file.golden.images) if file.golden else 0,
        "provenance": file.provenance,
    }


def _devices(device: str | None) -> dict[str, str]:
    """Devices to check, by name -> what they are."""
    if not has_torch():
        if device not in (None, "cpu"):
            raise ValueError(f"--device {device} needs torch, {TORCH_HINT}")
        return {"cpu": f"{processor()}, {cpu_count()} CPUs"}
    from vit_str.torch_runtime.devices import choose_device, device_name, present_devices

    devices = [choose_device(device)] if device else present_devices()
    return {str(each): device_name(each) for each in devices}


def _engines(
    path: Path, file: Contents, device: str | None, backend: str | None
) -> Iterator[tuple[tuple[str, str, str], Callable[[], Engine]]]:
    """Device, backend and number format of everything that can read a file, and how to start it."""
    if backend != "torch" and device in (None, "cpu") and find_graphs(file):
        yield ("cpu", "onnx", "float32"), lambda: load_with_graphs(path)
    if backend == "onnx" or not has_torch():
        return
    import torch

    from vit_str.torch_runtime.devices import choose_device, fastest_dtype, present_devices
    from vit_str.torch_runtime.engine import TorchEngine
    from vit_str.weights import load_weights

    weights = load_weights(path)
    for each in [choose_device(device)] if device else present_devices():
        for dtype in dict.fromkeys((torch.float32, fastest_dtype(each))):
            names = (str(each), "torch", str(dtype).removeprefix("torch."))
            yield names, partial(TorchEngine, weights, each, dtype)


def _checks(path: Path, file: Contents, device: str | None, backend: str | None) -> Iterator[Check]:
    for names, start in _engines(path, file, device, backend):
        try:
            reader = Reader(start(), search=Search(language=NO_LANGUAGE))
            found = difference(reader, file.golden) if file.golden else None
            yield Check(*names, found)
        except (ValueError, RuntimeError) as error:  # of torch: out of memory, broken driver
            reason = one_line(str(error).strip().split("\n")[0]) or type(error).__name__
            yield Check(*names, failure=reason)


def _values(
    facts: dict[str, Any],
    devices: Mapping[str, str],
    checks: Sequence[Check],
    problems: Sequence[str],
) -> dict[str, Any]:
    """All there is to say, for JSON, which knows no infinity."""
    described = [asdict(check) | {"well": check.is_well} for check in checks]
    for values in described:
        if values["found"] and not math.isfinite(values["found"]["score"]):
            values["found"]["score"] = None
    return {
        "software": software(),
        "devices": dict(devices),
        "file": facts,
        "checks": described,
        "problems": list(problems),
    }


def _problems(checks: Sequence[Check]) -> Iterator[str]:
    """One line for each check that failed, with what to do."""
    well_on_cpu = any(
        (c.device, c.precision, c.is_well) == ("cpu", "float32", True) for c in checks
    )
    for check in checks:
        if check.is_well:
            continue
        name = f"{check.device}, {check.backend}, {check.precision}"
        if check.failure or check.found is None:
            yield f"{name}: cannot read the golden images: {check.failure}"
            continue
        if not well_on_cpu:
            remedy = (
                "the weights or this vit-str or torch are not those that the file was made with; "
                "get the file again, then compare the versions"
            )
        elif check.precision != "float32":
            remedy = (
                f"read in float32 there: vit_str.Reader(weights, {check.device!r}, torch.float32)"
            )
        else:
            remedy = "read with --device cpu, and update torch and the driver of the device"
        yield f"{name}: {_difference(check.found)}; {remedy}"


def _difference(found: Difference) -> str:
    parts = []
    if found.texts:
        expected, read = (one_line(text) for text in found.texts[0])
        parts.append(f"reads {len(found.texts)} golden images otherwise, {read!r} for {expected!r}")
    if not found.score <= found.allowed:
        parts.append(f"scores differ by {found.score:.4g}, rounding explains {found.allowed:g}")
    if not parts:
        parts.append(f"confidences differ by {found.confidence:.4g} though scores do not")
    return " and ".join(parts)


def _lines(
    facts: dict[str, Any], devices: Mapping[str, str], checks: Sequence[Check]
) -> Iterator[str]:
    """The whole answer, line by line."""
    yield ", ".join(f"{name} {number}" for name, number in software().items())
    for device, name in devices.items():
        yield f"{device}: {name}"
    yield ""
    intact = "as it was written" if facts["intact"] else "no checksum to check it with"
    height, width = facts["image_size"]
    yield f"{facts['path']}: {facts['bytes']:,} bytes, {intact}"
    yield f"sha256 {facts['sha256']}"
    yield (
        f"{facts['encoder']} and {facts['decoder']}, {facts['parameters']:,} parameters, "
        f"stored as {', '.join(facts['stored_as'])}"
    )
    yield (
        f"images of {height} x {width}, {len(facts['charset'])} characters, "
        f"temperature {facts['temperature']:g}"
    )
    for name, value in facts["provenance"].items():
        if not isinstance(value, dict):
            yield f"{one_line(name)}: {one_line(str(value))}"
    yield ""
    count = facts["golden_images"]
    yield f"{count} golden images" if count else "no golden images: reading cannot be compared"
    yield from aligned([_TITLES, *(_row(check, count) for check in checks)])


def _row(check: Check, count: int) -> tuple[str, ...]:
    found, cells = check.found, ["-"] * 4
    if found:
        cells = [
            f"{count - len(found.texts)} of {count}",
            f"{found.score:.2g}",
            f"{found.allowed:g}",
            f"{found.confidence:.2g}",
        ]
    return (check.device, check.backend, check.precision, *cells)
