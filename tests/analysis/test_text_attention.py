"""Where the text of vision-language models looks: small random ones against their own maps."""

from typing import Any

import pytest
import torch
from torch import Tensor

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.load import encoder_of
from vit_str.analysis.libraries.text_attention import TextAttention, text_attention

transformers = pytest.importorskip("transformers")

VISION = {
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 48,
    "image_size": 32,
    "patch_size": 8,
}
TEXT = {
    "vocab_size": 40,
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 48,
    "head_dim": 6,
}
IMAGE, TOKENS = 30, 16
BEFORE, BEHIND = 2, 3  # text tokens before and behind the image


def llava(text: str = "Llama", **options: Any) -> Any:
    config = transformers.LlavaConfig(
        vision_config=transformers.CLIPVisionConfig(**VISION),
        text_config=getattr(transformers, f"{text}Config")(**TEXT),
        image_token_index=IMAGE,
        **options,
    )
    return transformers.LlavaForConditionalGeneration(config)


def paligemma() -> Any:
    config = transformers.PaliGemmaConfig(
        vision_config=transformers.SiglipVisionConfig(**VISION, vision_use_head=False),
        text_config=transformers.GemmaConfig(**TEXT),
        image_token_index=IMAGE,
        projection_dim=24,
    )
    return transformers.PaliGemmaForConditionalGeneration(config)


def inputs_of(tokens: int = TOKENS, before: int = BEFORE) -> dict[str, Tensor]:
    text = torch.randint(0, IMAGE, (2, before + tokens + BEHIND))
    text[:, before : before + tokens] = IMAGE
    mask = torch.ones_like(text)
    mask[1, 0] = int(before == 0)  # padding on the left, as before generating
    return {
        "pixel_values": torch.randn(2, 3, 32, 32),
        "input_ids": text,
        "attention_mask": mask,
    }


def sharpened(model: Any) -> Any:
    for parameter in model.parameters():  # far from even attention
        parameter.data += 0.3 * torch.randn_like(parameter)
    return model.eval()


CASES = {
    "LLaVA with Llama": (llava, {}),
    "LLaVA with Mistral": (lambda: llava("Mistral"), {}),
    "LLaVA with Qwen2": (lambda: llava("Qwen2"), {}),
    "LLaVA with the class token": (
        lambda: llava(vision_feature_select_strategy="full"),
        {"tokens": TOKENS + 1},
    ),
    "PaliGemma": (paligemma, {"before": 0}),
}


@pytest.mark.parametrize("name", CASES)
def test_against_the_maps_that_the_model_puts_out(name):
    make, options = CASES[name]
    torch.manual_seed(0)
    model, inputs = sharpened(make()), inputs_of(**options)
    end = inputs["input_ids"].shape[1] - BEHIND
    # As its processor: all but the last token attend to each other
    if name == "PaliGemma":
        inputs["token_type_ids"] = torch.zeros_like(inputs["input_ids"])
        inputs["token_type_ids"][:, -1] = 1
    model.set_attn_implementation("eager")
    with torch.no_grad():
        own = model(**inputs, output_attentions=True).attentions
    for implementation in ("eager", "sdpa"):
        model.set_attn_implementation(implementation)
        found = text_attention(model, inputs)
        assert found.grid == TokenGrid(4, 4, (8, 8))
        assert found.first == end
        assert len(found.maps) == len(own) == 2
        for one, other in zip(found.maps.values(), own, strict=True):
            expected = other[:, :, end:, end - TOKENS : end].unflatten(-1, (4, 4))
            torch.testing.assert_close(
                one, expected, atol=1e-5, rtol=1e-5, msg=implementation
            )
    assert encoder_of(model).grid == (4, 4)


def test_text_before_the_image_and_text_itself_do_not_count():
    torch.manual_seed(0)
    model, inputs = sharpened(llava()), inputs_of()
    found = text_attention(model, inputs)
    for shares in found.shares.values():
        assert shares.shape == (2, 4, BEHIND)
        assert (shares > 0).all()
        assert (shares < 1).all()


def test_centers_and_spreads_by_hand():
    grid = TokenGrid(2, 3, (8, 4))
    maps = torch.zeros(1, 1, 3, 2, 3)
    maps[0, 0, 0, 1, 2] = 0.5  # one token, and half of the attention elsewhere
    maps[0, 0, 1, 0, 0] = maps[0, 0, 1, 0, 2] = 0.25
    maps[0, 0, 2] = 0.1
    found = TextAttention(grid, 7, {"layer": maps})
    torch.testing.assert_close(
        found.shares["layer"][0, 0], torch.tensor([0.5, 0.5, 0.6]).double()
    )
    expected = torch.tensor([[10, 12], [6, 4], [6, 8]]).double()
    torch.testing.assert_close(found.centers["layer"][0, 0], expected)
    even = (2 * 4 + 4 * (16 + 16) ** 0.5) / 6
    expected = torch.tensor([0, 4, even]).double()
    torch.testing.assert_close(found.spreads["layer"][0, 0], expected)
    assert found.uniform_spread == pytest.approx(even)
    frame = found.to_frame()
    assert frame["position"].tolist() == [7, 8, 9]
    assert frame.iloc[1][["layer", "head", "x", "y", "spread"]].tolist() == [
        1,
        1,
        6,
        4,
        4,
    ]


