import pytest
import torch

from studies import Table, Verdict
from studies.distance import head_means, judge, layer_means, measure_heads, windows
from studies.reading import ANY_STRINGS, word_renderer
from vit_str.analysis.subjects import Subject
from vit_str.charset import Charset
from vit_str.images import Preprocessing
from vit_str.models import ConvolutionalEncoder, Recognizer, TransformerDecoder, VisionTransformer

DIGITS = Charset("0123456789")


def test_heads_that_look_everywhere_alike_are_on_the_chance_line() -> None:
    torch.manual_seed(0)
    encoder = VisionTransformer(16, 2, 2, (16, 24), (4, 8))
    for block in encoder.blocks:
        torch.nn.init.zeros_(block.attention.to_queries.weight)
        torch.nn.init.zeros_(block.attention.to_queries.bias)
    recognizer = Recognizer(encoder, TransformerDecoder(10, 16, 1, 2, 2)).eval()
    subject = Subject("even", recognizer, DIGITS, Preprocessing(16, 24), False)
    words = word_renderer(DIGITS, (16, 24), (4, 3), ANY_STRINGS, 2).batch(3, seed=0, index=0)
    rows = measure_heads("even", subject, words, seed=0)

    assert [(row["layer"], row["head"]) for row in rows] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert [row["share_of_uniform"] for row in rows] == pytest.approx([1.0] * 4)


def test_windows_grow_as_the_formula_says() -> None:
    # 8 wide with stride 2, then two 3 x 3 at 2 px; 4 wide at 2 px, then two 3 x 3 at 4 px.
    encoder = ConvolutionalEncoder((4, 8), (1, 1), ((2, 2), (2, 2)), (16, 24))
    assert windows(encoder) == [8, 16, 22, 38]


def test_means_are_over_heads_and_over_seeds() -> None:
    rows = [
        {"seed": seed, "system": "a", "layer": 1, "head": head, "share_of_uniform": value}
        for seed, head, value in ((0, 1, 0.2), (0, 2, 0.4), (1, 1, 0.4), (1, 2, 0.6))
    ]
    table = Table(rows)
    assert layer_means(table, "a", 1) == pytest.approx([0.3, 0.5])
    assert head_means(table, "a", 1) == pytest.approx([0.3, 0.5])


def test_the_verdict_follows_the_distances() -> None:
    assert judge([0.3, 1.0], (0.1, 0.2), [0.5, 0.6, 0.7]) is Verdict.SUPPORTED
    assert judge([0.3, 1.0], (0.1, 0.2), [0.5, 0.4, 0.7]) is Verdict.PARTLY
    assert judge([0.9, 1.0], (0.1, 0.2), [0.5, 0.6, 0.7]) is Verdict.PARTLY
    assert judge([1.0, 1.0], (-0.1, 0.1), [1.0, 1.0, 1.0]) is Verdict.NOT_SUPPORTED
