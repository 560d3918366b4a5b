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
from vit_str.studies.drawing import draw_bars, panels
from vit_str.studies.intervals import mean_interval, with_interval
from vit_str.studies.number_words import WORDS, ids_of, in_digits, in_words
from vit_str.studies.sequence_tasks import fit
from vit_str.studies.study import Findings, Row, Settings, Study, Verdict
from vit_str.studies.tasks_tokens import seeded

WORDS_TO_DIGITS, DIGITS_TO_WORDS = "words to digits", "digits to words"
GREEDY, BEAM, STRANGER = "greedy", "beam of 4", "greedy, another's features"
_WAYS = (GREEDY, BEAM, STRANGER)
_WIDTHS = {GREEDY: 1, BEAM: 4, STRANGER: 1}

# Who translates has nearly all right; who guesses a number of the right length has none.
_TRANSLATES, _SOME = 0.9, 0.5

_MOST_WORDS = 9


@dataclass(frozen=True, slots=True)
class Size:
    """How large the experiment is.

    Attributes:
        digits: most digits of a number.
        dim: width of a token.
        depth: blocks of the encoder, and of the decoder.
        steps: batches of training.
        batch: texts in a batch, half of them in each direction.
        tested: numbers that are translated.
    """

    digits: int
    dim: int
    depth: int
    steps: int
    batch: int = 64
    tested: int = 300


_QUICK = Size(digits=4, dim=64, depth=2, steps=320)
_FULL = Size(digits=6, dim=64, depth=2, steps=1500)


class Translation(Study):
    """One Transformer of the project's blocks translates number words to digits, and back."""

    id = "translation"
    posts = "RVES"
    claim = (
        "The Transformer was made as a sequence-to-sequence model for translation: the encoder "
        "takes the meaning of the source, the decoder makes of it the sequence most like it in "
        "the other language (R)."
    )
    expectation = (
        "One small Transformer learns both directions and translates more than nine in ten numbers "
        "that it never saw; a beam changes little; with the features of another number it "
        "translates that other number, so hardly one is right."
    )
    experiment = (
        "A text encoder and a decoder of the project's blocks, with sinusoidal positions, are "
        "trained on numbers of up to six digits (quick: four), from words to digits and from "
        "digits to words with one set of weights. Whole numbers right, of a fifth that is held "
        "out of training; greedy, with a beam, and with the features of another number."
    )
    correction = (
        "Self- and cross-attention are the paper's; the norms stand before the sub-layers here "
        "(Xiong et al. 2020), which trains without much care. The best of a beam is the most "
        "probable text that was found, which is not always the right one."
    )

    revised = "The size of the small version was chosen among five, with one seed each."

    def run(self, settings: Settings) -> Findings:
        size = _QUICK if settings.quick else _FULL
        rows: list[Row] = []
        for seed in range(settings.seeds):

            def look(share: float, seed: int = seed) -> None:
                settings.progress((seed + share) / settings.seeds)

            with seeded(seed):
                model = learn(size, settings.device, look)
            rows += measure(model, size, seed, settings.device)
        return findings(rows)


def is_held_out(number: int) -> bool:
    """A fifth of all numbers, spread without a rule that shows in their digits."""
    return number * 7919 % 10_007 % 5 == 0


def draw_numbers(count: int, digits: int, held_out: bool) -> list[int]:
    """Numbers of 1 to so many digits, every count of digits as often as the others."""
    found: list[int] = []
    while len(found) < count:
        length = int(torch.randint(1, digits + 1, ()))
        number = int(torch.randint(10 ** (length - 1) if length > 1 else 0, 10**length, ()))
        if is_held_out(number) == held_out:
            found.append(number)
    return found


