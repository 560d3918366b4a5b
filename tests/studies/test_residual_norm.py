import pytest
import torch
from matplotlib.figure import Figure

from studies import residual_norm
from studies.study import Table, Verdict
from vit_str.models.blocks import EncoderBlock


def copied(variant: str) -> tuple[residual_norm.Stack, dict[str, torch.Tensor]]:
    """One block and its weights."""
    torch.manual_seed(0)
    stack = residual_norm.Stack(1, 8, 2, variant)
    return stack, dict(stack.blocks[0].state_dict())


def test_pre_norm_is_the_block_of_the_project():
    stack, weights = copied("pre-norm")
    names = {
        ("0", "before"): "attention_norm",
        ("0", "part"): "attention",
        ("1", "before"): "feed_forward_norm",
        ("1", "part"): "feed_forward",
    }
    block = EncoderBlock(8, 2, 2.0, 0.0)
    renamed = {}
    for name, value in weights.items():
        layer, part, rest = name.split(".", 2)
        renamed[f"{names[layer, part]}.{rest}"] = value
    block.load_state_dict(renamed)
    x = torch.randn(2, 5, 8)
    torch.testing.assert_close(stack(x), stack.norm(block(x)))


def test_the_other_variants_are_their_formulas():
    x = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(1))
    formulas = {
        "post-norm": lambda part, norm, x: norm(x + part(x)),
        "no norm": lambda part, _norm, x: x + part(x),
        "no residual": lambda part, norm, x: part(norm(x)),
        "neither": lambda part, _norm, x: part(x),
    }
    for variant, formula in formulas.items():
        stack, _ = copied(variant)
        expected = x
        for layer in stack.blocks[0]:
            norm = layer.after if variant == "post-norm" else layer.before
            expected = formula(layer.part, norm, expected)
        torch.testing.assert_close(stack(x), stack.norm(expected))


def test_cosine_of_tokens():
    same = torch.ones(1, 3, 4, dtype=torch.float64)
    assert residual_norm.token_cosine(same) == pytest.approx(1)
    assert residual_norm.token_cosine(same * 1e-200) == pytest.approx(1)
    assert residual_norm.token_cosine(torch.eye(4, dtype=torch.float64)[None]) == pytest.approx(0)


def test_tokens_collapse_without_residuals_only():
    last = {}
    for variant in residual_norm.VARIANTS:
        rows = residual_norm.measure(variant, 6, 0)
        cosines = [row["value"] for row in rows if row["measure"] == "cosine"]
        assert len(cosines) == len(rows) / 2 == 6
        last[variant] = cosines[-1]
    assert min(last["no residual"], last["neither"]) > 0.99
    assert last["pre-norm"] < 0.7
    assert rows == residual_norm.measure(residual_norm.VARIANTS[-1], 6, 0)


@pytest.mark.parametrize(
    ("bare", "unnormed", "verdict"),
    [
        (0.1, 0.5, Verdict.SUPPORTED),
        (0.1, 0.9, Verdict.PARTLY),
        (0.9, 0.9, Verdict.NOT_SUPPORTED),
    ],
)
def test_the_verdict_follows_the_accuracies(bare, unnormed, verdict):
    right = dict.fromkeys(residual_norm.VARIANTS, 0.9) | {"no residual": bare, "no norm": unnormed}
    rows = [
        (variant, depth, block, residual_norm.measure, value)
        for variant in residual_norm.VARIANTS
        for depth in residual_norm.DEPTHS
        for block in range(1, depth + 1)
        for residual_norm.measure, value in (("cosine", 0.5), ("log10 gradient", block / 10))
    ] + [(variant, 6, 6, "accuracy", right[variant]) for variant in residual_norm.VARIANTS]
    columns = ("variant", "depth", "block", "measure", "value")
    table = Table(
        {"seed": s} | dict(zip(columns, row, strict=True)) for s in range(2) for row in rows
    )
    assert residual_norm.gradient_ratios(table, "neither") == pytest.approx([-2.3] * 2)
    found = residual_norm.findings(table, 6, 100)
    assert found.verdict is verdict
    found.draw(Figure())
