import pytest
import torch

from vit_str.analysis.similarity import LayerSimilarity, examples_of


def direct(first: torch.Tensor, second: torch.Tensor) -> float:
    """From the matrices of examples by examples, as the papers write it."""

    def criterion(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        k, l, n = x @ x.T, y @ y.T, len(x)  # noqa: E741 - the names of the papers
        k, l = k - k.diag().diag(), l - l.diag().diag()  # noqa: E741
        ones = torch.ones(n, dtype=x.dtype)
        parts = (k @ l).trace() + (ones @ k @ ones) * (ones @ l @ ones) / (
            (n - 1) * (n - 2)
        )
        return (parts - 2 / (n - 2) * (ones @ k @ l @ ones)) / (n * (n - 3))

    scale = (criterion(first, first) * criterion(second, second)).sqrt()
    return float(criterion(first, second) / scale)


def make_layers(examples: int = 30) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    first = torch.randn(examples, 6, generator=generator, dtype=torch.float64) + 5
    mixed = first @ torch.randn(6, 4, generator=generator, dtype=torch.float64)
    second = mixed + torch.randn(examples, 4, generator=generator, dtype=torch.float64)
    third = (
        torch.randn(examples, 9, generator=generator, dtype=torch.float64) * 100 - 1000
    )
    return [first, second, third]


def test_batches_give_what_the_matrices_of_the_paper_give():
    layers = make_layers()
    stream = LayerSimilarity()
    for start, end in ((0, 7), (7, 8), (8, 30)):
        stream.update([layer[start:end] for layer in layers])
    found = stream.cka()
    for i, first in enumerate(layers):
        for j, second in enumerate(layers):
            expected = direct(first - first.mean(0), second - second.mean(0))
            assert float(found[i, j]) == pytest.approx(expected, abs=1e-9)


def test_tokens_pair_up_on_the_coarser_grid():
    fine, coarse = torch.randn(2, 3, 4, 12), torch.randn(2, 5, 2, 6)
    first, second = examples_of([fine, coarse], "tokens")
    assert first.shape == (24, 3)
    torch.testing.assert_close(first[6 + 2], fine[0, :, 2:4, 4:6].mean((1, 2)))
    torch.testing.assert_close(second[12 + 6 + 2], coarse[1, :, 1, 2])
    torch.testing.assert_close(
        examples_of([fine], "images")[0][1], fine[1].mean((1, 2))
    )


def test_too_few_examples_are_refused():
    stream = LayerSimilarity()
    stream.update([torch.randn(3, 2)] * 2)
    with pytest.raises(ValueError, match="four examples"):
        stream.cka()
