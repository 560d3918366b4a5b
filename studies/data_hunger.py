"""How well a ViT and a convolution read after the same number of images of few or many words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from vit_str.charset import CHARSETS, Charset
from studies.intervals import mean_interval, with_interval
from studies.study import Findings, Row, Settings, Study, Verdict
from studies.tasks_reading import (
    CONVOLUTION,
    STANDARD,
    SYSTEMS,
    VIT,
    Sizes,
    build_reader,
    read_words,
    train_reader,
)
from studies.tasks_words import ANY_STRINGS, ONLY_WORDS, word_renderer
from vit_str.synthesis.renderer import RenderedBatch, Renderer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TEST_SEED = 1 << 20  # no set of training words has it


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is trained.

    Attributes:
        sizes: of the two systems.
        charset: what is written.
        words: numbers of training words, smallest first.
        steps: batches, the same for every number of words.
        batch_size: images in each.
        learning_rate: the highest.
        difficulty: of the images, 0 to 1.
        test_words: to be read in the end.
        shares: of the kinds of strings.
    """

    sizes: Sizes
    charset: Charset
    words: tuple[int, ...]
    steps: int
    batch_size: int
    learning_rate: float
    difficulty: float
    test_words: int
    shares: dict[str, float]


DIGIT = Sizes(
    (16, 16), (8, 8), 32, 2, 4, (8, 16), (1, 1, 1), ((2, 2), (2, 2), (2, 2)), 1, maximum_length=1
)
"""One character in an image: what learns to read in a few seconds."""

QUICK = Plan(
    DIGIT, Charset(CHARSETS["digits"]), (64, 2048), 200, 32, 5e-3, 0.0, 512, dict(ANY_STRINGS)
)
FULL = Plan(
    STANDARD,
    Charset(CHARSETS["ascii"]),
    (1_000, 5_000, 20_000, 100_000),
    2_048,
    64,
    1e-3,
    0.5,
    1_000,
    dict(ONLY_WORDS),
)


class DataHunger(Study):
    """Trains both on sets of different sizes and reads words that neither has seen."""

    id = "data-hunger"
    posts = "V"
    claim = (
        "Unlike convolutions, a ViT has to learn from data that neighbors belong together, so it "
        "wants more of it (in the pages that the post links to)."
    )
    expectation = (
        "The convolution reads more of the unseen words when there are few to learn from, and its "
        "lead gets smaller with more of them, at the same number of images in training."
    )
    experiment = (
        "Full: a ViT of 8 x 8 patches and the convolution of configs/conv_transformer.yaml learn "
        "from 1,000, 5,000, 20,000 and 100,000 rendered words, 131,072 images each time, and read "
        "1,000 others; estimated at a day on two cores, an hour or two on a GPU. Quick: small ones "
        "learn single digits from 64 or 2,048 images, 6,400 images each time."
    )
    correction = (
        "Data hunger and slow learning look alike: with a fixed budget of images a ViT may be "
        "behind because it has not learned yet, and then more data does not help it. What it has "
        "learned of its training words tells them apart, so the table has it."
    )

    revised = (
        "The small version has only 2 x 2 tokens, so there is little that a convolution knows "
        "beforehand; tries with more tokens, one seed each, had the convolution ahead but the "
        "ViT had not learned its training words. It cannot decide the claim."
    )

    def run(self, settings: Settings) -> Findings:
        """See `Study`."""
        plan = QUICK if settings.quick else FULL
        done, whole = 0, plan.steps * len(plan.words) * len(SYSTEMS) * settings.seeds

        def advance(taken: int) -> None:
            nonlocal done
            done += taken
            settings.progress(done / whole)

        rows: list[Row] = []
        for seed in range(settings.seeds):
            rows += train(plan, seed, settings.device, advance)
        return _findings(rows, plan, settings.quick)


def train(
    plan: Plan, seed: int, device: str, advance: Callable[[int], object] = lambda steps: None
) -> list[Row]:
    """One row for each system and number of words; smaller sets are part of larger ones."""
    renderer = word_renderer(
        plan.charset,
        plan.sizes.image_size,
        plan.sizes.grid,
        plan.shares,
        plan.sizes.maximum_length,
    )
    everything = _draw_words(renderer, plan.words[-1], seed, plan.difficulty)
    unseen = _draw_words(renderer, plan.test_words, _TEST_SEED + seed, plan.difficulty)
    rows: list[Row] = []
    for count in plan.words:
        words = first_words(everything, count)
        for system in SYSTEMS:
            reader = build_reader(system, plan.sizes, len(plan.charset), seed)
            train_reader(
                reader,
                words,
                plan.steps,
                plan.batch_size,
                seed,
                device,
                plan.learning_rate,
                advance,
            )
            known = read_words(reader, first_words(words, plan.test_words), device)
            right = read_words(reader, unseen, device)
            rows.append(
                {
                    "seed": seed,
                    "system": system,
                    "words": count,
                    "accuracy": sum(right) / len(right),
                    "accuracy_of_training_words": sum(known) / len(known),
                }
            )
    return rows


