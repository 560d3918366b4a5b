"""What the decoder writes when it cannot see the image, or sees another one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from vit_str.charset import Charset
from vit_str.metrics import cer
from vit_str.models.decoders.autoregressive import AutoregressiveDecoder
from vit_str.models.step_scores import StepScores, step_scores
from studies.intervals import mean_interval, with_interval
from studies.study import Findings, Row, Settings, Study, Verdict
from studies.tasks_words import word_renderer
from vit_str.weights import WeightsFile, load_weights, resolve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Features = Float[Tensor, "batch token dim"]

INTACT, ZEROS, MEAN, OTHER = "intact", "zeros", "mean of the images", "another image"
ABLATED = (ZEROS, MEAN, OTHER)
PAIRS = "pairs of characters"

_MUCH = 0.3  # more errors than that nobody calls a small loss
_SOME = 0.05
_MODEL_WORDS = 20_000
_SMOOTHING = 0.5


class CrossAttention(Study):
    """Takes the image from the decoder of the bundled recognizer, and lets it write."""

    id = "cross-attention"
    posts = "S"
    claim = (
        "In the encoder-decoder structure that the Transformer keeps, the encoder reads the input "
        "and the decoder makes the output from it: queries, keys and values are of one sequence "
        "in self-attention only, so that between the two the queries are the decoder's own."
    )
    expectation = (
        "Without the image, errors jump to those of a language model, even if the decoder is told "
        "all characters before: about 2.5 nats for each, as a model of pairs of characters has. "
        "With another image, the decoder writes what is in that one."
    )
    experiment = (
        "The bundled recognizer reads rendered words. The features that its cross-attention gets "
        "are replaced by zeros, by their mean over images, and by those of another image. Measured "
        "are errors and cross-entropy for each next character, given the right ones before "
        "(teacher forcing), and what is written freely. Every seed is another set of words."
    )
    correction = (
        "The post has one sentence on it, and shows self-attention only: the decoder of the "
        "Transformer has two attentions, a masked one over what it has written, and one whose "
        "queries are its own and whose keys and values are the encoder's."
    )

    def run(self, settings: Settings) -> Findings:
        """See `Study`."""
        weights = load_weights(resolve("tiny"))
        renderer = word_renderer(weights.charset)
        count = 32 if settings.quick else 256
        model = PairModel(weights.charset, renderer.lexicon.sample(_MODEL_WORDS, seed=0))
        rows: list[Row] = []
        for seed in range(settings.seeds):
            batch = renderer.batch(count, seed=2, index=seed)
            with torch.no_grad():
                images = weights.preprocessing.normalize(batch.images)
                features = weights.recognizer.encode(images)
            rows += measure(weights, features, batch.labels, seed)
            rows.append(_pair_row(model, batch.labels, seed))
            settings.progress((seed + 1) / settings.seeds)
        return _findings(rows)


class PairModel:
    """A language model that knows one character before: the counts of pairs, smoothed.

    Args:
        charset: the characters; the start and the end share the id after them.
        words: to count in.
    """

    def __init__(self, charset: Charset, words: Sequence[str]) -> None:
        self.end = len(charset)
        before, after = self._pairs(charset.encode_batch(words))
        counts = torch.full((self.end + 1, self.end + 1), _SMOOTHING, dtype=torch.float64)
        counts.index_put_((before, after), torch.ones(len(before)).double(), accumulate=True)
        self.log_shares = (counts / counts.sum(1, keepdim=True)).log()

    def score(self, labels: Int64[Tensor, "batch position"]) -> tuple[float, float]:
        """Errors and cross-entropy for each next character, the end included."""
        before, after = self._pairs(labels)
        scores = self.log_shares[before]
        wrong = (scores.argmax(1) != after).double().mean()
        return float(wrong), float(-scores.gather(1, after[:, None]).mean())

    def _pairs(self, labels: Int64[Tensor, "batch position"]) -> tuple[Tensor, Tensor]:
        edge = labels.new_full((len(labels), 1), self.end)
        ids = torch.cat([edge, labels, edge - self.end - 1], 1)
        ends = (ids == -1).long().argmax(1)
        ids[torch.arange(len(ids)), ends] = self.end
        before, after = ids[:, :-1], ids[:, 1:]
        kept = after >= 0
        return before[kept], after[kept]


def ablations(features: Features) -> dict[str, Features]:
    """What the decoder is given in the place of the features, by name."""
    return {
        INTACT: features,
        ZEROS: torch.zeros_like(features),
        MEAN: features.mean(0, keepdim=True).expand_as(features),
        OTHER: features.roll(1, 0),
    }


@torch.no_grad()
def measure(
    weights: WeightsFile, features: Features, labels: Int64[Tensor, "batch position"], seed: int
) -> list[Row]:
    """One row for each ablation."""
    decoder = weights.recognizer.decoder
    assert isinstance(decoder, AutoregressiveDecoder)
    texts = [weights.charset.decode(ids) for ids in labels.tolist()]
    others = texts[-1:] + texts[:-1]
    rows: list[Row] = []
    for name, given in ablations(features).items():
        errors, entropy = _next_characters(step_scores(decoder, given, labels))
        written = [weights.charset.decode(ids) for ids in decoder.generate(given).labels.tolist()]
        rows.append(
            {
                "seed": seed,
                "features": name,
                "errors": errors,
                "cross_entropy": entropy,
                "free_cer": cer(written, texts),
                "cer_to_other": cer(written, others),
            }
        )
    return rows


def judge(jump: float, low: float, entropies: float, pair_entropy: float) -> Verdict:
    """From the smallest rise of the error, its lower end, and how good the guesses still are.

    Args:
        jump: errors without the image minus with it, of the ablation that hurts least.
        low: the lower end of its interval.
        entropies: the smallest cross-entropy of an ablation, in nats for each character.
        pair_entropy: that of a model of pairs of characters.
    """
    # Well below pairs of characters, something of the image must still come through.
    if low > _MUCH and entropies > 0.7 * pair_entropy:
        return Verdict.SUPPORTED
    return Verdict.PARTLY if jump > _SOME and low > 0 else Verdict.NOT_SUPPORTED


def _next_characters(steps: StepScores) -> tuple[float, float]:
    wrong = (steps.scores.argmax(1) != steps.symbols).double().mean()
    entropy = torch.nn.functional.cross_entropy(steps.scores, steps.symbols)
    return float(wrong), float(entropy)


def _pair_row(model: PairModel, labels: Int64[Tensor, "batch position"], seed: int) -> Row:
    errors, entropy = model.score(labels)
    nothing = float("nan")  # it writes nothing freely
    return {
        "seed": seed,
        "features": PAIRS,
        "errors": errors,
        "cross_entropy": entropy,
        "free_cer": nothing,
        "cer_to_other": nothing,
    }


def _values(rows: Sequence[Row], name: str, what: str) -> list[float]:
    return [float(row[what]) for row in rows if row["features"] == name]


def _findings(rows: list[Row]) -> Findings:
    intact = _values(rows, INTACT, "errors")
    jumps = {
        name: [a - b for a, b in zip(_values(rows, name, "errors"), intact, strict=True)]
        for name in ABLATED
    }
    least = min(jumps, key=lambda name: mean_interval(jumps[name])[0])
    value, interval = mean_interval(jumps[least])
    entropy = {
        name: mean_interval(_values(rows, name, "cross_entropy"))[0]
        for name in (INTACT, *ABLATED, PAIRS)
    }
    smallest = min(entropy[name] for name in ABLATED)
    to_other, own = (
        with_interval(_values(rows, OTHER, w), 2) for w in ("cer_to_other", "free_cer")
    )
    zeros = with_interval(_values(rows, ZEROS, "errors"), 2)
    return Findings(
        rows=rows,
        summary=_summary(rows),
        verdict=judge(value, interval[0], smallest, entropy[PAIRS]),
        measure=f"rise of the error of the next character without the image ({least})",
        value=value,
        interval=interval,
        because=(
            f"With the image {with_interval(intact, 2)} of the next characters are wrong, without "
            f"it (zeros) {zeros}, at {entropy[ZEROS]:.2f} nats where pairs of characters give "
            f"{entropy[PAIRS]:.2f}. With another image the decoder writes that one: error rate "
            f"{to_other} to its label, {own} to the own one."
        ),
        draw=lambda figure: _draw(figure, rows),
        surprises=(
            f"A wrong image is worse than none: {entropy[OTHER]:.1f} nats for each character "
            f"against {entropy[ZEROS]:.1f} without. The decoder believes its eyes, not its "
            "language, even where the characters before contradict them.",
        )
        if entropy[OTHER] > entropy[ZEROS]
        else (),
    )


def _summary(rows: Sequence[Row]) -> list[Row]:
    def cell(name: str, what: str) -> str:
        return "-" if name == PAIRS and "cer" in what else with_interval(_values(rows, name, what))

    return [
        {
            "features": name,
            "next character wrong": cell(name, "errors"),
            "cross-entropy (nats)": cell(name, "cross_entropy"),
            "error rate, written freely": cell(name, "free_cer"),
            "the same, to the other image": cell(name, "cer_to_other"),
        }
        for name in (INTACT, *ABLATED, PAIRS)
    ]


def _draw(figure: "Figure", rows: Sequence[Row]) -> None:
    from studies.drawing import COLORS, MUTED, draw_bars, panels

    titles = {"errors": "next character wrong", "cross_entropy": "how surprised it is"}
    names = (INTACT, *ABLATED, PAIRS)
    short = ("intact", "zeros", "mean", "another\nimage", "no image:\npairs")
    colors = dict(zip(short, (*COLORS[:4], MUTED), strict=True))
    for axes, what in zip(panels(figure, list(titles.values())), titles, strict=True):
        scale = 100 if what == "errors" else 1
        groups = {
            label: [scale * value for value in _values(rows, name, what)]
            for label, name in zip(short, names, strict=True)
        }
        draw_bars(axes, groups, colors)
        axes.set_xlabel("what cross-attention gets")
        axes.set_ylabel("share (%)" if what == "errors" else "cross-entropy (nats)")
