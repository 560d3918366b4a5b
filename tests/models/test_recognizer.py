"""The contract of every encoder and every decoder."""

import json
from collections.abc import Callable

import pytest
import torch

from vit_str.characters.charset import PADDING, Charset
from vit_str.models import (
    ColumnEncoder,
    ConvolutionalEncoder,
    CtcDecoder,
    Decoder,
    Encoder,
    LineTransformer,
    ParallelDecoder,
    PermutedDecoder,
    PlainConvolutionalEncoder,
    Recognizer,
    RecurrentDecoder,
    RecurrentEncoder,
    TransformerDecoder,
    VisionTransformer,
    build,
    describe,
)
from vit_str.models.attention import (
    AdditiveAttention,
    ScaledDotProductAttention,
    record_attention,
)
from vit_str.torch_runtime.engine import Hypotheses, generate

ENCODERS: dict[str, Callable[[], Encoder]] = {
    "vit": lambda: VisionTransformer(dim=24, depth=2, heads=2, patch_size=(8, 8)),
    "vit with tokens": lambda: VisionTransformer(
        dim=24, depth=1, heads=3, patch_size=(4, 16), class_token=True, registers=1
    ),
    "vit tall": lambda: VisionTransformer(
        dim=24,
        depth=1,
        heads=2,
        image_size=(48, 32),
        patch_size=(8, 4),
        positions="sinusoidal",
    ),
    "vit fine": lambda: VisionTransformer(
        dim=24, depth=1, heads=2, patch_size=(8, 8), fine_depth=1
    ),
    "line": lambda: LineTransformer(dim=24, depth=1, heads=2, image_size=(32, 128)),
    "conv": lambda: ConvolutionalEncoder(
        widths=(8, 24), depths=(1, 2), strides=((2, 4), (4, 2))
    ),
    "conv tall": lambda: ConvolutionalEncoder(
        widths=(24,), depths=(1,), strides=((4, 2),), image_size=(24, 8), reach=1
    ),
    "plain conv": lambda: PlainConvolutionalEncoder(
        widths=(6, 24), depths=(1, 2), pools=((2, 4), (16, 2))
    ),
    "conv columns": lambda: ColumnEncoder(ENCODERS["conv"]()),
    "conv rnn": lambda: RecurrentEncoder(
        ENCODERS["plain conv"](), "rnn", 1, bidirectional=False
    ),
    "conv lstm": lambda: RecurrentEncoder(ENCODERS["conv"](), "lstm", 2),
    "vit gru": lambda: RecurrentEncoder(ENCODERS["vit with tokens"](), "gru", 1),
}
DECODERS: dict[str, Callable[[], Decoder]] = {
    "transformer": lambda: TransformerDecoder(
        11, dim=24, depth=2, heads=2, maximum_length=5
    ),
    "parallel": lambda: ParallelDecoder(11, dim=24, maximum_length=5),
    "ctc": lambda: CtcDecoder(11, dim=24, maximum_length=5),
    "rnn": lambda: RecurrentDecoder(11, 24, "rnn", "none", maximum_length=5),
    "lstm with additive attention": lambda: RecurrentDecoder(
        11, 24, "lstm", "additive", maximum_length=5
    ),
    "gru with dot products": lambda: RecurrentDecoder(
        11, 24, "gru", "dot", maximum_length=5
    ),
    "permuted": lambda: PermutedDecoder(11, dim=24, heads=2, maximum_length=5),
    "permuted, parallel": lambda: PermutedDecoder(
        11, dim=24, heads=2, maximum_length=5, decoding="parallel", refinements=0
    ),
}


# They meet in the features only: every encoder with one decoder, every decoder with one encoder.
PAIRS = [(encoder, "transformer") for encoder in ENCODERS]
PAIRS += [("conv columns", decoder) for decoder in DECODERS if decoder != "transformer"]


@pytest.fixture(params=PAIRS, ids=[" + ".join(pair) for pair in PAIRS])
def recognizer(request) -> Recognizer:
    torch.manual_seed(0)
    encoder, decoder = request.param
    return Recognizer(ENCODERS[encoder](), DECODERS[decoder]()).eval()


def images_for(recognizer: Recognizer, count: int = 4) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(count, 3, *recognizer.encoder.image_size, generator=generator)


LABELS = torch.tensor([[1, 2, 3], [4, PADDING, PADDING], [10, 0, PADDING], [5, 5, 5]])


def test_features_have_the_promised_shape(recognizer):
    encoder = recognizer.encoder
    tokens = encoder.special_tokens + encoder.grid[0] * encoder.grid[1]
    assert recognizer.encode(images_for(recognizer)).shape == (4, tokens, encoder.dim)


