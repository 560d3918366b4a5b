"""Is the Transformer a sequence-to-sequence model: an encoder that reads, a decoder that writes?"""

from collections.abc import Mapping, Sequence

import torch
from matplotlib.figure import Figure
from torch import Tensor

from studies.drawing import draw_bars, panels
from studies.reading import same_labels
from studies.sequences import TextTransformer, Translator
from studies.spoken import SYMBOLS, Languages, dates, ids_of, numbers
from studies.study import Findings, Rows, Settings, Values, Verdict
from studies.training import Labels, Tokens, fit_warm, seeded
from vit_str.models import TransformerDecoder
from vit_str.models.decoders.autoregressive import AutoregressiveDecoder
from vit_str.runtime.search import padded, search
from vit_str.torch_runtime.engine import TorchSteps

GREEDY, BEAM, STRANGER = "greedy", "beam of 4", "greedy, another's features"
_WIDTHS = {GREEDY: 1, BEAM: 4, STRANGER: 1}
"""Width of the beam."""
# Who translates has nearly all right; who guesses a number of the right length has none.
_TRANSLATES, _SOME = 0.9, 0.5
_MOST_SYMBOLS = 10
_DIM, _DEPTH, _BATCH, _TESTED = 64, 2, 64, 300


def run(settings: Settings) -> Findings:
    """Train a model for numbers and one for dates with every seed."""
    digits, steps = (4, 320) if settings.quick else (6, 1500)
    table = settings.repeat(
        "direction decoding seed right of_the_other",
        lambda seed: (
            row
            for spoken in (numbers(digits), dates())
            for row in measure(spoken, steps, seed, settings.device)
        ),
    )
    right = {
        direction: {
            name: table.values("right", direction=direction, decoding=name) for name in _WIDTHS
        }
        for direction in table.levels("direction")
    }
    worst = Values(map(min, zip(*(shares[GREEDY] for shares in right.values()), strict=True)))
    strangers = max(shares[STRANGER].high for shares in right.values())
    others = min(table.mean("of_the_other", direction=way, decoding=STRANGER) for way in right)
    return Findings(
        table=table,
        summary=[
            {"direction": direction} | {name: values.text() for name, values in shares.items()}
            for direction, shares in right.items()
        ],
        verdict=judge(worst, strangers),
        measure=(
            "share of held-out texts translated without a mistake, greedy, the worst direction"
        ),
        values=worst,
        because=(
            "Of texts that it never saw, greedy decoding has right: "
            + "; ".join(f"{way} {shares[GREEDY].mean:.1%}" for way, shares in right.items())
            + f". With the features of another text at most {strangers:.1%} are right, and that "
            f"other one is written in {others:.1%} of the cases or more: what is written comes "
            "from what the encoder read."
        ),
        draw=lambda figure: _draw(figure, right),
    )


def learn(spoken: Languages, steps: int, device: str = "cpu") -> tuple[Translator, set[str]]:
    """A translator of both directions, by torch's generator, and the symbols that it has seen."""
    symbols: set[str] = set()
    model = Translator(
        TextTransformer(len(SYMBOLS), _DIM, _DEPTH, 4, _MOST_SYMBOLS),
        TransformerDecoder(len(SYMBOLS), _DIM, _DEPTH, 4, _MOST_SYMBOLS, positions="sinusoidal"),
    ).to(device)

    def loss() -> Tensor:
        drawn = spoken.draw_training(_BATCH)
        half = _BATCH // 2
        words, digits = list(map(spoken.words, drawn)), list(map(spoken.digits, drawn))
        symbols.update(*words, *digits)
        sources = ids_of(words[:half] + digits[half:]).to(device)
        return model.loss(sources, ids_of(digits[:half] + words[half:]).to(device))

    fit_warm(model, loss, steps, 3e-3)
    return model.eval(), symbols


def measure(spoken: Languages, steps: int, seed: int, device: str = "cpu") -> Rows:
    """Share of held-out texts that a trained model translates without a mistake."""
    with seeded(seed):
        model, trained = learn(spoken, steps, device)
    with seeded(1_000_000 + seed):
        tested = spoken.draw_tests(_TESTED)
    check_tests(spoken, tested, trained)
    words, digits = (ids_of(list(map(f, tested))).to(device) for f in (spoken.words, spoken.digits))
    pairs = {"words to digits": (words, digits), "digits to words": (digits, words)}
    for direction, (sources, labels) in pairs.items():
        with torch.no_grad():
            features = model.encoder(sources)
        for decoding, width in _WIDTHS.items():
            given = features.roll(1, 0) if decoding == STRANGER else features
            written = write(model.decoder, given, width)
            right = same_labels(written, labels).float().mean().item()
            other = same_labels(written, labels.roll(1, 0)).float().mean().item()
            yield f"{spoken.things}, {direction}", decoding, seed, right, other


def write(decoder: AutoregressiveDecoder, features: Tokens, width: int) -> Labels:
    """The most probable texts that a beam of this width finds; 1 is greedy."""
    steps = TorchSteps(decoder, features)
    found = search(steps, len(features), decoder.end, decoder.maximum_length, width=width)
    return torch.from_numpy(padded([texts[0].ids for texts in found])).to(features.device)


def check_tests(spoken: Languages, tested: Sequence[int], trained: set[str]) -> None:
    """See that no text is tested twice, and no symbol that did not occur in training."""
    assert len(set(tested)) == len(tested), f"{spoken.things} are tested more than once"
    symbols = {s for thing in tested for s in (*spoken.words(thing), *spoken.digits(thing))}
    assert symbols <= trained, f"tested, but not trained on: {sorted(symbols - trained)}"


def judge(right: Values, strangers: float) -> Verdict:
    """From the share that is right, and that with the features of another text."""
    some = right.low > _SOME and strangers <= right.low / 10
    return Verdict.graded(some, right.low > _TRANSLATES)


def _draw(figure: Figure, right: Mapping[str, Mapping[str, list[float]]]) -> None:
    titles = [direction.capitalize() for direction in right]
    for axes, shares in zip(panels(figure, titles, width=3.4), right.values(), strict=True):
        draw_bars(axes, {name.replace(", ", ",\n"): values for name, values in shares.items()})
        axes.set(ylim=(0, 1), ylabel="share of held-out texts right")
