r"""What a change of the recipe or of the rendered words brings, at an equal budget of images.

    python benchmarks/equal_budget.py --variants benchmarks/variants/recipe.yaml \
        --images 100000 --out runs/recipe --real iiit5k svt ic15 [-- --data.init_args.seed=2 ...]

Trains every variant as ``vit-str train`` in a process of its own, one after another, reads the
labeled folders with each, at one look, and compares it with the first variant on the same words.
The same command goes on where it was stopped; what is finished is not repeated. Judged are the
weights as trained: in a short run their moving average lags behind (``--weights averaged``).

The file of variants names each and gives it a list of arguments of ``vit-str train``:

    standard: []
    no blur: [--data.init_args.ingredients.blur=0]
    another model: [--config=configs/conv_transformer.yaml]

What follows ``--`` is given to all of them. With ``--from CHECKPOINT`` they all go on from there,
with the optimizer's state and the random states, instead of from nothing. With several seeds,
accuracies are means over them, and intervals are of the words only: how far seeds lie apart is a
column of its own. ``--costs`` adds parameters, arithmetic and speeds. Writes table.md and
results.json into ``--out``, and trains with a copy of the package that it makes there at the start,
so that the code may be edited meanwhile.
"""

import argparse
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml
from measuring import add_config, described_parser, machine, write_json
from variant_cost import cost_table, costs
from variant_report import VariantReadings, Words, markdown, results, table
from variant_run import WEIGHTS, Budget, RunFailedError, VariantRun, copy_code

from vit_str.console import positive
from vit_str.datasets import open_words
from vit_str.evaluation.words.reading import read_words
from vit_str.evaluation.words.results import ReadWords
from vit_str.words.reader import load

Runs = Mapping[str, list[VariantRun]]


def main() -> int:
    """Train what is not trained, read, compare, write."""
    arguments = sys.argv[1:]
    place = arguments.index("--") if "--" in arguments else len(arguments)
    parser = _parser()
    options = parser.parse_args(arguments[:place])
    common = tuple(arguments[place + 1 :])
    try:
        code = copy_code(options.out.resolve() / "code")
        budget = Budget(
            options.config, options.images, options.decay, common, options.start, code
        )
        runs = _runs(options.variants, options.only, options.out, options.seeds)
        _train(runs, budget)
        _compare(runs, options)
    except (ValueError, RunFailedError, OSError) as error:
        parser.exit(2, f"equal_budget: {error}\n")
    except KeyboardInterrupt:
        parser.exit(130, "equal_budget: stopped; the same command goes on\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = described_parser(__doc__)
    add_config(parser)
    parser.add_argument(
        "--variants",
        type=Path,
        required=True,
        help="YAML file, see above",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        help="names of variants to train; all if not given",
    )
    parser.add_argument(
        "--images",
        type=positive,
        required=True,
        help="to train each on",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for everything")
    _add_training_options(parser)
    _add_evaluation_options(parser)
    return parser


def _add_evaluation_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--real",
        type=Path,
        nargs="+",
        default=[],
        help="folders of labeled crops",
    )
    parser.add_argument(
        "--hard",
        type=Path,
        nargs="+",
        default=[],
        help="more folders, not counted in `all`",
    )
    parser.add_argument(
        "--costs",
        action="store_true",
        help="measure what each costs too, on crops of --real",
    )
    parser.add_argument(
        "--weights",
        choices=WEIGHTS,
        default=WEIGHTS[0],
        help="which to judge",
    )
    parser.add_argument("--device", default="auto", help="to read with (auto)")


def _add_training_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from",
        dest="start",
        type=Path,
        metavar="CHECKPOINT",
        help="where all variants go on",
    )
    parser.add_argument(
        "--decay",
        type=_share,
        default=0.4,
        help="share of the budget with a falling rate (0.4)",
    )
    parser.add_argument(
        "--seeds",
        type=positive,
        default=1,
        help="runs of each variant (1)",
    )


