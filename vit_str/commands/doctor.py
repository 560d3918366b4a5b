"""``vit-str doctor``: is everything all right with a weights file, on this machine?"""

import argparse
import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from vit_str import console
from vit_str.commands.doctor_text import Check, file_troubles, lines, troubles
from vit_str.devices import choose_device, present_devices
from vit_str.doctor import difference, images_per_second, make_golden, precisions
from vit_str.environment import device_name, software
from vit_str.golden import MOST_IMAGES, Golden
from vit_str.images import one_line
from vit_str.reading import Reader, Source
from vit_str.reading.inputs import STANDARD_INPUT, find_inputs
from vit_str.weights import WeightsFile, load_weights, renew_weights, resolve
from vit_str.weights_header import is_intact, stored_dtypes

_DESCRIPTION = """\
Say what this machine has and what a weights file holds, read the golden images of the file on every
device and in every number format that reading would use, and compare with what the model read when
the file was made. A golden image is a word kept in the file for that."""

_EPILOG = """\
examples:
  vit-str doctor                                    the weights of the package
  vit-str doctor my.safetensors                     a file
  vit-str doctor my.safetensors --golden words/ --out checked.safetensors
                                                    a copy with golden images, of at most 16 files

exit codes: 0 all well; 1 something differs, or the output not written; 2 wrong use, or a file
that cannot be used; 130 interrupted with Ctrl-C."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    options = _parse(arguments)
    try:
        path = resolve(options.weights)
        file = load_weights(path)
        devices = [choose_device(options.device)] if options.device else present_devices()
    except ValueError as error:
        raise ValueError(str(error)) from error
    if options.golden:
        return _renew(path, file, options)
    facts = _facts(path, file)
    checks = list(_checks(file, devices, options.speed))
    found = [*file_troubles(facts), *troubles(checks)]
    if options.json:
        console.write(json.dumps(_values(facts, devices, checks, found), indent=2))
    else:
        console.write("\n".join(lines(facts, devices, checks)))
    for trouble in found:
        console.complain(trouble)
    if not found and not options.json:
        console.write("all well" if file.golden else "nothing wrong that can be seen without them")
    return 1 if found else 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "vit-str doctor",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "weights", nargs="?", default="tiny", metavar="WEIGHTS", help="a file, or tiny (default)"
    )
    parser.add_argument("--device", help="check this one only: cpu, cuda, cuda:1 or mps")
    parser.add_argument("--no-speed", dest="speed", action="store_false", help="measure no speed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--golden", nargs="+", metavar="PATH", help="make a copy of the file with these images"
    )
    parser.add_argument("--out", metavar="FILE", help="name of the copy, with --golden")
    options = parser.parse_args(arguments)
    if bool(options.golden) != bool(options.out):
        parser.error("--golden and --out belong together: images, and the file to write")
    if options.out and not options.out.endswith(".safetensors"):
        parser.error(f"--out {options.out}: give a name ending in .safetensors")
    return options


def _facts(path: Path, file: WeightsFile) -> dict[str, Any]:
    """What the file holds, as plain values."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    recognizer = file.recognizer
    parameters = list(recognizer.parameters())
    return {
        "path": str(path),
        "bytes": path.stat().st_size,
        "sha256": digest,
        "intact": is_intact(path),
        "encoder": type(recognizer.encoder).__name__,
        "decoder": type(recognizer.decoder).__name__,
        "parameters": sum(parameter.numel() for parameter in parameters),
        "finite": all(bool(parameter.isfinite().all()) for parameter in parameters),
        "stored_as": stored_dtypes(path),
        "charset": file.charset.characters,
        "image_size": [file.preprocessing.height, file.preprocessing.width],
        "temperature": file.temperature,
        "golden_images": len(file.golden.images) if file.golden else 0,
        "provenance": file.provenance,
    }


def _checks(
    file: WeightsFile, devices: Sequence[torch.device], with_speed: bool
) -> Iterator[Check]:
    for device in devices:
        for dtype in precisions(device):
            names = str(device), str(dtype).removeprefix("torch.")
            try:
                reader = Reader(file, device, dtype)
                found = difference(reader, file.golden) if file.golden else None
                images = file.golden.images if file.golden else ()
                speeds = images_per_second(reader, images) if with_speed else None
                yield Check(*names, found, None, speeds)
            except (ValueError, RuntimeError) as error:  # of torch: out of memory, broken driver
                yield Check(*names, failure=_first_line(error))


def _values(
    facts: dict[str, Any],
    devices: Sequence[torch.device],
    checks: Sequence[Check],
    found: Sequence[str],
) -> dict[str, Any]:
    """All there is to say, for JSON, which knows no infinity."""
    described = [asdict(check) | {"well": check.is_well} for check in checks]
    for values in described:
        if values["found"] and not math.isfinite(values["found"]["score"]):
            values["found"]["score"] = None
    return {
        "software": software(),
        "devices": {str(device): device_name(device) for device in devices},
        "file": facts,
        "checks": described,
        "troubles": list(found),
    }


def _renew(path: Path, file: WeightsFile, options: argparse.Namespace) -> int:
    """Write a copy of the file with golden images."""
    found = find_inputs(options.golden)
    for place, trouble in found.problems:
        raise ValueError(f"{one_line(place)}: {trouble}")
    images: list[Source] = [image for image in found.paths if image != STANDARD_INPUT]
    if not 1 <= len(images) <= MOST_IMAGES:
        raise ValueError(
            f"--golden takes 1 to {MOST_IMAGES} images, found {len(images)}; name some of them"
        )
    try:
        golden = make_golden(file, images)
    except ValueError as error:
        raise ValueError(str(error)) from error
    try:
        renew_weights(path, options.out, replace(file, golden=golden))
    except OSError as error:
        return console.fail(f"cannot write {options.out}: {error.strerror}", 1)
    console.write("\n".join(_told(golden, images)))
    return 0


def _told(golden: Golden, images: Sequence[Source]) -> Iterator[str]:
    for image, text, confidence in zip(images, golden.texts, golden.confidences, strict=True):
        yield f"{one_line(str(image))}\t{one_line(text)}\t{confidence:.4f}"


def _first_line(error: Exception) -> str:
    return one_line(str(error).strip().split("\n")[0]) or type(error).__name__