def learn(size: Size, device: str, progress: Callable[[float], None]) -> Translator:
    """A translator of both directions, from torch's generator."""
    model = Translator(
        TextTransformer(len(WORDS), size.dim, size.depth, 4, maximum_length=_MOST_WORDS),
        TransformerDecoder(
            len(WORDS), size.dim, size.depth, 4, _MOST_WORDS, positions="sinusoidal"
        ),
    ).to(device)

    def loss() -> Tensor:
        numbers = draw_numbers(size.batch, size.digits, held_out=False)
        half = size.batch // 2
        words = [in_words(number) for number in numbers]
        digits = [in_digits(number) for number in numbers]
        sources = ids_of(words[:half] + digits[half:]).to(device)
        return model.loss(sources, ids_of(digits[:half] + words[half:]).to(device))

    fit(model, loss, size.steps, 3e-3, progress)
    return model.eval()


def measure(model: Translator, size: Size, seed: int, device: str) -> list[Row]:
    """Share of held-out numbers that are translated without a mistake."""
    with seeded(1_000_000 + seed):
        numbers = draw_numbers(size.tested, size.digits, held_out=True)
    words = ids_of([in_words(number) for number in numbers]).to(device)
    digits = ids_of([in_digits(number) for number in numbers]).to(device)
    rows: list[Row] = []
    for direction, sources, labels in (
        (WORDS_TO_DIGITS, words, digits),
        (DIGITS_TO_WORDS, digits, words),
    ):
        with torch.no_grad():
            features = model.encoder(sources)
        for way in _WAYS:
            seen = features.roll(1, 0) if way == STRANGER else features
            found = beam_search(model.decoder, seen, _WIDTHS[way])
            right = same(found.labels, labels)
            if way == STRANGER:  # a neighbor that is the same number is no stranger
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
    """What the shares of right numbers say about the claim."""
    by_direction = {
        direction: {way: _values(rows, direction, way) for way in _WAYS}
        for direction in (WORDS_TO_DIGITS, DIGITS_TO_WORDS)
    }
    worst = [
        min(pair) for pair in zip(*(each[GREEDY] for each in by_direction.values()), strict=True)
    ]
    mean, interval = mean_interval(worst)
    strangers = max(mean_interval(each[STRANGER])[1][1] for each in by_direction.values())
    because = (
        "Of the numbers that it never saw, greedy decoding has "
        + " and ".join(
            f"{mean_interval(each[GREEDY])[0]:.1%} right from {direction}"
            for direction, each in by_direction.items()
        )
        + f". With the features of another number at most {strangers:.1%} are right: what is "
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
        "share of held-out numbers translated without a mistake, greedy, the worse direction",
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
        greedy, beam = (
            mean_interval(_values(rows, direction, way, "log_probability"))[0]
            for way in (GREEDY, BEAM)
        )
        sure = "" if interval[0] > 0 or interval[1] < 0 else ", which may be chance"
        found.append(
            f"From {direction}, a beam of 4 finds texts of mean log probability {beam:.3f} "
            f"instead of {greedy:.3f} and changes the share that is right by {gain:+.1%}{sure}."
        )
        other = mean_interval(_values(rows, direction, STRANGER, "of_the_other"))[0]
        if other > _SOME:
            found.append(
                f"Given the features of another number, it writes that number in {other:.1%} of "
                f"the cases (from {direction}): the decoder brings nothing of its own."
            )
    return found


def _values(rows: Sequence[Row], direction: str, way: str, column: str = "right") -> list[float]:
    wanted = (direction, way)
    return [float(row[column]) for row in rows if (row["direction"], row["way"]) == wanted]


def _draw(figure: Figure, by_direction: dict[str, dict[str, list[float]]]) -> None:
    titles = [f"From {direction}" for direction in by_direction]
    for axes, each in zip(panels(figure, titles, width=4.2), by_direction.values(), strict=True):
        draw_bars(axes, {way.replace(", ", ",\n"): values for way, values in each.items()})
        axes.set_ylim(0, 1)
        axes.set_ylabel("share of held-out numbers right")
