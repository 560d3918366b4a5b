"""What the layers of an encoder put out, as maps over the image."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from einops import rearrange
from jaxtyping import Float
from torch import Tensor

from vit_str.analysis.libraries.encoder import LibraryEncoder
from vit_str.models import Encoder
from vit_str.models.attention import forward_hooks

Outputs = list[Float[Tensor, "batch dim row column"]]


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

    with forward_hooks({f"{i}": layer for i, layer in enumerate(encoder.layer_modules)}, keep):
        yield outputs
