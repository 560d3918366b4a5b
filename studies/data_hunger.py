"""How well a ViT and a convolution read after the same number of images of few or many words."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, product
from typing import Any

from matplotlib.figure import Figure

from studies import reading
from studies.drawing import draw_lines, log_ticks, panels
from studies.reading import CONVOLUTION, SYSTEMS, VIT
from studies.study import Findings, Row, Rows, Settings, Study, Table, Values, Verdict
from vit_str.characters.charset import CHARSETS, PADDING, Charset
from vit_str.synthesis.renderer import RenderedBatch

STUDY = Study(
    posts="V",
    claim=(
        "Unlike convolutions, a ViT has to learn from data that neighbors belong "
        "together, so it wants more of it (in the pages that the post links to)."
    ),
    expected=(
        "The convolution reads more of the unseen words when there are few to learn "
        "from, and its lead gets smaller with more of them, at the same number of "
        "images in training."
    ),
    experiment=(
        "Full: a ViT of 8 x 8 patches and the convolution of "
        "configs/conv\\_transformer.yaml learn from 1,000, 5,000, 20,000 and "
        "100,000 rendered words, 131,072 images each time, and read about 1,400 "
        "others; estimated at a day on two cores, an hour or two on a GPU. Quick: "
        "small ones learn single digits from 64 or 2,048 images, 6,400 images each "
        "time."
    ),
    changed=(
        "The small version has only 2 x 2 tokens, so there is little that a "
        "convolution knows beforehand; tries with more tokens, one seed each, had "
        "the convolution ahead but the ViT had not learned its training words. It "
        "cannot decide the claim."
    ),
    correction=(
        "Data hunger and slow learning look alike: with a fixed budget of images a "
        "ViT may be behind because it has not learned yet, and then more data does "
        "not help it. What it has learned of its training words tells them apart, "
        "so the table has it."
    ),
)

_TEST_SEED = 1 << 20  # no set of training words has it
_KNOWN = "accuracy_of_training_words"


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is trained: the same number of batches for every number of training words."""

    sizes: reading.Sizes
    charset: Charset
    words: tuple[int, ...]  # smallest first
    training: Mapping[str, Any]  # of `train_reader`
    difficulty: float
    test_words: int  # to draw, see `unseen_words`
    shares: Mapping[str, float]


DIGIT = reading.Sizes(
    (16, 16),
    (8, 8),
    32,
    2,
    4,
    (8, 16),
    (1, 1, 1),
    1,
    maximum_length=1,
)
"""One character in an image: what learns to read in a few seconds."""
QUICK = Plan(
    DIGIT,
    Charset(CHARSETS["digits"]),
    (64, 2048),
    {"steps": 200, "batch_size": 32, "learning_rate": 5e-3},
    difficulty=0.0,
    test_words=512,
    shares=reading.ANY_STRINGS,
)
FULL = Plan(
    reading.STANDARD,
    Charset(CHARSETS["ascii"]),
    (1_000, 5_000, 20_000, 100_000),
    {"steps": 2_048, "batch_size": 64, "learning_rate": 1e-3},
    difficulty=0.5,
    test_words=2_000,
    shares=reading.ONLY_WORDS,
)


