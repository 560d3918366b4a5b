"""What the decoder writes when it cannot see the image, or sees another one."""

from collections.abc import Sequence

import torch
from matplotlib.figure import Figure
from torch import Tensor

from studies.drawing import COLORS, MUTED, draw_bars, panels
from studies.reading import distinct, word_renderer
from studies.study import Findings, Row, Rows, Settings, Study, Table, Values, Verdict
from studies.training import Labels, Tokens
from vit_str.characters.charset import PADDING, Charset
from vit_str.engines.weights_contents import resolve
from vit_str.evaluation.metrics import cer
from vit_str.models.decoders.autoregressive import AutoregressiveDecoder
from vit_str.torch_runtime.engine import generate
from vit_str.torch_runtime.weights_file import WeightsFile, load_weights

STUDY = Study(
    posts="S",
    claim=(
        "In the encoder-decoder structure that the Transformer keeps, the encoder "
        "reads the input and the decoder makes the output from it: queries, keys "
        "and values are of one sequence in self-attention only, so that between the "
        "two the queries are the decoder's own."
    ),
    expected=(
        "Without the image, errors jump to those of a language model, even if the "
        "decoder is told all characters before: about 2.5 nats for each, as a model "
        "of pairs of characters has. With another image, the decoder writes what is "
        "in that one."
    ),
    experiment=(
        "The bundled recognizer reads rendered words. The features that its "
        "cross-attention gets are replaced by zeros, by their mean over images, and "
        "by those of another image. Measured are errors and cross-entropy for each "
        "next character, given the right ones before (teacher forcing), and what is "
        "written freely. Every seed is another set of words."
    ),
    correction=(
        "The post has one sentence on it, and shows self-attention only: the "
        "decoder of the Transformer has two attentions, a masked one over what it "
        "has written, and one whose queries are its own and whose keys and values "
        "are the encoder's."
    ),
    over="batches of words, one model",
    weights=("tiny",),
)

INTACT = "intact"
ZEROS = "zeros"
MEAN = "mean of the images"
OTHER = "another image"
ABLATED = (ZEROS, MEAN, OTHER)
PAIRS = "pairs of characters"
_SHORT = {
    INTACT: "intact",
    ZEROS: "zeros",
    MEAN: "mean",
    OTHER: "another\nimage",
    PAIRS: "no image:\npairs",
}
_COLUMNS = {
    "errors": "next character wrong",
    "cross_entropy": "cross-entropy (nats)",
    "free_cer": "error rate, written freely",
    "cer_to_other": "the same, to the other image",
}
"""In the table -> in the summary; pairs write nothing freely."""
_MUCH = 0.3  # more errors than that nobody calls a small loss
_SOME = 0.05
_MODEL_WORDS = 20_000
_SMOOTHING = 0.5


def run(settings: Settings) -> Findings:
    """Replace the features of another set of words for every seed."""
    weights = load_weights(resolve("tiny"))
    renderer = word_renderer(weights.charset)
    count = 32 if settings.quick else 256
    model = PairModel(weights.charset, renderer.lexicon.sample(_MODEL_WORDS, seed=0))

    def measure_all(seed: int) -> Rows:
        words = distinct(renderer.batch(count, seed=2, index=seed))
        with torch.no_grad():
            features = weights.recognizer.encode(
                weights.preprocessing.normalize(words.images)
            )
        yield from ((seed, *row) for row in measure(weights, features, words.labels))
        yield seed, PAIRS, *model.score(words.labels), float("nan"), float("nan")

    table = settings.repeat(f"seed features {' '.join(_COLUMNS)}", measure_all)
    by_features = dict(zip(_SHORT, table.parts("features", *_SHORT), strict=True))
    entropy = {name: part.mean("cross_entropy") for name, part in by_features.items()}
    wrong = {name: part.values("errors") for name, part in by_features.items()}
    rises = {name: wrong[name] - wrong[INTACT] for name in ABLATED}
    least = min(rises, key=lambda name: rises[name].mean)
    summary: list[Row] = []
    for name, part in by_features.items():
        row: Row = {"features": name}
        for column, title in _COLUMNS.items():
            has_none = name == PAIRS and "cer" in column
            row[title] = "-" if has_none else part.text(column)
        summary.append(row)
    return Findings(
        table=table,
        summary=summary,
        verdict=judge(
            rises[least], min(entropy[name] for name in ABLATED), entropy[PAIRS]
        ),
        measure=f"rise of the error of the next character without the image ({least})",
        values=rises[least],
        because=(
            f"With the image {wrong[INTACT].text(2)} of the next characters are "
            f"wrong, without it (zeros) {wrong[ZEROS].text(2)}, at "
            f"{entropy[ZEROS]:.2f} nats where pairs of characters give "
            f"{entropy[PAIRS]:.2f}. With another image the decoder writes that one: "
            f"error rate {by_features[OTHER].text('cer_to_other', 2)} to its label, "
            f"{by_features[OTHER].text('free_cer', 2)} to the own one."
        ),
        draw=lambda figure: _draw(figure, table),
        surprises={
            f"A wrong image is worse than none: {entropy[OTHER]:.1f} nats for each "
            f"character against {entropy[ZEROS]:.1f}.": entropy[OTHER] > entropy[ZEROS]
        },
    )


