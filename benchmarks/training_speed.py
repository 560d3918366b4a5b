"""How fast a training step is, measure by measure, for the model of a configuration.

    python benchmarks/training_speed.py [--config FILE] [--threads 1] [--json FILE]

Every row keeps the measures of the rows above it and adds one: from plain float32 to the step that
``vit-str train`` takes, then with the rendering of its words, on a GPU ahead of the step. Every
measurement is a process of its own, since some measures cannot be taken back. "peak" is the share
of the arithmetic that one large matrix product in the same number format reaches there. On a GPU
memory is printed too. Beside it stands the same architecture in the Transformer layers that come
with torch, without any measure and with all that it can take. ``--profile`` says where the time of
a step goes, by kind of operation. Takes fifteen minutes on one thread. Needs ``vit-str[train]``.

    python benchmarks/training_speed.py --seconds 60 [--config FILE ...] [--init tiny] [--kit FILE]
        [--batch-size N] [-- --data.init_args.easy_images 0 ...]

With ``--seconds``, ``--init`` or ``--kit`` it is ``vit-str train`` itself that is measured, with
all that it does beside the steps but validation, for each configuration: words a second, with
words that are drawn meanwhile and with a few batches again and again; the share of the time that
drawing takes, and in which the training waits for words; the share of the peak; memory; and the
seconds of the first step, which compiles.
"""

import argparse
import json
import statistics
import subprocess
import sys
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from measuring import (
    add_run_arguments,
    described_parser,
    interleave,
    median_and_range,
    pin,
    print_machine,
    table,
    write_json,
)
from training_meter import CommandResult
from training_profile import ELEMENTWISE, REST, Profile
from training_worker import Measurement, Result

from vit_str.console import positive

_FOLDER = Path(__file__).parent
_PLAIN = "torch.nn layers"
_LADDERS = {
    "cpu": {
        "+ bfloat16": "bfloat16",
        "+ explicit attention": "explicit_attention",
        "+ kept memory": "kept_memory",
        "+ fused AdamW": "fused_optimizer",
        "+ rendering": "rendering",
    },
    "cuda": {
        "+ bfloat16": "bfloat16",
        "+ fused AdamW": "fused_optimizer",
        "+ torch.compile": "compiled",
        "+ rendering": "rendering",
    },
}
"""What every row adds, by name in `Measurement`; attention on a GPU is the fused kernel anyway."""
_STEPS = {"cpu": (8, 2), "cuda": (100, 20)}
"""To take the time of, and before."""
_SECONDS = 60


def main() -> None:
    """Measure, print, write."""
    parser = _parser()
    options = parser.parse_args()
    if options.device == "cpu":
        pin(options.threads)
    print_machine()
    if options.seconds or options.init or options.kit:
        _measure_command(options)
        return
    if len(options.config) > 1 or options.train_options:
        parser.error("several configurations and options behind -- need --seconds")
    steps, warm_up = _STEPS[options.device]
    wanted = Measurement(
        config=str(options.config[0]),
        device=options.device,
        threads=options.threads,
        batch_size=options.batch_size,
        steps=options.steps or steps,
        warm_up=warm_up,
    )
    ladder = _ladder(wanted)
    pairs = _pairs(ladder) if options.plain else {}
    everything = ladder | {
        f"{_PLAIN}, {name}": each for name, (_, each) in pairs.items()
    }
    runs = {name: partial(_measure_apart, each) for name, each in everything.items()}
    results = interleave(runs, options.rounds)
    print(_table({name: results[name] for name in ladder}))
    if pairs:
        sides = {
            name: (results[ours], results[f"{_PLAIN}, {name}"])
            for name, (ours, _) in pairs.items()
        }
        print(f"\n{_side_by_side(sides)}")
    rows = {
        name: [asdict(result) for result in rounds] for name, rounds in results.items()
    }
    profile = _profile_apart(list(ladder.values())[-1]) if options.profile else None
    if profile is not None:
        print(f"\n{_profile_table(profile)}")
    parts = {"rows": rows, "profile": asdict(profile) if profile else None}
    write_json(options.json, {"measurement": asdict(wanted), **parts})