def run(settings: Settings) -> Findings:
    """Train both on sets of different sizes, with every seed."""
    plan = QUICK if settings.quick else FULL
    columns = f"seed system words accuracy {_KNOWN}"
    table = settings.repeat(columns, lambda seed: train(plan, seed, settings.device))
    few = plan.words[0]
    many = plan.words[-1]
    right = {
        (system, words): table.values("accuracy", system=system, words=words)
        for system, words in product(SYSTEMS, (few, many))
    }
    small = right[CONVOLUTION, few] - right[VIT, few]
    large = right[CONVOLUTION, many] - right[VIT, many]
    read = {key: f"{values.mean:.0%}" for key, values in right.items()}
    because = (
        f"With {few:,} words the convolution reads {read[CONVOLUTION, few]} of "
        f"unseen ones and the ViT {read[VIT, few]}, with {many:,} "
        f"{read[CONVOLUTION, many]} and {read[VIT, many]}: the lead falls by "
        f"{(small - large).text(2)}."
    )
    if small.low <= 0 <= small.high:
        because += " The interval of the first lead has zero in it."
    if settings.quick:
        because += (
            " This is the quick version: single digits of four tokens, too small to "
            "decide about ViTs that read words, whatever comes out."
        )
    summary: list[Row] = []
    for words, system in product(plan.words, SYSTEMS):
        row: Row = {
            "words": words,
            "system": system,
            "unseen words right": table.text("accuracy", system=system, words=words),
            "training words right": table.text(_KNOWN, system=system, words=words),
        }
        summary.append(row)
    return Findings(
        table=table,
        summary=summary,
        verdict=judge(small, small - large, decides=not settings.quick),
        measure=f"lead of the convolution in accuracy with {few:,} training words",
        values=small,
        because=because,
        draw=lambda figure: _draw(figure, table, plan),
    )


def train(plan: Plan, seed: int, device: str = "cpu") -> Rows:
    """One row for each system and number of words; smaller sets are part of larger ones."""
    sizes = plan.sizes
    renderer = reading.word_renderer(plan.charset, sizes, plan.shares)
    everything = renderer.batch(
        plan.words[-1],
        seed,
        index=0,
        difficulty=plan.difficulty,
    )
    drawn = renderer.batch(
        plan.test_words,
        _TEST_SEED + seed,
        index=0,
        difficulty=plan.difficulty,
    )
    unseen = unseen_words(drawn, everything, plan)
    for count, system in product(plan.words, SYSTEMS):
        words = reading.select(everything, slice(count))
        reader = reading.build_reader(system, sizes, len(plan.charset), seed)
        reading.train_reader(reader, words, seed, **plan.training, device=device)
        known = reading.read_words(
            reader, reading.select(words, slice(plan.test_words)), device
        )
        right = reading.read_words(reader, unseen, device)
        yield seed, system, count, sum(right) / len(right), sum(known) / len(known)


def unseen_words(
    drawn: RenderedBatch,
    everything: RenderedBatch,
    plan: Plan,
) -> RenderedBatch:
    """Words to test: all of their characters are in the smallest set of training words.

    Each text comes once, and is in no set. Of texts of one character there are too few for that;
    there, it is pictures that are unseen.
    """
    texts = _texts(everything)
    characters = set(chain.from_iterable(texts[: plan.words[0]]))
    seen = set() if plan.sizes.maximum_length == 1 else set(texts)
    kept = []
    for index, text in enumerate(_texts(drawn)):
        if characters.issuperset(text) and text not in seen:
            kept.append(index)
            if plan.sizes.maximum_length > 1:
                seen.add(text)
    return reading.select(drawn, kept)


def _texts(batch: RenderedBatch) -> list[tuple[int, ...]]:
    """The ids of the characters of each word."""
    return [tuple(i for i in ids if i != PADDING) for ids in batch.labels.tolist()]


def judge(small: Values, closing: Values, decides: bool = True) -> Verdict:
    """From the convolution's lead with few words, and how much it falls.

    A lead alone may be slow learning or a better network; data closes the gap or it does not.
    Images of four tokens do not decide.
    """
    if not decides:
        return Verdict.UNDECIDED
    return Verdict.graded(small.low > 0, closing.low > 0)


def _draw(figure: Figure, table: Table, plan: Plan) -> None:
    titles = {"accuracy": "unseen words", _KNOWN: "words of the training"}
    for axes, column in zip(panels(figure, list(titles.values())), titles, strict=True):
        style: dict[str, Any] = {
            "column": column,
            "scale": 100,
            "marker": "o",
            "markersize": 4,
        }
        draw_lines(axes, table, "words", "system", SYSTEMS, **style)
        log_ticks(axes, plan.words, 10)
        axes.minorticks_off()
        axes.set(xlabel="words to learn from", ylabel="read right (%)", ylim=(0, 104))
        axes.legend()
