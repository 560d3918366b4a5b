"""The reader's loop against the decoders' own, and against trying every text."""

from collections.abc import Sequence
from itertools import groupby, product
from typing import Any

import numpy as np
import pytest
import torch

from vit_str.characters.charset import PADDING, Charset
from vit_str.decoding.beam_search import ScoreSteps, beam_search, log_softmax
from vit_str.decoding.constraints import Pattern, PatternTooSlow
from vit_str.decoding.ctc import CtcSteps
from vit_str.decoding.readings import Reading
from vit_str.decoding.search import Search
from vit_str.engines.labels import teacher_forcing_scores
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import (
    CtcDecoder,
    Decoder,
    ParallelDecoder,
    PermutedDecoder,
    Recognizer,
    RecurrentDecoder,
    RecurrentEncoder,
    TransformerDecoder,
    VisionTransformer,
)
from vit_str.torch_runtime.engine import TorchSteps, generate
from vit_str.torch_runtime.weights_file import WeightsFile
from vit_str.words.reader import Reader

CHARACTERS = "abcdefgh12"
LONGEST = 4
DECODERS = {
    "transformer": lambda: TransformerDecoder(
        10, dim=32, heads=2, maximum_length=LONGEST
    ),
    "drafts": lambda: TransformerDecoder(
        10, dim=32, heads=2, maximum_length=LONGEST, draft_grid=(4, 8)
    ),
    "permuted": lambda: PermutedDecoder(10, dim=32, heads=2, maximum_length=LONGEST),
    "at once": lambda: PermutedDecoder(
        10, dim=32, heads=2, maximum_length=LONGEST, decoding="parallel", refinements=2
    ),
    "recurrent": lambda: RecurrentDecoder(10, dim=32, maximum_length=LONGEST),
    "parallel": lambda: ParallelDecoder(10, dim=32, maximum_length=LONGEST),
    "ctc": lambda: CtcDecoder(10, dim=32, maximum_length=LONGEST),
}


def weights_of(decoder: Decoder, temperature: float = 1.3) -> WeightsFile:
    encoder = VisionTransformer(dim=32, depth=1, heads=2, patch_size=(8, 16))
    recognizer = Recognizer(
        RecurrentEncoder(encoder) if isinstance(decoder, CtcDecoder) else encoder,
        decoder,
    )
    torch.nn.init.normal_(decoder.classify.weight)
    decoder.classify.bias.data[-1] = -3.0  # type: ignore[union-attr]  # of the end or the blank
    for name, parameter in decoder.named_parameters():
        if "cross_attention" in name:
            parameter.data.mul_(10)  # images are told apart
    return WeightsFile(
        recognizer.eval(), Charset(CHARACTERS), Preprocessing(), {}, temperature
    )


@pytest.fixture(params=DECODERS)
def weights(request) -> WeightsFile:
    torch.manual_seed(0)
    return weights_of(DECODERS[request.param]())


@pytest.fixture
def pixels() -> np.ndarray:
    coarse = np.random.default_rng(0).integers(256, size=(12, 3, 4, 8), dtype=np.uint8)
    return coarse.repeat(8, 2).repeat(16, 3)


def read(weights: WeightsFile, pixels: np.ndarray, **options: object) -> list[Reading]:
    reader = Reader(weights, "cpu", torch.float32, search=Search(**options))
    return reader.read_pixels(pixels)


def features(weights: WeightsFile, pixels: np.ndarray) -> torch.Tensor:
    return weights.recognizer.encode(
        weights.preprocessing.normalize(torch.from_numpy(pixels))
    )


@torch.no_grad()
def test_reading_is_what_the_decoder_generates(weights, pixels):
    found = generate(
        weights.recognizer.decoder, features(weights, pixels), weights.temperature
    )
    readings = read(weights, pixels)
    for reading, ids, confidences, word in zip(
        readings, found.labels, found.confidences, found.word_confidences, strict=True
    ):
        assert reading.text == weights.charset.decode(ids.tolist())
        assert reading.confidence == pytest.approx(word.item(), rel=1e-4)
        expected = confidences[: len(reading.text)].tolist()
        assert [c.confidence for c in reading.characters] == pytest.approx(
            expected, rel=1e-4
        )
    assert len({reading.text for reading in readings}) > 1


