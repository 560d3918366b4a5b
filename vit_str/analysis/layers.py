"""What the layers of an encoder put out, as maps over the image."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from vit_str.analysis.libraries.encoder import LibraryEncoder
from vit_str.models import (
    ConvolutionalEncoder,
    Encoder,
    PlainConvolutionalEncoder,
    VisionTransformer,
)
from vit_str.models.attention import forward_hooks

Outputs = list[Float[Tensor, "batch dim row column"]]


def layers_of(encoder: Encoder) -> list[nn.Module]:
    """The layers of an encoder, first to last: blocks, and the steps between stages.

    Raises:
        ValueError: an encoder that is not known.
    """
    if isinstance(encoder, LibraryEncoder):
        return [block.module for block in encoder.blocks]
    if isinstance(encoder, VisionTransformer):
        return list(encoder.blocks)
    if isinstance(encoder, ConvolutionalEncoder | PlainConvolutionalEncoder):
        return [layer for stage in encoder.stages for layer in stage.children()]
    raise ValueError(
        f"{type(encoder).__name__} has no layers that are supported; give a VisionTransformer "
        "or a convolutional encoder"
    )


@contextmanager
def layer_outputs(encoder: Encoder) -> Iterator[Outputs]:
    """Collect what every layer puts out for one batch run inside the ``with``, with gradients.

    Special tokens are left out; the others lie on the rows and columns of the layer.
    """
    outputs: Outputs = []

    def keep(_name: str, _inputs: object, _named: object, output: Any) -> None:
        if isinstance(encoder, LibraryEncoder):
            output = output[0] if isinstance(output, tuple) else output
            output = encoder.as_map(len(outputs), output)
        elif output.ndim == 3:
            rows, columns = encoder.grid
            tokens = output[:, encoder.special_tokens :]
            output = rearrange(tokens, "b (row col) d -> b d row col", row=rows, col=columns)
        outputs.append(output)

    with forward_hooks({f"{i}": layer for i, layer in enumerate(layers_of(encoder))}, keep):
        yield outputs