def test_readers_with_cross_attention():
    torch.manual_seed(0)
    vision = transformers.ViTConfig(**VISION | {"image_size": (32, 48)})
    sizes = {"d_model": 24, "decoder_layers": 2, "decoder_attention_heads": 3}
    text = transformers.TrOCRConfig(
        **sizes, vocab_size=20, cross_attention_hidden_size=24
    )
    join = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs
    model = transformers.VisionEncoderDecoderModel(join(vision, text)).eval()
    inputs = {"pixel_values": torch.randn(2, 3, 32, 48)}
    inputs["decoder_input_ids"] = torch.tensor([[1, 5, 6], [1, 7, 8]])
    found = text_attention(model, inputs)
    assert (found.grid, found.first) == (TokenGrid(4, 6, (8, 8), 1), 0)
    assert [maps.shape for maps in found.maps.values()] == [(2, 3, 3, 4, 6)] * 2
    assert len(found.to_frame()) == 2 * 2 * 3 * 3


@pytest.mark.parametrize("decoder", ["TrOCR", "MBart"])
def test_padding_of_the_text_is_not_looked_at(decoder):
    torch.manual_seed(0)
    vision = transformers.ViTConfig(**VISION | {"image_size": (32, 48)})
    sizes = {"d_model": 24, "decoder_layers": 2, "decoder_attention_heads": 3}
    text = getattr(transformers, f"{decoder}Config")(
        **sizes, vocab_size=20, cross_attention_hidden_size=24, pad_token_id=0
    )
    join = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs
    model = sharpened(transformers.VisionEncoderDecoderModel(join(vision, text)))
    inputs = {"pixel_values": torch.randn(2, 3, 32, 48)}
    inputs["decoder_input_ids"] = torch.tensor([[1, 5, 6, 9], [0, 0, 1, 7]])
    mask = torch.tensor([[1, 1, 1, 1], [0, 0, 1, 1]])
    inputs["decoder_attention_mask"] = mask
    model.set_attn_implementation("eager")
    with torch.no_grad():
        own = model(**inputs, output_attentions=True).cross_attentions
    found = text_attention(model, inputs)
    assert len(found.maps) == len(own) == 2
    for one, other in zip(found.maps.values(), own, strict=True):
        expected = other[..., -24:].unflatten(-1, (4, 6))
        torch.testing.assert_close(one, expected, atol=1e-5, rtol=1e-5)


def test_a_model_that_merges_tokens_needs_its_grid():
    torch.manual_seed(0)
    config = transformers.Qwen2VLConfig(
        vision_config={"depth": 1, "embed_dim": 24, "hidden_size": 24, "num_heads": 2}
        | {"patch_size": 4, "spatial_merge_size": 2, "in_channels": 3, "mlp_ratio": 2},
        text_config=TEXT
        | {
            "rope_scaling": {
                "type": "mrope",
                "rope_type": "default",
                "mrope_section": [1, 1, 1],
            }
        },
        image_token_id=IMAGE,
        vision_start_token_id=28,
    )
    model = sharpened(transformers.Qwen2VLForConditionalGeneration(config))
    inputs = inputs_of(6)
    inputs["input_ids"][:, BEFORE - 1] = 28
    inputs["mm_token_type_ids"] = (inputs["input_ids"] == IMAGE).int()
    inputs["pixel_values"] = torch.randn(2 * 4 * 6, 3 * 2 * 4 * 4)
    inputs["image_grid_thw"] = torch.tensor([[1, 4, 6]] * 2)
    with pytest.raises(ValueError, match="give grid=TokenGrid"):
        text_attention(model, inputs)
    found = text_attention(model, inputs, TokenGrid(2, 3, (8, 8)))
    model.set_attn_implementation("eager")
    with torch.no_grad():
        own = model(**inputs, output_attentions=True).attentions
    for one, other in zip(found.maps.values(), own, strict=True):
        expected = other[:, :, -BEHIND:, BEFORE : BEFORE + 6].unflatten(-1, (2, 3))
        torch.testing.assert_close(one, expected, atol=1e-5, rtol=1e-5)


def test_what_is_not_one_image_for_each_text_is_refused():
    torch.manual_seed(0)
    model, inputs = llava().eval(), inputs_of()
    with pytest.raises(
        ValueError, match="15 image tokens, but the vision encoder has 4 x 4"
    ):
        text_attention(model, inputs_of(15))
    text = inputs["input_ids"]
    with pytest.raises(ValueError, match="no image tokens"):
        text_attention(model, inputs | {"input_ids": torch.zeros_like(text)})
    moved = torch.stack([text[0], text[1].roll(1)])
    with pytest.raises(ValueError, match="one text at a time"):
        text_attention(model, inputs | {"input_ids": moved})
    with pytest.raises(ValueError, match="no text follows"):
        text_attention(model, inputs | {"input_ids": text[:, :-BEHIND]})
