"""What the first filters of a ViT and of a convolution become when they learn to read."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from matplotlib.figure import Figure

from studies import reading
from studies.drawing import COLORS, MUTED, draw_bars
from studies.reading import CONVOLUTION, SMALL, SYSTEMS, VIT
from studies.study import Findings, Rows, Settings, Study, Table, Values, Verdict
from vit_str.analysis.vit_paper.filters import (
    Components,
    Filters,
    PatchCovariance,
    bank_means,
    chance_low_frequency,
    first_filters,
)
from vit_str.characters.charset import CHARSETS, Charset
from vit_str.engines.weights_contents import resolve
from vit_str.images.preprocessing import Preprocessing
from vit_str.synthesis.renderer import RenderedBatch
from vit_str.torch_runtime.weights_file import load_weights

STUDY = Study(
    posts="V",
    claim=(
        "The filters of a ViT, shown beside those of AlexNet, are patterns that "
        "were learned from images, as those of a convolution are."
    ),
    expected=(
        "Training moves the patch filters towards low frequencies: smoother than "
        "random ones, with more of their energy in the first principal components "
        "of the patches. The filters of the convolution get smoother too, but less "
        "alike: edges instead of a basis."
    ),
    experiment=(
        "A ViT (patches of 8 x 8 pixels) and a convolution (first windows of 8 x 8) "
        "with the same decoder learn to read two digits in images of 16 x 32 "
        "pixels. Their first filters are compared with those they started from, and "
        "so is the difference, what was learned: share of energy in the lower half "
        "of the frequencies, roughness, and share within the first 16 of 192 "
        "components of the patches."
    ),
    changed=(
        "A first rule, that the share of low frequencies rises, said supported "
        "while the figure showed noise; the present one asks for more than half of "
        "it, and the part that training added was looked at besides."
    ),
    correction=(
        "The two halves of the figure do not show the same: of AlexNet they are "
        "filters, of the ViT the principal components of filters (Dosovitskiy et "
        "al. 2020, figure 7). Components look tidier than filters, and those of raw "
        "patches have the same look without any learning."
    ),
    kind="caption of a figure",
    weights=("tiny",),
    rule="made stricter",
)

TRAINED = "trained"
UNTRAINED = "untrained"
LEARNED = "learned part"
STATES = (UNTRAINED, TRAINED, LEARNED)
# Components of 192 that a low-frequency basis would need for most of its energy
_FIRST = 16
_CLEAR = 0.05  # of the energy: smaller rises are hardly to be told from noise
# Noise has 0.25; a picture of filters shows patterns if they have most of the energy
_SEEN = 0.5
_SHOWN = 8
_LOW = "low_frequency_share"
_COLUMNS = {
    _LOW: "low frequencies",
    "roughness": "roughness (noise: 1)",
    "effective_components": "effective components",
    "in_patch_components": f"in the first {_FIRST} components of patches",
}
"""Column of the table -> in the summary."""
_OF_BANKS = [*_COLUMNS][:-1]  # those that `bank_means` has


def run(settings: Settings) -> Findings:
    """Train both with every seed, and compare their first filters with those of the start."""
    steps = 90 if settings.quick else 1500
    words = digits(1024 if settings.quick else 8192)
    basis = patch_components(words)
    pictures: dict[str, Filters] = {}

    def measure(seed: int) -> Rows:
        for system in SYSTEMS:
            reader = reading.build_reader(system, SMALL, len(CHARSETS["digits"]), seed)
            before = first_filters(reader.encoder).clone()
            reading.train_reader(
                reader,
                words,
                seed,
                steps=steps,
                batch_size=64,
                learning_rate=2e-3,
                device=settings.device,
            )
            after = first_filters(reader.encoder)
            banks = {UNTRAINED: before, TRAINED: after, LEARNED: after - before}
            for state, bank in banks.items():
                share = float(basis.captured(bank)[_FIRST - 1])
                means = bank_means(bank)
                measured = [means[column] for column in _OF_BANKS]
                yield seed, system, state, *measured, share
                if not seed and state != UNTRAINED:
                    pictures[f"{system}, {state}"] = Components.of_filters(bank).vectors

    table = settings.repeat(f"seed system state {' '.join(_COLUMNS)}", measure)
    pictures["patches themselves"] = basis.vectors
    noise = chance_low_frequency(basis.vectors)
    low = {
        (system, state): table.values(_LOW, system=system, state=state)
        for system, state in product(SYSTEMS, STATES)
    }
    shares = [low[system, LEARNED] for system in SYSTEMS]
    learned = [Values(share - noise for share in of_seeds) for of_seeds in shares]
    trained = low[VIT, TRAINED]
    captured = table.text("in_patch_components", 2, system=VIT, state=LEARNED)
    return Findings(
        table=table,
        summary=_summary(table),
        verdict=judge(trained, learned),
        measure="share of low frequencies in what training added to a ViT's patch filters",
        values=low[VIT, LEARNED],
        because=(
            "What training added to the ViT's filters has "
            f"{low[VIT, LEARNED].text(2)} of its energy at low frequencies (noise: "
            f"{noise:.2f}; the convolution's: {low[CONVOLUTION, LEARNED].text(2)}) "
            f"and {captured} in the first {_FIRST} components of the patches (noise: "
            f"0.08). The filters as a whole have {trained.text(2)} at low frequencies"
            f"{_remark(trained)}"
        ),
        draw=lambda figure: _draw(figure, low, pictures, noise),
    )


def _summary(table: Table) -> list[dict[str, str]]:
    """A row for each system and state, and one for the stem of a reader of words."""
    rows = []
    for system, state in product(SYSTEMS, STATES):
        row = {"filters": f"{system}, {state}"}
        for column, title in _COLUMNS.items():
            row[title] = table.text(column, system=system, state=state)
        rows.append(row)
    stem = bank_means(first_filters(load_weights(resolve("tiny")).recognizer.encoder))
    row = {"filters": f"stem of tiny, {TRAINED}"}
    for column, title in _COLUMNS.items():
        row[title] = f"{stem[column]:.3f}" if column in _OF_BANKS else "-"
    rows.append(row)
    return rows


def _remark(trained: Values) -> str:
    """The end of the sentence about the filters as a whole."""
    if trained.low > _SEEN:
        return "."
    return ": after so short a training they still look like the noise they began as."


def digits(count: int) -> RenderedBatch:
    """Images of two digits each, of all pairs evenly; clean as at the start of a training."""
    renderer = reading.word_renderer(
        Charset(CHARSETS["digits"]), SMALL, reading.ANY_STRINGS
    )
    return renderer.render(
        [f"{number % 100:02d}" for number in range(count)],
        0,
        difficulty=0.2,
    )


def patch_components(words: RenderedBatch) -> Components:
    """Principal components of the patches of the images."""
    pixels = Preprocessing(*SMALL.image_size).normalize(words.images)
    covariance = PatchCovariance(SMALL.patch_size)
    covariance.update(pixels)
    return covariance.components()


def judge(trained: Values, learned: Sequence[Values]) -> Verdict:
    """Patterns that one can see in the filters, and that both systems have learned."""
    return Verdict.graded(
        learned[0].low > _CLEAR,
        trained.low > _SEEN and all(share.low > _CLEAR for share in learned),
    )


def _draw(
    figure: Figure,
    low: Mapping[tuple[str, str], Values],
    pictures: Mapping[str, Filters],
    noise: float,
) -> None:
    figure.set_size_inches(9.5, 4.2)
    halves: Any = figure.subfigures(1, 2, width_ratios=[1.5, 1])
    left, right = halves
    left.suptitle(
        f"first {_SHOWN} principal components", fontweight="bold", fontsize=10
    )
    cells = left.subplots(len(pictures), _SHOWN, squeeze=False)
    for line, (name, vectors) in zip(cells, pictures.items(), strict=True):
        for cell, vector in zip(line, vectors, strict=False):
            # Gray in the middle: filters have no sign, zero must look the same in all.
            pixels = 0.5 + 0.5 * vector / vector.abs().max()
            cell.imshow(pixels.permute(1, 2, 0).numpy(), interpolation="nearest")
            cell.set(xticks=[], yticks=[])
        label = name.replace(",", "").replace(" ", "\n")
        line[0].set_ylabel(label, rotation=0, ha="right", va="center")
    axes = right.subplots()
    groups = {}
    colors = {}
    for (system, state), values in low.items():
        label = f"{system}\n{state}".replace(" part", "").replace(
            "convolution", "conv."
        )
        groups[label] = [100 * value for value in values]
        colors[label] = MUTED if state == UNTRAINED else COLORS[SYSTEMS.index(system)]
    draw_bars(axes, groups, colors)
    axes.axhline(100 * noise, color="black", linewidth=1, linestyle="--", label="noise")
    axes.legend()
    axes.set(title="how smooth the filters are", ylabel="energy at low frequencies (%)")
    axes.tick_params(axis="x", labelsize=7)
