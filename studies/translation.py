"""Is the Transformer a sequence-to-sequence model: an encoder that reads, a decoder that writes?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int64
from matplotlib.figure import Figure
from torch import Tensor

from vit_str.charset import PADDING
from vit_str.models import TransformerDecoder
from vit_str.models.beam import beam_search
from vit_str.models.decoders.autoregressive import AutoregressiveDecoder
from vit_str.models.translation import TextTransformer, Translator
from studies.drawing import draw_bars, panels
from studies.intervals import mean_interval, with_interval
from studies.sequence_tasks import fit
from studies.spoken import WORDS, ids_of
from studies.study import Findings, Row, Settings, Study, Verdict
from studies.tasks_tokens import seeded
from studies.tasks_translation import Languages, dates, draw_many, numbers

GREEDY, BEAM, STRANGER = "greedy", "beam of 4", "greedy, another's features"
_WAYS = (GREEDY, BEAM, STRANGER)
_WIDTHS = {GREEDY: 1, BEAM: 4, STRANGER: 1}

# Who translates has nearly all right; who guesses a number of the right length has none.
_TRANSLATES, _SOME = 0.9, 0.5

_MOST_SYMBOLS = 10


@dataclass(frozen=True, slots=True)
class Size:
    """How large the experiment is.

    Attributes:
        digits: most digits of a number.
        dim: width of a token.
        depth: blocks of the encoder, and of the decoder.
        steps: batches of training.
        batch: texts in a batch, half of them in each direction.
        tested: numbers, and dates, that are translated.
    """

    digits: int
    dim: int
    depth: int
    steps: int
    batch: int = 64
    tested: int = 300

    @property
    def languages(self) -> tuple[Languages, ...]:
        """What is translated, each by a model of its own."""
        return numbers(self.digits), dates()


_QUICK = Size(digits=4, dim=64, depth=2, steps=320)
_FULL = Size(digits=6, dim=64, depth=2, steps=1500)


class Translation(Study):
    """A Transformer of the project's blocks translates numbers and dates to digits, and back."""

    id = "translation"
    posts = "RVES"
    claim = (
        "The Transformer was made as a sequence-to-sequence model for translation: the encoder "
        "takes the meaning of the source, the decoder makes of it the sequence most like it in "
        "the other language (R)."
    )
    expectation = (
        "One small Transformer learns both directions and translates more than nine in ten numbers "
        "that it never saw, another as many dates, whose parts change places; a beam changes "
        "little; with the features of another text it translates that other one, so hardly one is "
        "right."
    )
    experiment = (
        "A text encoder and a decoder of the project's blocks, with sinusoidal positions, are "
        "trained on numbers of up to six digits (quick: four), from words to digits and from "
        "digits to words with one set of weights, and others like them on dates (march twenty "
        "three nineteen eighty four, 1984-03-23). Whole texts right, of a fifth that is held "
        "out of training; greedy, with a beam, and with the features of another text."
    )
    correction = (
        "Self- and cross-attention are the paper's; the norms stand before the sub-layers here "
        "(Xiong et al. 2020), which trains without much care. The best of a beam is the most "
        "probable text that was found, which is not always the right one."
    )

    revised = (
        "The size of the small version was chosen among five for numbers, with one seed each; "
        "dates were added afterwards, at the same size."
    )

    def run(self, settings: Settings) -> Findings:
        size = _QUICK if settings.quick else _FULL
        languages = size.languages
        count = settings.seeds * len(languages)
        rows: list[Row] = []
        for number in range(count):
            seed, spoken = number // len(languages), languages[number % len(languages)]

            def look(share: float, number: int = number) -> None:
                settings.progress((number + share) / count)

            with seeded(seed):
                model = learn(spoken, size, settings.device, look)
            rows += measure(model, spoken, size, seed, settings.device)
        return findings(rows)


def learn(
    spoken: Languages, size: Size, device: str, progress: Callable[[float], None]
) -> Translator:
    """A translator of both directions, from torch's generator."""
    model = Translator(
        TextTransformer(len(WORDS), size.dim, size.depth, 4, maximum_length=_MOST_SYMBOLS),
        TransformerDecoder(
            len(WORDS), size.dim, size.depth, 4, _MOST_SYMBOLS, positions="sinusoidal"
        ),
    ).to(device)

    def loss() -> Tensor:
        drawn = draw_many(size.batch, spoken, held_out=False)
        half = size.batch // 2
        words, digits = list(map(spoken.words, drawn)), list(map(spoken.digits, drawn))
        sources = ids_of(words[:half] + digits[half:]).to(device)
        return model.loss(sources, ids_of(digits[:half] + words[half:]).to(device))

    fit(model, loss, size.steps, 3e-3, progress)
    return model.eval()