@pytest.mark.parametrize("name", ["transformer", "permuted", "recurrent"])
@torch.no_grad()
def test_a_beam_as_wide_as_all_texts_finds_the_best(name):
    torch.manual_seed(0)
    sizes = {"dim": 16, "maximum_length": 3}
    decoder = {
        "transformer": lambda: TransformerDecoder(4, depth=2, heads=2, **sizes),
        "permuted": lambda: PermutedDecoder(4, heads=2, refinements=0, **sizes),
        "recurrent": lambda: RecurrentDecoder(4, **sizes),
    }[name]()
    for part, parameter in decoder.eval().named_parameters():
        parameter.data.mul_(3 if parameter.ndim > 1 else 1)
        # Images are told apart
        parameter.data.mul_(3 if "cross_attention" in part else 1)
    decoder.classify.bias.data[decoder.end] -= 1  # longer texts
    seen = torch.randn(30, 5, 16)
    best = torch.full((30,), -torch.inf)
    for text in (
        text for length in range(4) for text in product(range(4), repeat=length)
    ):
        ids = torch.tensor([text], dtype=torch.int64).expand(30, -1)
        scores = decoder.logits(seen, ids).log_softmax(-1)
        end = scores[:, -1, decoder.end]
        if len(text) == 3:  # cut, and something else than the end would follow
            end = end.where(scores[:, -1].argmax(-1) == decoder.end, 0)
        best = best.maximum(scores[:, :-1].gather(2, ids[:, :, None]).sum((1, 2)) + end)
    wide, narrow = (
        beam_search(TorchSteps(decoder, seen), 30, 4, 3, beam_width=width)
        for width in (5**3, 3)
    )
    assert [each[0].confidence for each in wide] == pytest.approx(
        best.exp().tolist(), rel=1e-4
    )
    for texts in narrow:
        surest = [text.confidence for text in texts]
        assert surest == sorted(surest, reverse=True)
        assert len({text.ids for text in texts}) == 3
    assert len({texts[0].ids for texts in narrow}) > 3


def test_texts_far_behind_the_best_are_dropped():
    scores = np.random.default_rng(0).normal(scale=2.0, size=(8, 4, 6))
    options: dict[str, Any] = {"count": 8, "end": 5, "longest": 3, "beam_width": 5}
    every = beam_search(ScoreSteps(scores), **options)
    assert beam_search(ScoreSteps(scores), **options, margin=100.0) == every
    near = beam_search(ScoreSteps(scores), **options, margin=1.0)
    assert 8 < sum(map(len, near)) < sum(map(len, every))
    for found in near:
        logs = np.log([each.probability for each in found])
        assert (logs >= logs[0] - 1).all()


def probability(weights: WeightsFile, pixels: np.ndarray, text: str) -> np.ndarray:
    """Of a text, for a model with scores for every step, from its own teacher forcing."""
    reader = Reader(weights, "cpu", torch.float32)
    ids = weights.charset.encode(text)
    end = len(CHARACTERS)
    labels = np.tile(ids, (len(pixels), 1))
    scores = teacher_forcing_scores(
        reader.engine.begin(reader.encode(pixels)), labels, end
    )
    logs = [log_softmax(steps.astype(float) / weights.temperature) for steps in scores]
    return np.exp([word[range(len(ids) + 1), [*ids, end]].sum() for word in logs])


@torch.no_grad()
def test_a_lexicon_gives_its_most_probable_word(pixels):
    torch.manual_seed(0)
    weights = weights_of(DECODERS["transformer"]())
    words = ["a", "ab", "abc", "bad", "cab", "fed", "gab", "h1", "21", "c"]
    expected = np.stack([probability(weights, pixels, word) for word in words]).argmax(
        0
    )
    readings = read(weights, pixels, lexicon=words, beams=len(words) * 4)
    assert [reading.text for reading in readings] == [words[best] for best in expected]
    free = read(weights, pixels)
    assert [reading.free for reading in readings] == free
    assert [reading.text for reading in readings] != [reading.text for reading in free]


