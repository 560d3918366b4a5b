from itertools import product

import numpy as np
import pytest
import torch

from vit_str.characters.charset import PADDING
from vit_str.decoding.ctc import collapse
from vit_str.models import CtcDecoder
from vit_str.models.decoders.ctc import _ctc_in_one_piece, ctc_by_column, ctc_loss
from vit_str.torch_runtime.engine import generate

BLANK = 2
COLUMNS = 4


def spelled(path: tuple[int, ...]) -> list[int]:
    kept = [
        symbol
        for place, symbol in enumerate(path)
        if place == 0 or path[place - 1] != symbol
    ]
    return [symbol for symbol in kept if symbol != BLANK]


def all_ways(probabilities: torch.Tensor) -> list[tuple[list[int], float]]:
    """Every way through the columns: what it spells and how probable it is."""
    ways = product(range(BLANK + 1), repeat=COLUMNS)
    return [
        (
            spelled(way),
            float(
                torch.stack(
                    [p[s] for p, s in zip(probabilities, way, strict=True)]
                ).prod()
            ),
        )
        for way in ways
    ]


@pytest.fixture
def scores() -> torch.Tensor:
    return torch.randn(
        5, COLUMNS, BLANK + 1, generator=torch.Generator().manual_seed(0)
    ).double()


def test_the_loss_is_that_of_all_ways_to_spell_the_labels(scores):
    labels = [[0, 1], [1], [0, 0], [], [1, 1]]
    padded = torch.tensor([label + [PADDING] * (2 - len(label)) for label in labels])
    expected = 0.0
    for row, label in zip(scores.softmax(-1), labels, strict=True):
        expected -= torch.tensor(
            sum(p for way, p in all_ways(row) if way == label)
        ).log()
    torch.testing.assert_close(ctc_loss(scores, padded).item(), float(expected) / 7)


def test_words_that_do_not_fit_do_not_count():
    assert ctc_loss(torch.randn(1, 2, 3), torch.tensor([[0, 0, 1]])) == 0


def test_ways_are_collapsed_like_one_by_one():
    paths = np.array(list(product(range(BLANK + 1), repeat=COLUMNS)))
    scores = np.eye(BLANK + 1)[paths]
    for path, label in zip(
        paths.tolist(), collapse(scores, COLUMNS).tolist(), strict=True
    ):
        assert [symbol for symbol in label if symbol != PADDING] == spelled(tuple(path))


def test_a_word_is_as_probable_as_its_loss_says():
    torch.manual_seed(0)
    decoder = CtcDecoder(charset_size=5, dim=16, maximum_length=9).eval()
    torch.nn.init.normal_(decoder.classify.weight)
    features = torch.randn(20, 12, 16)
    hypotheses = generate(decoder, features)
    assert hypotheses.labels.shape[1] > 3
    for row, confidence in enumerate(hypotheses.word_confidences):
        label = hypotheses.labels[row]
        label = label[label != PADDING][None]
        loss = decoder.loss(features[row : row + 1], label) * label.shape[1]
        assert confidence.item() == pytest.approx(loss.neg().exp().item(), rel=1e-4)


def test_labels_are_cut_at_the_longest_length():
    decoder = CtcDecoder(charset_size=5, dim=16, maximum_length=2).eval()
    torch.nn.init.normal_(decoder.classify.weight)
    assert generate(decoder, torch.randn(20, 12, 16)).labels.shape == (20, 2)


def test_compiled_it_is_one_graph_with_the_same_gradient(without_shape_checks):
    """Of labels of several lengths, with repeats, one that cannot be spelled, and an empty one."""
    torch.manual_seed(0)
    labels = torch.tensor(
        [[1, 2, 2, 0, 3], [1, 1, 1, 1, 1], [3] + [PADDING] * 4, [PADDING] * 5]
    )
    scores = torch.randn(4, 7, 6, requires_grad=True)
    expected = ctc_loss(scores, labels)
    (gradient,) = torch.autograd.grad(2 * expected, scores)
    compiled = torch.compile(ctc_loss, backend="aot_eager", fullgraph=True)
    found = compiled(scores, labels)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(torch.autograd.grad(2 * found, scores)[0], gradient)
    assert gradient[1].abs().sum() == 0, "what cannot be spelled teaches nothing"


def test_the_compiler_is_told_the_strides_that_the_gradient_has():
    """Of columns before images, as `ctc_loss` gives them; on a GPU it stops where they differ."""
    torch.manual_seed(0)
    scores = torch.randn(4, 7, 6, requires_grad=True)
    by_column = scores.log_softmax(-1).transpose(0, 1)
    labels = torch.tensor([[1, 2, 2], [1, 1, 1], [3, 0, 0], [0, 0, 0]])
    columns = torch.full((4,), 7)
    lengths = torch.tensor([3, 3, 1, 0])
    torch.library.opcheck(
        _ctc_in_one_piece, (by_column.detach(), labels, columns, lengths, 5)
    )


@pytest.mark.parametrize("columns", [1, 2, 7, 32])
def test_column_by_column_it_is_the_loss_of_torch(columns):
    """Of labels of several lengths, with repeats, some that cannot be spelled, and empty ones."""
    generator = torch.Generator().manual_seed(columns)
    scores = torch.randn(40, columns, 6, generator=generator)
    lengths = torch.randint(6, (40,), generator=generator)
    labels = torch.randint(5, (40, 5), generator=generator)
    labels[torch.arange(5) >= lengths[:, None]] = PADDING
    scores.requires_grad_()
    expected = ctc_loss(scores, labels)
    (gradient,) = torch.autograd.grad(expected, scores)
    by_column = scores.log_softmax(-1).transpose(0, 1)
    texts = labels.clamp(min=0)
    total, of_logarithms = ctc_by_column(by_column.detach(), texts, lengths, 5)
    (found,) = torch.autograd.grad(by_column, scores, of_logarithms / lengths.sum())
    torch.testing.assert_close(total / lengths.sum(), expected)
    torch.testing.assert_close(found, gradient)
    assert of_logarithms.is_contiguous()


def test_column_by_column_there_may_be_no_text_at_all():
    scores = torch.randn(3, 4, 6)
    by_column = scores.log_softmax(-1).transpose(0, 1)
    texts = torch.zeros(3, 0, dtype=torch.int64)
    total, gradient = ctc_by_column(by_column, texts, torch.zeros(3).long(), 5)
    torch.testing.assert_close(total, -by_column[:, :, 5].sum())
    torch.testing.assert_close(gradient[:, :, 5], -torch.ones(4, 3))
    assert not gradient[:, :, :5].any()