def _parser() -> argparse.ArgumentParser:
    parser = described_parser(__doc__, rounds=3)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    add_run_arguments(parser, several=True)
    parser.add_argument(
        "--device",
        choices=list(_LADDERS),
        default=device,
        help=f"({device})",
    )
    parser.add_argument(
        "--steps",
        type=positive,
        help="timed in a round (8, on a GPU 100)",
    )
    parser.add_argument(
        "--plain",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="compare with the layers that come with torch (yes)",
    )
    parser.add_argument(
        "--profile",
        action="store_true",
        help="say where the time of a step goes",
    )
    command = parser.add_argument_group("vit-str train itself")
    command.add_argument(
        "--seconds",
        type=positive,
        help=f"that each configuration is trained for ({_SECONDS})",
    )
    command.add_argument("--init", metavar="NAME|FILE", help="weights to start from")
    command.add_argument("--kit", type=Path, metavar="FILE", help="what draws words")
    command.add_argument(
        "train_options",
        nargs="*",
        metavar="-- OPTION",
        help="more options of the command",
    )
    return parser


def _measure_command(options: argparse.Namespace) -> None:
    results = {}
    for config in options.config:
        print(f"training {config.stem}", file=sys.stderr)
        results[config.stem] = _train_apart(options, config)
    print(_command_table(results))
    rows = {name: asdict(result) for name, result in results.items()}
    write_json(options.json, {"command": rows})


def _train_apart(options: argparse.Namespace, config: Path) -> CommandResult:
    """A process of its own, which prints what a training prints."""
    given = {
        "--config": config,
        "--trainer.accelerator": "gpu" if options.device == "cuda" else "cpu",
        "--init": options.init,
        "--data.init_args.kit": options.kit,
        "--data.init_args.batch_size": options.batch_size,
        "--threads": options.threads if options.device == "cpu" else None,
    }
    arguments = [f"{name}={value}" for name, value in given.items() if value]
    arguments += options.train_options
    seconds = str(options.seconds or _SECONDS)
    worker = str(_FOLDER / "training_command.py")
    command = [sys.executable, worker, seconds, json.dumps(arguments)]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if answer.returncode:
        raise SystemExit(answer.returncode)
    return CommandResult(**json.loads(answer.stdout.splitlines()[-1]))


def _command_table(results: dict[str, CommandResult]) -> str:
    titles = ["vit-str train", "parameters", "batch", "words/s", "drawn before"]
    rows = [[*titles, "drawing", "waiting", "peak", "memory", "first step"]]
    for name, result in results.items():
        flops = result.words_per_second * result.flops_per_word
        drawing = 1 - result.words_per_second / result.drawn_before_per_second
        memory = result.memory
        rows.append(
            [
                name,
                f"{result.parameters / 1e6:.1f} M",
                f"{result.batch_size:,}",
                f"{result.words_per_second:,.0f}",
                f"{result.drawn_before_per_second:,.0f}",
                f"{max(0.0, drawing):.0%}",
                f"{result.waiting:.0%}",
                f"{flops / result.peak_flops:.1%}",
                f"{memory / 2**30:.1f} GiB" if memory else "-",
                f"{result.first_step:.0f} s",
            ]
        )
    lines = [
        f"{name}: {result.flops_per_word / 1e9:.2f} GFLOP a word, one large product "
        f"{result.peak_flops / 1e12:,.2f} TFLOP/s, loss {result.loss:.3f}"
        for name, result in results.items()
    ]
    return "\n".join([table(rows), "", *lines])


def _ladder(wanted: Measurement) -> dict[str, Measurement]:
    rows = {"float32": wanted}
    for name, measure in _LADDERS[wanted.device].items():
        added: dict[str, Any] = {measure: True}
        wanted = replace(wanted, **added)
        rows[name] = wanted
    return rows


def _pairs(ladder: dict[str, Measurement]) -> dict[str, tuple[str, Measurement]]:
    """A row of the ladder, and the layers of torch with its measures, by what these are."""
    names = list(ladder)
    chosen = {"no measure": names[0], "all measures but rendering": names[-2]}
    return {
        # Explicit attention is a measure that these layers cannot take.
        what: (name, replace(ladder[name], plain=True, explicit_attention=False))
        for what, name in chosen.items()
    }