def test_what_is_allowed_is_what_is_read(weights, pixels):
    """Confidences of all that is allowed sum to 1, whatever the decoder."""
    words = ["".join(word) for word in product("ab1", repeat=2)]
    for options, allowed in [
        ({"lexicon": words}, words),
        ({"pattern": "[ab1]{2}"}, words),
        ({"pattern": "..", "alphabet": "ab1"}, words),
        ({"pattern": ".*1", "alphabet": "ab1", "lexicon": words}, ["a1", "b1", "11"]),
        ({"lexicon": words, "alphabet": "1"}, ["11"]),
    ]:
        for reading in read(weights, pixels, beams=9, n_best=9, **options):
            found = {reading.text: reading.confidence}
            found |= {other.text: other.confidence for other in reading.alternatives}
            assert set(found) == set(allowed)
            assert sum(found.values()) == pytest.approx(1, rel=1e-5)
    for reading in read(weights, pixels, alphabet="12"):
        assert set(reading.text) <= {"1", "2"}


def test_where_nothing_can_be_written_there_is_no_text(weights, pixels):
    # Longer than the model writes
    for reading in read(weights, pixels, pattern="[a-h]{9}"):
        assert (reading.text, reading.confidence, reading.characters) == ("", 0.0, ())
        assert reading.free is not None


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"pattern": "[a-"}, "does not parse"),
        ({"pattern": "[x-z]+"}, "nothing that this model can write"),
        ({"lexicon": []}, "the lexicon is empty"),
        ({"lexicon": "words.txt"}, "a lexicon is a list of words, found a text"),
        (
            {"lexicon": ["ab", "axt"]},
            "holds 'xt', which the 10 characters of the model lack",
        ),
        ({"lexicon": ["abcdef"]}, "reads up to 4 characters"),
        ({"lexicon": ["ab"], "pattern": "b."}, "no word of the lexicon fits"),
        ({"alphabet": ""}, "the alphabet is empty"),
        ({"alphabet": "aß"}, "holds 'ß'"),
        ({"n_best": 0}, "n_best must be 1 or more"),
        (
            {"n_best": 10**9},
            "n_best and beams can be 1,000 at most, found 1,000,000,000",
        ),
        ({"beams": 1001}, "n_best and beams can be 1,000 at most, found 1,001"),
        ({"n_best": 3, "beams": 2}, "beams no fewer"),
    ],
)
def test_what_cannot_be_chosen(options, problem):
    with pytest.raises(ValueError, match=problem):
        Reader(weights_of(DECODERS["parallel"]()), "cpu", search=Search(**options))


def test_a_lexicon_from_a_generator_is_there_for_every_reader():
    search = Search(lexicon=(word for word in ("ab", "ba")))
    assert [*search.lexicon] == [*search.lexicon] == ["ab", "ba"]


def test_matching_that_takes_too_long_ends():
    pattern = Pattern("(a|a)*c", Charset("abc"), "abc")
    with pytest.raises(PatternTooSlow, match="takes too long; make it simpler"):
        pattern.allowed("a" * 40)  # 2 ** 40 ways


def test_ctc_gives_every_text_its_probability():
    """Against the sum over all alignments, one by one."""
    scores = np.random.default_rng(0).normal(size=(1, 4, 3))
    shares = np.exp(log_softmax(scores[0]))
    expected: dict[tuple[int, ...], float] = {}
    for way in product(range(3), repeat=4):
        text = tuple(id_ for id_, _ in groupby(way) if id_ != 2)
        expected[text] = expected.get(text, 0) + float(np.prod(shares[range(4), way]))
    found = beam_search(
        CtcSteps(scores), 1, end=2, longest=4, beam_width=len(expected)
    )[0]
    assert {each.ids: each.confidence for each in found} == pytest.approx(expected)
    assert found[0].ids == max(expected, key=lambda text: expected[text])


def test_rows_that_have_ended_cost_nothing():
    class Counted(ScoreSteps):
        rows: Sequence[int] = ()

        def step(self, symbols, position):
            self.rows = [*self.rows, len(symbols)]
            return super().step(symbols, position)

    scores = np.zeros((3, 4, 2))
    for word, length in enumerate((0, 1, 3)):
        scores[word, :length, 0], scores[word, length:, 1] = 5, 5
    steps = Counted(scores)
    found = beam_search(steps, 3, end=1, longest=3)
    assert [len(each[0].ids) for each in found] == [0, 1, 3]
    assert steps.rows == [3, 2, 1, 1]
    assert PADDING not in found[2][0].ids
