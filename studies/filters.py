"""What the first filters of a ViT and of a convolution become when they learn to read.

Weights: tiny
Rule: made stricter
Kind: caption of a figure
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from studies import filter_measures as measure
from studies import reading
from studies.drawing import COLORS, MUTED, draw_bars
from studies.reading import CONVOLUTION, SMALL, SYSTEMS, VIT
from studies.study import Cell, Findings, Settings, Table, Values, Verdict
from vit_str.evaluation.statistics import Interval
from vit_str.runtime.charset import CHARSETS, Charset
from vit_str.runtime.images import Preprocessing
from vit_str.runtime.weights_contents import resolve
from vit_str.synthesis.renderer import RenderedBatch
from vit_str.torch_runtime.weights_file import load_weights

TRAINED, UNTRAINED, LEARNED = "trained", "untrained", "learned part"
STATES = (UNTRAINED, TRAINED, LEARNED)
_FIRST = 16  # components of 192 that a low-frequency basis would need for most of its energy
_CLEAR = 0.05  # of the energy: smaller rises are hardly to be told from noise
_SEEN = 0.5  # noise has 0.25; a picture of filters shows patterns if they have most of the energy
_SHOWN = 8
_LOW = "low_frequency_share"
_COLUMNS = {
    _LOW: "low frequencies",
    "roughness": "roughness (noise: 1)",
    "effective_components": "effective components",
    "in_patch_components": f"in the first {_FIRST} components of patches",
}
"""Column of the table -> in the summary."""
Vectors = Float[Tensor, "filter channel height width"]


def run(settings: Settings) -> Findings:
    """Train both with every seed, and compare their first filters with those of the start."""
    steps, count = (90, 1024) if settings.quick else (1500, 8192)
    training: Any = {"steps": steps, "batch_size": 64, "learning_rate": 2e-3}
    words = digits(count)
    basis = patch_components(words)
    rows: list[tuple[Cell, ...]] = []
    pictures: dict[str, Vectors] = {}
    for seed, system in product(range(settings.seeds), SYSTEMS):
        reader = reading.build_reader(system, SMALL, len(CHARSETS["digits"]), seed)
        before = measure.first_filters(reader.encoder).clone()
        reading.train_reader(reader, words, seed, **training, device=settings.device)
        after = measure.first_filters(reader.encoder)
        for state, bank in zip(STATES, (before, after, after - before), strict=True):
            share = float(basis.captured(bank)[_FIRST - 1])
            rows.append((seed, system, state, *measure.bank_means(bank).values(), share))
            if not seed and state != UNTRAINED:
                pictures[f"{system}, {state}"] = measure.Components.of_filters(bank).vectors
    pictures["patches themselves"] = basis.vectors
    stem = measure.bank_means(
        measure.first_filters(load_weights(resolve("tiny")).recognizer.encoder)
    )
    columns = f"seed system state {' '.join(stem)} in_patch_components"
    table = Table.of(columns, rows)
    noise = measure.chance_low_frequency(torch.ones(1, 3, *SMALL.patch_size))
    low = {
        (system, state): table.values(_LOW, system=system, state=state)
        for system, state in product(SYSTEMS, STATES)
    }
    learned = [Values(share - noise for share in low[system, LEARNED]) for system in SYSTEMS]
    trained = low[VIT, TRAINED]
    captured = table.text("in_patch_components", 2, system=VIT, state=LEARNED)
    return Findings(
        table=table,
        summary=[
            *(
                {"filters": f"{system}, {state}"}
                | {
                    title: table.text(column, system=system, state=state)
                    for column, title in _COLUMNS.items()
                }
                for system, state in low
            ),
            {"filters": f"stem of tiny, {TRAINED}"}
            | {
                title: f"{stem[column]:.3f}" if column in stem else "-"
                for column, title in _COLUMNS.items()
            },
        ],
        verdict=judge(trained.interval, [values.interval for values in learned]),
        measure="share of low frequencies in what training added to a ViT's patch filters",
        values=low[VIT, LEARNED],
        because=(
            f"What training added to the ViT's filters has {low[VIT, LEARNED].text(2)} of its "
            f"energy at low frequencies (noise: {noise:.2f}; the convolution's: "
            f"{low[CONVOLUTION, LEARNED].text(2)}) and {captured} in the "
            f"first {_FIRST} components of the patches (noise: 0.08). The filters as a whole have "
            f"{trained.text(2)} at low frequencies"
            + (
                "."
                if trained.low > _SEEN
                else ": after so short a training they still look like the noise they began as."
            )
        ),
        draw=lambda figure: _draw(figure, low, pictures, noise),
    )


def digits(count: int) -> RenderedBatch:
    """Images of two digits each, of all pairs evenly; clean as at the start of a training."""
    renderer = reading.word_renderer(Charset(CHARSETS["digits"]), SMALL, reading.ANY_STRINGS)
    return renderer.render([f"{number % 100:02d}" for number in range(count)], 0, difficulty=0.2)


def patch_components(words: RenderedBatch) -> measure.Components:
    """Principal components of the patches of the images."""
    pixels = Preprocessing(*SMALL.image_size).normalize(words.images)
    return measure.Components.of_patches(pixels, SMALL.patch_size)


def judge(trained: Interval, learned: Sequence[Interval]) -> Verdict:
    """Patterns that one can see in the filters, and that both systems have learned."""
    return Verdict.graded(
        learned[0][0] > _CLEAR, trained[0] > _SEEN and all(low > _CLEAR for low, _ in learned)
    )


def _draw(
    figure: Figure,
    low: Mapping[tuple[str, str], Values],
    pictures: Mapping[str, Vectors],
    noise: float,
) -> None:
    figure.set_size_inches(9.5, 4.2)
    halves: Any = figure.subfigures(1, 2, width_ratios=[1.5, 1])
    left, right = halves
    left.suptitle(f"first {_SHOWN} principal components", fontweight="bold", fontsize=10)
    cells = left.subplots(len(pictures), _SHOWN, squeeze=False)
    for line, (name, vectors) in zip(cells, pictures.items(), strict=True):
        for cell, vector in zip(line, vectors, strict=False):
            # Gray in the middle: filters have no sign, zero must look the same in all.
            pixels = 0.5 + 0.5 * vector / vector.abs().max()
            cell.imshow(pixels.permute(1, 2, 0).numpy(), interpolation="nearest")
            cell.set(xticks=[], yticks=[])
        line[0].set_ylabel(
            name.replace(", ", "\n").replace(" ", "\n"), rotation=0, ha="right", va="center"
        )
    axes = right.subplots()
    groups, colors = {}, {}
    for (system, state), values in low.items():
        label = f"{system}\n{state}".replace(" part", "").replace("convolution", "conv.")
        groups[label] = [100 * value for value in values]
        colors[label] = MUTED if state == UNTRAINED else COLORS[SYSTEMS.index(system)]
    draw_bars(axes, groups, colors)
    axes.axhline(100 * noise, color="black", linewidth=1, linestyle="--", label="noise")
    axes.legend()
    axes.set(title="how smooth the filters are", ylabel="energy at low frequencies (%)")
    axes.tick_params(axis="x", labelsize=7)