def measure(model: Translator, spoken: Languages, size: Size, seed: int, device: str) -> list[Row]:
    """Share of held-out texts that are translated without a mistake."""
    with seeded(1_000_000 + seed):
        drawn = draw_many(size.tested, spoken, held_out=True)
    words = ids_of(list(map(spoken.words, drawn))).to(device)
    digits = ids_of(list(map(spoken.digits, drawn))).to(device)
    rows: list[Row] = []
    for direction, sources, labels in zip(
        spoken.directions, (words, digits), (digits, words), strict=True
    ):
        with torch.no_grad():
            features = model.encoder(sources)
        for way in _WAYS:
            seen = features.roll(1, 0) if way == STRANGER else features
            found = beam_search(model.decoder, seen, _WIDTHS[way])
            right = same(found.labels, labels)
            if way == STRANGER:  # a neighbor that is the same text is no stranger
                right = right[~same(labels, labels.roll(1, 0))]
            rows.append(
                {
                    "direction": direction,
                    "way": way,
                    "seed": seed,
                    "right": right.float().mean().item(),
                    "of_the_other": same(found.labels, labels.roll(1, 0)).float().mean().item(),
                    "log_probability": log_probability(model.decoder, seen, found.labels),
                }
            )
    return rows


def same(
    written: Int64[Tensor, "batch position"], labels: Int64[Tensor, "batch longest"]
) -> Bool[Tensor, " batch"]:
    """Which texts are the same, whatever the padding after them."""
    width = max(written.shape[1], labels.shape[1])
    written, labels = (
        F.pad(each, (0, width - each.shape[1]), value=PADDING) for each in (written, labels)
    )
    return (written == labels).all(1)


@torch.no_grad()
def log_probability(
    decoder: AutoregressiveDecoder,
    features: Float[Tensor, "batch token dim"],
    labels: Int64[Tensor, "batch position"],
) -> float:
    """Mean logarithm of the probability of whole texts, their ends included."""
    scores = decoder.logits(features, labels).log_softmax(-1)
    targets = decoder.targets(labels)
    steps = scores.gather(2, targets.clamp(min=0)[..., None])[..., 0]
    return steps.where(targets != PADDING, 0).sum(1).mean().item()


def findings(rows: Sequence[Row]) -> Findings:
    """What the shares of right texts say about the claim."""
    directions = dict.fromkeys(str(row["direction"]) for row in rows)
    by_direction = {
        direction: {way: _values(rows, direction, way) for way in _WAYS} for direction in directions
    }
    worst = [
        min(pair) for pair in zip(*(each[GREEDY] for each in by_direction.values()), strict=True)
    ]
    mean, interval = mean_interval(worst)
    strangers = max(mean_interval(each[STRANGER])[1][1] for each in by_direction.values())
    because = (
        "Of texts that it never saw, greedy decoding has right: "
        + "; ".join(
            f"{direction} {mean_interval(each[GREEDY])[0]:.1%}"
            for direction, each in by_direction.items()
        )
        + f". With the features of another text at most {strangers:.1%} are right: what is "
        "written comes from what the encoder read."
    )
    return Findings(
        rows,
        [
            {
                "direction": direction,
                **{way: with_interval(values) for way, values in each.items()},
            }
            for direction, each in by_direction.items()
        ],
        verdict_of(interval, strangers),
        "share of held-out texts translated without a mistake, greedy, the worst direction",
        mean,
        interval,
        because,
        lambda figure: _draw(figure, by_direction),
        _surprises(rows, by_direction),
    )


def verdict_of(interval: tuple[float, float], strangers: float) -> Verdict:
    """From the interval of the share that is right.

    Args:
        interval: of the share.
        strangers: what is right with another's features; a decoder that needs no encoder has more
            than a tenth of the share.
    """
    if interval[0] <= _SOME or strangers > interval[0] / 10:
        return Verdict.NOT_SUPPORTED
    return Verdict.SUPPORTED if interval[0] > _TRANSLATES else Verdict.PARTLY


def _surprises(rows: Sequence[Row], by_direction: dict[str, dict[str, list[float]]]) -> list[str]:
    found = []
    for direction, each in by_direction.items():
        gain, interval = mean_interval(
            [b - a for a, b in zip(each[GREEDY], each[BEAM], strict=True)]
        )
        if interval[0] > 0 or interval[1] < 0:
            found.append(
                f"A beam of 4 changes the share that is right by {gain:+.1%} ({direction})."
            )
    likelier = max(
        mean_interval(_values(rows, direction, BEAM, "log_probability"))[0]
        - mean_interval(_values(rows, direction, GREEDY, "log_probability"))[0]
        for direction in by_direction
    )
    if not found:
        found.append(
            "A beam of 4 changes no share of right texts beyond chance; the log probability of "
            f"what it finds is higher by {likelier:.3f} at most: a model that is sure of each "
            "symbol leaves a search nothing to find."
        )
    others = [
        mean_interval(_values(rows, direction, STRANGER, "of_the_other"))[0]
        for direction in by_direction
    ]
    if min(others) > _SOME:
        found.append(
            f"Given the features of another text, it writes that text in {min(others):.1%} of the "
            "cases or more, in every direction: the decoder brings nothing of its own."
        )
    return found


def _values(rows: Sequence[Row], direction: str, way: str, column: str = "right") -> list[float]:
    wanted = (direction, way)
    return [float(row[column]) for row in rows if (row["direction"], row["way"]) == wanted]


def _draw(figure: Figure, by_direction: dict[str, dict[str, list[float]]]) -> None:
    titles = [direction.capitalize() for direction in by_direction]
    for axes, each in zip(panels(figure, titles, width=3.4), by_direction.values(), strict=True):
        draw_bars(axes, {way.replace(", ", ",\n"): values for way, values in each.items()})
        axes.set_ylim(0, 1)
        axes.set_ylabel("share of held-out texts right")