def first_words(words: RenderedBatch, count: int) -> RenderedBatch:
    """The first of a batch."""
    return RenderedBatch(*(getattr(words, field.name)[:count] for field in fields(words)))


def judge(small: tuple[float, float], closing: tuple[float, float]) -> Verdict:
    """From the interval of the convolution's lead with few words, and of how much it falls.

    A lead alone may be slow learning or a better network; data closes the gap or it does not.
    """
    if small[0] <= 0:
        return Verdict.NOT_SUPPORTED
    return Verdict.SUPPORTED if closing[0] > 0 else Verdict.PARTLY


def leads(rows: Sequence[Row], words: int) -> list[float]:
    """Accuracy of the convolution minus that of the ViT, one value for each seed."""
    pairs = zip(*(_values(rows, system, words) for system in (CONVOLUTION, VIT)), strict=True)
    return [convolution - vit for convolution, vit in pairs]


def _draw_words(renderer: Renderer, count: int, seed: int, difficulty: float) -> RenderedBatch:
    """A set of words with the pictures of this seed, always the same."""
    return renderer.batch(count, seed, index=0, difficulty=difficulty)


def _values(rows: Sequence[Row], system: str, words: int, what: str = "accuracy") -> list[float]:
    return [float(row[what]) for row in rows if (row["system"], row["words"]) == (system, words)]


def _findings(rows: list[Row], plan: Plan, quick: bool) -> Findings:
    few, many = plan.words[0], plan.words[-1]
    first, last = leads(rows, few), leads(rows, many)
    value, interval = mean_interval(first)
    closing = mean_interval([a - b for a, b in zip(first, last, strict=True)])
    at = {
        (system, words): mean_interval(_values(rows, system, words))[0]
        for system in SYSTEMS
        for words in (few, many)
    }
    known = mean_interval(_values(rows, VIT, many, "accuracy_of_training_words"))[0]
    small_print = " The interval of the first lead has zero in it." if _has_zero(interval) else ""
    if quick:
        small_print += " This is the quick version: single digits of four tokens, too small to "
        small_print += "decide about ViTs that read words."
    return Findings(
        rows=rows,
        summary=_summary(rows, plan),
        verdict=judge(interval, closing[1]),
        measure=f"lead of the convolution in accuracy with {few:,} training words",
        value=value,
        interval=interval,
        because=(
            f"With {few:,} words the convolution reads {at[CONVOLUTION, few]:.0%} of unseen ones "
            f"and the ViT {at[VIT, few]:.0%}, with {many:,} {at[CONVOLUTION, many]:.0%} and "
            f"{at[VIT, many]:.0%}: the lead falls by "
            f"{with_interval([a - b for a, b in zip(first, last, strict=True)], 2)}." + small_print
        ),
        draw=lambda figure: _draw(figure, rows, plan),
        surprises=_surprises(closing[1], known, many),
    )


def _has_zero(interval: tuple[float, float]) -> bool:
    return interval[0] <= 0 <= interval[1]


def _surprises(closing: tuple[float, float], known: float, many: int) -> tuple[str, ...]:
    if closing[1] >= 0 or known > 0.9:
        return ()
    return (
        f"With {many:,} words the ViT falls further behind: it has not even learned its own "
        f"training words ({known:.0%}). At this budget it lacks images to learn from, not "
        "different ones; data hunger would show only in a longer training.",
    )


def _summary(rows: Sequence[Row], plan: Plan) -> list[Row]:
    return [
        {
            "words": words,
            "system": system,
            "unseen words right": with_interval(_values(rows, system, words)),
            "training words right": with_interval(
                _values(rows, system, words, "accuracy_of_training_words")
            ),
        }
        for words in plan.words
        for system in SYSTEMS
    ]


def _draw(figure: "Figure", rows: Sequence[Row], plan: Plan) -> None:
    from studies.drawing import COLORS, draw_mean, panels

    titles = {"accuracy": "unseen words", "accuracy_of_training_words": "words of the training"}
    for axes, what in zip(panels(figure, list(titles.values())), titles, strict=True):
        for system, color in zip(SYSTEMS, COLORS, strict=False):
            runs = zip(*(_values(rows, system, words, what) for words in plan.words), strict=True)
            percent = [[100 * value for value in run] for run in runs]
            draw_mean(axes, plan.words, percent, system, color, marker="o", markersize=4)
        axes.set_xscale("log")
        axes.set_xticks(plan.words, [f"{words:,}" for words in plan.words])
        axes.minorticks_off()
        axes.set(xlabel="words to learn from", ylabel="read right (%)", ylim=(0, 104))
        axes.legend()