class PairModel:
    """A language model that knows one character before: the counts of pairs, smoothed.

    The start and the end share the id after those of the characters.
    """

    def __init__(self, charset: Charset, words: Sequence[str]) -> None:
        self.end = len(charset)
        before, after = self._pairs(charset.encode_batch(words))
        counts = torch.full(
            (self.end + 1, self.end + 1),
            _SMOOTHING,
            dtype=torch.float64,
        )
        counts.index_put_(
            (before, after),
            torch.ones(len(before)).double(),
            accumulate=True,
        )
        self.log_shares = (counts / counts.sum(1, keepdim=True)).log()

    def score(self, labels: Labels) -> tuple[float, float]:
        """Errors and cross-entropy for each next character, the end included."""
        before, after = self._pairs(labels)
        scores = self.log_shares[before]
        wrong = (scores.argmax(1) != after).double().mean()
        return float(wrong), float(-scores.gather(1, after[:, None]).mean())

    def _pairs(self, labels: Labels) -> tuple[Tensor, Tensor]:
        edge = labels.new_full((len(labels), 1), self.end)
        ids = torch.cat([edge, labels, edge - self.end - 1], 1)
        ends = (ids == -1).long().argmax(1)
        ids[torch.arange(len(ids)), ends] = self.end
        before = ids[:, :-1]
        after = ids[:, 1:]
        kept = after >= 0
        return before[kept], after[kept]


@torch.no_grad()
def measure(weights: WeightsFile, features: Tokens, labels: Labels) -> Rows:
    """For each ablation: its name, errors, cross-entropy, and CER to the own and another label."""
    decoder = weights.recognizer.decoder
    assert isinstance(decoder, AutoregressiveDecoder)
    texts = [weights.charset.decode(ids) for ids in labels.tolist()]
    others = texts[-1:] + texts[:-1]
    ablations = {
        INTACT: features,
        ZEROS: torch.zeros_like(features),
        MEAN: features.mean(0, keepdim=True).expand_as(features),
        OTHER: features.roll(1, 0),
    }
    for name, given in ablations.items():
        scores = decoder.logits(given, labels)
        targets = decoder.targets(labels)
        known = targets != PADDING
        errors = float((scores.argmax(-1) != targets)[known].double().mean())
        entropy = float(decoder.cross_entropy(scores, targets))
        ids = generate(decoder, given).labels.tolist()
        written = [weights.charset.decode(row) for row in ids]
        yield name, errors, entropy, cer(written, texts), cer(written, others)


def judge(rise: Values, entropy: float, pair_entropy: float) -> Verdict:
    """From how much the errors rise without the image, and how good the guesses still are."""
    # Well below pairs of characters, something of the image must still come through.
    clearly = rise.low > _MUCH and entropy > 0.7 * pair_entropy
    return Verdict.graded(clearly or (rise.mean > _SOME and rise.low > 0), clearly)


def _draw(figure: Figure, table: Table) -> None:
    colors = dict(zip(_SHORT.values(), (*COLORS[:4], MUTED), strict=True))
    wrong, surprised = panels(figure, ["next character wrong", "how surprised it is"])
    drawn = ((wrong, "errors", 100), (surprised, "cross_entropy", 1))
    for axes, column, scale in drawn:
        groups = {}
        for name, label in _SHORT.items():
            values = table.values(column, features=name)
            groups[label] = [scale * value for value in values]
        draw_bars(axes, groups, colors)
        axes.set_xlabel("what cross-attention gets")
    wrong.set_ylabel("share (%)")
    surprised.set_ylabel("cross-entropy (nats)")
