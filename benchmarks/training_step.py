"""Where the time of a training step goes, part by part, and how near it is to the machine's limit.

    python benchmarks/training_step.py [--config configs/vit_tiny_transformer.yaml]

The steps are those of ``vit-str train`` for a configuration: words are drawn, the model looks
forward and back, gradients are clipped, Muon and AdamW move the weights, the average follows. Of
every part the table has the time, its share, the matrix products in it, and how much of its time
these would take at the limit: at the rate at which this machine takes products of the same shapes
and number format alone. Convolutions count as the products that they amount to. The second table
has the shapes with most of the work. On one thread, which is the default, time is CPU time, so
that other work on the machine disturbs little. Takes a minute or two. Needs ``vit-str[train]``.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from measuring import (
    add_json,
    add_run_arguments,
    described_parser,
    pin,
    print_machine,
    synchronize,
    table,
    write_json,
)
from products import Product, ProductCounter, alone, clock_of
from torch import nn
from training_worker import Measurement, Step, build, endless_batches, prepare

from vit_str import configuration
from vit_str.console import positive
from vit_str.torch_runtime.devices import fastest_dtype
from vit_str.training.module import RecognizerTraining

ELSE = "else"
BACKWARD = "backward"
DRAWING = "drawing"
_PARTS = (DRAWING, "forward", BACKWARD, "clipping", "Muon", "AdamW", "averaging", ELSE)
"""In the order in which they are printed; those of ``forward`` as they come."""
_ENCODER_GROUPS = ("stem", "stages", "blocks", "recur")
_MAIN_SHAPES = 10
# Share of the work whose shapes are measured alone; the rest as fast as these
_MEASURED = 0.98


class Stopwatch:
    """Time by part; what happens within a part that has a name of its own counts there only.

    Args:
        clock: seconds of now.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._open = [ELSE]
        self._since = clock()
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @property
    def part(self) -> str:
        """The part of this moment."""
        return self._open[-1]

    def enter(self, part: str) -> None:
        """From now on it is this part."""
        self._stop()
        self._open.append(part)

    def leave(self) -> None:
        """Back to the part before."""
        self._stop()
        self._open.pop()

    def restart(self) -> None:
        """Forget all times."""
        self._stop()
        self.seconds.clear()

    @contextmanager
    def within(self, part: str) -> Iterator[None]:
        """The block is of a part."""
        self.enter(part)
        yield
        self.leave()

    def watch(self, owner: Any, method: str, part: str) -> None:
        """Count every call of a method of an object to a part."""
        original = getattr(owner, method)

        def watched(*args: Any, **kwargs: Any) -> Any:
            with self.within(part):
                return original(*args, **kwargs)

        setattr(owner, method, watched)

    def _stop(self) -> None:
        now = self._clock()
        self.seconds[self.part] += now - self._since
        self._since = now


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a step.

    Attributes:
        seconds: of a step.
        flops: multiplications and additions in its products.
        least_seconds: that these take at the limit of the machine.
    """

    seconds: float
    flops: float
    least_seconds: float


@dataclass(frozen=True, slots=True)
class StepReport:
    """What was measured.

    Attributes:
        words: in a step.
        dtype: of the products, but those that torch keeps in float32.
        parts: of a step, in order.
        shapes: multiplications and additions of a step by product, most first.
        rates: per second, of the products that were measured alone.
    """

    words: int
    dtype: torch.dtype
    parts: dict[str, Part]
    shapes: dict[Product, float]
    rates: dict[Product, float]

    @property
    def whole(self) -> Part:
        """All parts together."""
        parts = self.parts.values()
        return Part(
            seconds=sum(part.seconds for part in parts),
            flops=sum(part.flops for part in parts),
            least_seconds=sum(part.least_seconds for part in parts),
        )


def measure(wanted: Measurement) -> StepReport:
    """Count the products of a step, take the time of others, then that of the products alone."""
    prepare(wanted)
    module, drawer, batch_size = build(wanted)
    size = wanted.batch_size or batch_size
    batches = endless_batches(drawer, size, rendering=True)
    step = Step(module, wanted)
    clock = clock_of(wanted.device, wanted.threads)
    stopwatch = Stopwatch(lambda: _now(clock, wanted.device))
    _watch(step, module, stopwatch)

    def take_step() -> None:
        with stopwatch.within(DRAWING):
            batch = next(batches)
        step(batch)

    with ProductCounter(lambda: stopwatch.part) as counter:
        take_step()
    for _ in range(wanted.warm_up):
        take_step()
    stopwatch.restart()
    for _ in range(wanted.steps):
        take_step()
    stopwatch.enter(ELSE)
    seconds = {part: spent / wanted.steps for part, spent in stopwatch.seconds.items()}
    return _report(size, wanted, seconds, counter.counts, clock)


def _now(clock: Callable[[], float], device: str) -> float:
    synchronize(device)
    return clock()


def _watch(step: Step, module: RecognizerTraining, stopwatch: Stopwatch) -> None:
    """Tell the parts of a step from each other."""
    stopwatch.watch(step, "losses", "forward: losses and the rest")
    stopwatch.watch(step, "backward", BACKWARD)
    stopwatch.watch(step, "clip", "clipping")
    stopwatch.watch(step, "average", "averaging")
    stopwatch.watch(step.optimizer, "step", "AdamW")
    if hasattr(step.optimizer, "_step_matrices"):
        stopwatch.watch(step.optimizer, "_step_matrices", "Muon")
    recognizer = module.recognizer
    stopwatch.watch(recognizer, "encode", "forward: encoder, the rest")
    stopwatch.watch(recognizer.decoder, "loss", "forward: decoder")
    for name, layers in _groups(recognizer.encoder).items():
        for layer in layers:
            stopwatch.watch(layer, "forward", f"forward: {name}")


def _groups(encoder: nn.Module) -> dict[str, list[nn.Module]]:
    """The modules of an encoder by what they are for; of one around another, those of both."""
    groups = {}
    for name, child in encoder.named_children():
        if name == "encoder":
            groups |= _groups(child)
        elif name in _ENCODER_GROUPS:
            groups[name] = list(child) if isinstance(child, nn.ModuleList) else [child]
    return groups


def _report(
    size: int,
    wanted: Measurement,
    seconds: Mapping[str, float],
    counts: Mapping[tuple[str, Product], int],
    clock: Callable[[], float],
) -> StepReport:
    shapes: Counter[Product] = Counter()
    for (_, product), count in counts.items():
        shapes[product] += count * product.flops
    rates = _rates(shapes, wanted.device, clock)
    measured = sum(shapes[product] for product in rates)
    usual = measured / sum(shapes[product] / rate for product, rate in rates.items())
    parts = {}
    for name in sorted(seconds, key=lambda part: _PARTS.index(part.partition(":")[0])):
        work = {
            p: count * p.flops for (part, p), count in counts.items() if part == name
        }
        least = sum(
            flops / rates.get(product, usual) for product, flops in work.items()
        )
        parts[name] = Part(seconds[name], sum(work.values()), least)
    return StepReport(size, wanted.dtype, parts, dict(shapes.most_common()), rates)


def _rates(
    shapes: "Counter[Product]", device: str, clock: Callable[[], float]
) -> dict[Product, float]:
    """How fast the products with nearly all of the work are alone."""
    rates: dict[Product, float] = {}
    missing = (1 - _MEASURED) * shapes.total()
    left = float(shapes.total())
    for product, flops in shapes.most_common():
        if left <= missing:
            break
        rates[product] = alone(product, device, clock)
        left -= flops
    return rates


def main() -> None:
    """Measure, print, write."""
    options = _parser().parse_args()
    if options.device == "cpu":
        pin(options.threads)
    print_machine()
    wanted = Measurement(
        config=str(options.config),
        device=options.device,
        threads=options.threads,
        batch_size=options.batch_size,
        steps=options.steps,
        warm_up=options.warm_up,
        bfloat16=_is_bfloat16(options.config, options.device),
        explicit_attention=True,
        kept_memory=True,
        fused_optimizer=True,
        rendering=True,
    )
    report = measure(wanted)
    print(
        describe(report, options.config, "CPU time" if _is_cpu_time(wanted) else "time")
    )
    write_json(options.json, as_json(report))


def _is_bfloat16(config: Path, device: str) -> bool:
    """Whether ``vit-str train`` computes in bfloat16: if it is asked for, and pays."""
    trainer = configuration.load(config).get("trainer", {})
    pays = fastest_dtype(torch.device(device)) == torch.bfloat16
    return pays and trainer.get("precision") == "bf16-mixed"


def _is_cpu_time(wanted: Measurement) -> bool:
    return wanted.device == "cpu" and wanted.threads == 1


def _parser() -> argparse.ArgumentParser:
    parser = described_parser(__doc__)
    add_run_arguments(parser)
    parser.add_argument(
        "--device", choices=["cpu", "cuda"], default="cpu", help="(cpu)"
    )
    parser.add_argument(
        "--steps",
        type=positive,
        default=8,
        help="to take the time of (8)",
    )
    parser.add_argument(
        "--warm-up",
        type=positive,
        default=2,
        help="steps before those (2)",
    )
    add_json(parser)
    return parser


def describe(report: StepReport, config: Path, kind: str) -> str:
    """Both tables and what they come to."""
    whole = report.whole
    return "\n\n".join(
        [
            f"{config.name}: {report.words} words a step, {_name(report.dtype)}, {kind}",
            _parts_table(report),
            _shapes_table(report),
            f"{report.words / whole.seconds:.1f} words a second. The step reaches "
            f"{whole.flops / whole.seconds / 1e9:,.0f} GFLOP/s, "
            f"{_percent(whole.least_seconds, whole.seconds)} of the limit of its "
            f"products, {whole.flops / whole.least_seconds / 1e9:,.0f} GFLOP/s.",
        ]
    )


def _parts_table(report: StepReport) -> str:
    whole = report.whole
    rows = [["part of a step", "ms", "share", "GFLOP", "GFLOP/s", "of the limit"]]
    for name, part in [*report.parts.items(), ("step", whole)]:
        row = [name, f"{1e3 * part.seconds:.1f}", _percent(part.seconds, whole.seconds)]
        if part.flops:
            row.append(f"{part.flops / 1e9:.2f}")
            row.append(f"{part.flops / part.seconds / 1e9:,.0f}")
            row.append(_percent(part.least_seconds, part.seconds))
        rows.append(row + ["-"] * (len(rows[0]) - len(row)))
    return table(rows)


def _shapes_table(report: StepReport) -> str:
    whole = sum(report.shapes.values())
    rows = [
        ["matrix products with most of the work", "format", "share", "GFLOP/s alone"]
    ]
    for product in list(report.shapes)[:_MAIN_SHAPES]:
        share = _percent(report.shapes[product], whole)
        rate = f"{report.rates[product] / 1e9:,.0f}" if product in report.rates else "-"
        rows.append([str(product), _name(product.dtype), share, rate])
    return table(rows)


def as_json(report: StepReport) -> dict[str, Any]:
    """All numbers; times in seconds."""
    return {
        "words": report.words,
        "dtype": _name(report.dtype),
        "parts": {
            name: {
                "seconds": part.seconds,
                "flops": part.flops,
                "least_seconds": part.least_seconds,
            }
            for name, part in report.parts.items()
        },
        "products": [
            {
                "product": str(product),
                "dtype": _name(product.dtype),
                "flops": flops,
                "flops_per_second_alone": report.rates.get(product),
            }
            for product, flops in report.shapes.items()
        ],
    }


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


if __name__ == "__main__":
    main()