def _share(text: str) -> float:
    share = float(text)
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(
            f"expected above 0 and at most 1, found {share}"
        )
    return share


def _runs(file: Path, only: list[str] | None, out: Path, seeds: int) -> Runs:
    variants = yaml.safe_load(file.read_text(encoding="utf-8"))
    if not isinstance(variants, dict) or not variants:
        raise ValueError(f"{file}: expected names of variants with lists of arguments")
    unknown = sorted(set(only or []) - set(variants))
    if unknown:
        raise ValueError(f"unknown variants {unknown}: {file} has {list(variants)}")
    folders = {name: out / _slug(name) for name in variants}
    if len(set(folders.values())) < len(folders):
        raise ValueError(
            f"{file}: two variants with the same name but for its punctuation"
        )
    runs = {}
    for name, overrides in variants.items():
        if only is None or name in only:
            given = tuple(overrides or ())
            runs[name] = [
                VariantRun(folders[name] / f"seed-{seed}", given, seed)
                for seed in range(1, seeds + 1)
            ]
    return runs


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", str(name).lower()).strip("-")


def _train(runs: Runs, budget: Budget) -> None:
    # All variants of one seed first: a comparison that is stopped early has one seed of all.
    pending: list[tuple[str, VariantRun]] = []
    for group in zip(*runs.values(), strict=True):
        pending += zip(runs, group, strict=True)
    for number, (name, run) in enumerate(pending, 1):
        state = "finished before" if run.finished else "training"
        print(
            f"{number} of {len(pending)}: {name}, seed {run.seed}: {state}",
            file=sys.stderr,
        )
        run.train(budget)


def _compare(runs: Runs, options: argparse.Namespace) -> None:
    if not options.real and not options.hard:
        print("trained; give --real or --hard to compare", file=sys.stderr)
        return
    readings = []
    for name, seeds in runs.items():
        of_variant = VariantReadings(
            name,
            [_read(run, options, options.real) for run in seeds],
            [_read(run, options, options.hard) for run in seeds],
            [run.summary() for run in seeds],
        )
        readings.append(of_variant)
    title = (
        f"{options.images:,} images each, {options.config.name}, {options.seeds} "
        f"seed(s), weights {options.weights}, on {machine()['cpu']}"
    )
    found = results(readings)
    text = markdown(found, title)
    if options.costs and options.real:
        text += f"\n\n{_add_costs(found, runs, options)}"
    (options.out / "table.md").write_text(text + "\n", encoding="utf-8")
    write_json(options.out / "results.json", {"title": title, "variants": found})
    print(text)


def _add_costs(
    found: list[dict[str, Any]],
    runs: Runs,
    options: argparse.Namespace,
) -> str:
    """Put the costs into what was found; returns them as a table."""
    weights = {name: seeds[0].weights(options.weights) for name, seeds in runs.items()}
    measured = costs(weights, options.real[0], options.device)
    for variant in found:
        variant["costs"] = measured[variant["variant"]]
    return (
        "Reading: from pixels to text. Training: steps of the model's own loss, "
        "without drawing the words. Both 32 at a time, on one thread of a CPU or on "
        f"the device, all in turns.\n\n{table(cost_table(measured))}"
    )


def _read(run: VariantRun, options: argparse.Namespace, folders: list[Path]) -> Words:
    """What a run reads in the folders, kept beside its weights."""
    weights = run.weights(options.weights)
    file = run.folder / f"readings-{options.weights}.json"
    kept = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    wanted = [folder for folder in folders if str(folder.resolve()) not in kept]
    if wanted:
        reader = load(weights, options.device).at_one_look()
        for folder in wanted:
            words = read_words(reader, open_words(folder), batch_size=64)
            kept[str(folder.resolve())] = asdict(words)
            file.write_text(json.dumps(kept) + "\n", encoding="utf-8")
    return {folder.name: ReadWords(**kept[str(folder.resolve())]) for folder in folders}


if __name__ == "__main__":
    sys.exit(main())