def read(recognizer: Recognizer, images: torch.Tensor) -> Hypotheses:
    return generate(recognizer.decoder, recognizer.encode(images))


def test_loss_is_finite_and_reaches_every_parameter(recognizer):
    loss = recognizer.train().loss(images_for(recognizer), LABELS)
    assert loss.isfinite()
    loss.backward()
    for name, parameter in recognizer.named_parameters():
        if parameter.numel():
            assert parameter.grad is not None, name
            assert parameter.grad.abs().sum() > 0, name


def test_an_image_alone_reads_as_in_a_batch(recognizer):
    images = images_for(recognizer)
    together = read(recognizer, images)
    for row, image in enumerate(images):
        alone = read(recognizer, image[None])
        length = alone.labels.shape[1]
        assert together.labels[row, :length].tolist() == alone.labels[0].tolist()
        torch.testing.assert_close(
            together.word_confidences[row],
            alone.word_confidences[0],
            rtol=1e-4,
            atol=1e-6,
        )


def test_recording_attention_changes_nothing(recognizer):
    images = images_for(recognizer)
    before = read(recognizer, images)
    cores = ScaledDotProductAttention | AdditiveAttention
    attending = sum(isinstance(module, cores) for module in recognizer.modules())
    if not attending:
        with (
            pytest.raises(ValueError, match="no attention"),
            record_attention(recognizer),
        ):
            pass
        return
    with record_attention(recognizer) as maps:
        during = read(recognizer, images)
    assert torch.equal(before.labels, during.labels)
    assert torch.equal(before.confidences, during.confidences)
    assert len(maps) == attending
    for calls in maps.values():
        torch.testing.assert_close(calls[0].sum(-1), torch.ones_like(calls[0][..., 0]))


def test_description_and_weights_build_the_same_model(recognizer):
    again = build(json.loads(json.dumps(describe(recognizer)))).eval()
    again.load_state_dict(recognizer.state_dict())
    images = images_for(recognizer)
    assert torch.equal(recognizer.encode(images), again.encode(images))
    assert describe(again) == describe(recognizer)


@pytest.mark.parametrize("decoder", DECODERS)
def test_eight_words_can_be_learned_by_heart(decoder):
    torch.manual_seed(0)
    charset = Charset("abcdefghijk")
    recognizer = Recognizer(
        ColumnEncoder(VisionTransformer(dim=24, depth=1, heads=2, patch_size=(16, 8))),
        DECODERS[decoder](),
    )
    words = ["a", "bad", "cafe", "gag", "head", "hah", "fed", "egg"]
    images = torch.randn(8, 3, 32, 128)
    labels = charset.encode_batch(words)
    optimizer = torch.optim.AdamW(recognizer.parameters(), lr=1e-2)
    for _ in range(250):
        optimizer.zero_grad()
        loss = recognizer.loss(images, labels)
        loss.backward()
        optimizer.step()
        if loss < 0.02:
            break
    hypotheses = read(recognizer.eval(), images)
    assert [charset.decode(row) for row in hypotheses.labels.tolist()] == words
    assert hypotheses.word_confidences.min() > 0.5


def test_parts_of_different_width_are_refused():
    with pytest.raises(ValueError, match="must be equal"):
        Recognizer(
            VisionTransformer(dim=24, depth=1, heads=2), TransformerDecoder(dim=48)
        )


def test_decoders_say_what_they_need_of_the_encoder():
    with pytest.raises(ValueError, match="put it into a ColumnEncoder"):
        Recognizer(ENCODERS["vit"](), DECODERS["ctc"]())
    with pytest.raises(
        ValueError, match="needs 66 tokens for 65 characters, the encoder has 64"
    ):
        Recognizer(ENCODERS["vit"](), ParallelDecoder(11, dim=24, maximum_length=65))


def test_unknown_parts_and_arguments_are_refused():
    description = describe(Recognizer(ENCODERS["vit"](), DECODERS["transformer"]()))
    description["encoder"]["class"] = "os.system"
    with pytest.raises(
        ValueError, match=r"known are ColumnEncoder, .*, VisionTransformer"
    ):
        build(description)
    description["encoder"] = {"class": "VisionTransformer", "arguments": {"width": 3}}
    with pytest.raises(ValueError, match="does not fit"):
        build(description)


def test_younger_arguments_stand_in_descriptions_only_if_they_say_something():
    """By its description, a model finds the graphs that were made for it before."""
    plain = describe(Recognizer(ENCODERS["vit"](), DECODERS["transformer"]()))
    fine = describe(Recognizer(ENCODERS["vit fine"](), DECODERS["transformer"]()))
    assert "fine_depth" not in plain["encoder"]["arguments"]
    assert fine["encoder"]["arguments"]["fine_depth"] == 1
