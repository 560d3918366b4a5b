import pytest
import torch

from vit_str.pages.style import figure, styled
from vit_str.models.blocks import EncoderBlock
from studies.block_variants import VARIANTS, Layers, Stack, token_cosine
from studies.residual_norm import DEPTHS, _findings, gradient_ratio, judge, probed
from studies.study import Verdict


def copied(variant: str) -> tuple[Stack, dict[str, torch.Tensor]]:
    """One block and its weights."""
    torch.manual_seed(0)
    stack = Stack(1, 8, 2, variant)
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


def test_unknown_variants_are_refused():
    with pytest.raises(ValueError, match="known are pre-norm"):
        Stack(1, 8, 2, "sandwich")


def test_cosine_of_tokens():
    same = torch.ones(1, 3, 4, dtype=torch.float64)
    assert token_cosine(same) == pytest.approx(1)
    assert token_cosine(same * 1e-200) == pytest.approx(1)
    assert token_cosine(torch.eye(4, dtype=torch.float64)[None]) == pytest.approx(0)


def test_tokens_collapse_without_residuals_only():
    found = {variant: probed(variant, 6, 0) for variant in VARIANTS}
    assert all(len(layers.cosine) == len(layers.gradient) == 6 for layers in found.values())
    assert found["no residual"].cosine[-1] > 0.99
    assert found["neither"].cosine[-1] > 0.99
    assert found["pre-norm"].cosine[-1] < 0.7
    assert found["pre-norm"] == probed("pre-norm", 6, 0)
    assert gradient_ratio(found["neither"]) < gradient_ratio(found["pre-norm"])


def test_gradient_ratio_is_a_decimal_logarithm():
    assert gradient_ratio(Layers([0, 0], [0.01, 1.0])) == pytest.approx(-2)


def test_verdicts():
    def verdict(bare: float, unnormed: float) -> Verdict:
        return judge([{"pre-norm": 0.9, "no residual": bare, "no norm": unnormed}] * 3)

    assert verdict(0.1, 0.5) is Verdict.SUPPORTED
    assert verdict(0.1, 0.9) is Verdict.PARTLY
    assert verdict(0.9, 0.9) is Verdict.NOT_SUPPORTED


def test_one_table_and_a_figure():
    layers = {(v, d): Layers([0.5] * d, [1.0] * d) for v in VARIANTS for d in DEPTHS}
    findings = _findings([layers] * 2, [dict.fromkeys(VARIANTS, 0.5)] * 2, 6, 100)
    assert len({tuple(row) for row in findings.rows}) == 1
    assert len({tuple(row) for row in findings.summary}) == 1
    with styled():
        sheet = figure(7.5, 3)
        findings.draw(sheet)
        sheet.canvas.draw()