def _measure_apart(wanted: Measurement) -> Result:
    return Result(**_ask("training_worker.py", wanted))


def _profile_apart(wanted: Measurement) -> Profile:
    return Profile(**_ask("training_profile.py", wanted))


def _ask(worker: str, wanted: Measurement) -> dict[str, Any]:
    """A process of its own; what it complains of goes to standard error."""
    command = [sys.executable, str(_FOLDER / worker), json.dumps(asdict(wanted))]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return found


def _table(results: dict[str, list[Result]]) -> str:
    full, half = _peaks(results)
    rows = [
        ["training step", "images/s", "range", "x float32", "x above", "peak", "memory"]
    ]
    medians: list[float] = []
    for name, rounds in results.items():
        rates = [result.images_per_second for result in rounds]
        medians.append(statistics.median(rates))
        flops = medians[-1] * rounds[0].flops_per_image
        memory = rounds[0].memory
        rows.append(
            [
                name,
                *median_and_range(rates),
                f"{medians[-1] / medians[0]:.2f}",
                f"{medians[-1] / medians[-2]:.2f}" if len(medians) > 1 else "-",
                f"{100 * flops / (half if len(medians) > 1 else full):.0f} %",
                f"{memory / 2**30:.2f} GiB" if memory else "-",
            ]
        )
    arithmetic = (
        f"{next(iter(results.values()))[0].flops_per_image / 1e9:.2f} GFLOP per image"
    )
    peaks = (
        f"{full / 1e9:,.0f} GFLOP/s in float32, {half / 1e9:,.0f} GFLOP/s in bfloat16"
    )
    return f"{table(rows)}\n\n{arithmetic}; one large product: {peaks}"


def _peaks(results: dict[str, list[Result]]) -> tuple[float, float]:
    """The best that was seen in float32, which is the first row, and in bfloat16."""
    first, *others = (
        [each.peak_flops for each in rounds] for rounds in results.values()
    )
    return max(first), max(map(max, others))


def _side_by_side(sides: dict[str, tuple[list[Result], list[Result]]]) -> str:
    rows = [
        ["the same architecture", "vit-str", "range", _PLAIN, "range", "vit-str is"]
    ]
    for name, both in sides.items():
        rates = [[result.images_per_second for result in rounds] for rounds in both]
        ratio = statistics.median(rates[0]) / statistics.median(rates[1])
        cells = [*median_and_range(rates[0]), *median_and_range(rates[1])]
        rows.append([name, *cells, f"{ratio:.2f} x"])
    ours, theirs = (rounds[0] for rounds in next(iter(sides.values())))
    same = (
        f"{ours.parameters:,} and {theirs.parameters:,} parameters, "
        f"loss of the first batch {ours.loss:.4f} and {theirs.loss:.4f}"
    )
    return f"{table(rows)}\n\n{same}"


def _profile_table(profile: Profile) -> str:
    whole = sum(profile.milliseconds.values())
    last = {ELEMENTWISE: 1, REST: 2}
    kinds = sorted(profile.milliseconds, key=lambda kind: last.get(kind, 0))
    rows = [["where the time of a step goes", "ms", "share", "peak", "at the peak"]]
    for kind in kinds:
        spent = profile.milliseconds[kind]
        flops = profile.flops.get(kind)
        row = [kind, f"{spent:.2f}", f"{100 * spent / whole:.1f} %"]
        if flops and spent:
            least = 1e3 * flops / profile.peak_flops
            row += [f"{100 * least / spent:.0f} %", f"{100 * least / whole:.1f} %"]
        rows.append(row + ["-"] * (len(rows[0]) - len(row)))
    least = 1e3 * sum(profile.flops.values()) / profile.peak_flops
    shares = ["100 %", f"{100 * least / whole:.0f} %", f"{100 * least / whole:.1f} %"]
    rows.append([f"step of {profile.images} images", f"{whole:.2f}", *shares])
    return (
        f"{table(rows)}\n\npeak: share of what one large product reaches; at the "
        "peak: share of the step that these\nproducts would take at that rate. The "
        "step misses the peak by all the other time."
    )


if __name__ == "__main__":
    main()
