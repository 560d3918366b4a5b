"""What ``vit-str doctor`` says: lines about a file and a machine, and what to do about troubles."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from vit_str.doctor import Difference
from vit_str.environment import device_name, software
from vit_str.evaluation import aligned
from vit_str.images import one_line

_TITLES = ("device", "format", "read alike", "score off by", "allowed", "confidence", "1", "32")


@dataclass(frozen=True, slots=True)
class Check:
    """The golden images read on one device in one number format.

    Attributes:
        device: its name in torch.
        precision: the number format.
        found: what differs; None without golden images.
        failure: why they could not be read at all.
        speeds: images at once -> images per second.
    """

    device: str
    precision: str
    found: Difference | None = None
    failure: str | None = None
    speeds: dict[int, float] | None = None

    @property
    def is_well(self) -> bool:
        """Whether nothing is wrong here."""
        return self.failure is None and (self.found is None or self.found.is_explained)


def file_troubles(facts: dict[str, Any]) -> Iterator[str]:
    """One line for each thing that is wrong with the file, with what to do."""
    if facts["intact"] is False:
        yield (
            "the file is not what was written: its checksum does not fit; download or export "
            "it again"
        )
    if not facts["finite"]:
        yield "some weights are no numbers: the training failed; take an earlier export"


def troubles(checks: Sequence[Check]) -> Iterator[str]:
    """One line for each check that failed, with what to do."""
    float32 = next((c for c in checks if (c.device, c.precision) == ("cpu", "float32")), None)
    cpu_is_well = float32 is not None and float32.is_well
    for check in checks:
        if check.is_well:
            continue
        name = f"{check.device}, {check.precision}"
        if check.failure or check.found is None:
            yield f"{name}: cannot read the golden images: {check.failure}"
            continue
        yield f"{name}: {_what(check.found)}; {_remedy(check, cpu_is_well)}"


def _what(found: Difference) -> str:
    parts = []
    if found.texts:
        expected, read = (one_line(text) for text in found.texts[0])
        parts.append(f"reads {len(found.texts)} golden images otherwise, {read!r} for {expected!r}")
    if not found.score <= found.allowed:
        parts.append(f"scores differ by {found.score:.4g}, rounding explains {found.allowed:g}")
    if not parts:
        parts.append(f"confidences differ by {found.confidence:.4g} though scores do not")
    return " and ".join(parts)


def _remedy(check: Check, cpu_is_well: bool) -> str:
    if not cpu_is_well:
        return (
            "the weights or this vit-str or torch are not those that the file was made with; "
            "get the file again, then compare the versions"
        )
    if check.precision != "float32":
        return f"read in float32 there: vit_str.Reader(weights, {check.device!r}, torch.float32)"
    return "read with --device cpu, and update torch and the driver of the device"


def lines(
    facts: dict[str, Any], devices: Sequence[torch.device], checks: Sequence[Check]
) -> Iterator[str]:
    """The whole answer, line by line."""
    yield ", ".join(f"{name} {number}" for name, number in software().items())
    for device in devices:
        yield f"{device}: {device_name(device)}"
    yield ""
    intact = {True: "as it was written", False: "CHANGED", None: "no checksum to check it with"}
    height, width = facts["image_size"]
    yield f"{facts['path']}: {facts['bytes']:,} bytes, {intact[facts['intact']]}"
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
    found, speeds = check.found, check.speeds or {}
    cells = ["-"] * 4
    if found:
        cells = [
            f"{count - len(found.texts)} of {count}",
            f"{found.score:.2g}",
            f"{found.allowed:g}",
            f"{found.confidence:.2g}",
        ]
    fast = [f"{speeds[size]:.0f}/s" if size in speeds else "-" for size in (1, 32)]
    return (check.device, check.precision, *cells, *fast)
