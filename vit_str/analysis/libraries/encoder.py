"""A Vision Transformer of another library as an encoder: where its tokens lie, and its blocks."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from einops import rearrange
from jaxtyping import Float, Int64, UInt8
from PIL import Image
from torch import Tensor, nn

from vit_str.analysis.geometry import TokenGrid, Windows
from vit_str.analysis.probe import Callback, Keys, Queries, ValueCallback, Values, probe
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import Encoder

Forward = Callable[[Float[Tensor, "batch channel height width"]], Tensor]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A layer with attention."""

    module: nn.Module  # of the model, whose output is that of the layer
    grid: TokenGrid  # of the tokens of the whole image in this layer
    # Rows and columns of the windows inside which tokens attend to each other; None where they
    # attend to all
    window: tuple[int, int] | None = None
    # Rows and columns by which the windows are moved down and to the right
    shift: tuple[int, int] = (0, 0)
    # If tokens attend to pooled ones, in the same pixels as ``grid``
    keys: TokenGrid | None = None
    # Whether a window holds tokens that lie evenly over the whole image
    spread: bool = False
    # Whether the module puts out channels before rows and columns
    channels_first: bool = False
    # Where the tokens of the image stand in what the module puts out, if not row by row
    order: Int64[Tensor, " token"] | None = None
    # The same of queries and of keys in their attention, inside of one window
    inside: tuple[Int64[Tensor, " query"], Int64[Tensor, " key"]] | None = None

    def __post_init__(self) -> None:
        rows, columns = self.window or (1, 1)
        if self.grid.rows % rows or self.grid.columns % columns:
            raise ValueError(
                f"{self.grid.rows} x {self.grid.columns} tokens do not divide into "
                f"windows of {rows} x {columns}: attention to padding is not supported"
            )

    def windows(self) -> Windows:
        """Which tokens attend to each other: those of one window, or all."""
        if self.keys is not None:
            return Windows.of_pooled(self.grid, self.keys, self.window)
        if self.spread and self.window:
            return Windows.of_spread(self.grid, self.window)
        return Windows.of(
            self.grid, self.window or (self.grid.rows, self.grid.columns), self.shift
        )

    def row_by_row(
        self,
        queries: Queries,
        keys: Keys,
        mask: Tensor | None,
        values: Values | None,
    ) -> tuple[Queries, Keys, Tensor | None, Values | None]:
        """Queries, keys, mask and values with the tokens of a window row by row."""
        if self.inside is None:
            return queries, keys, mask, values
        of_queries, of_keys = (order.to(queries.device) for order in self.inside)
        if mask is not None:
            mask = mask.expand(*mask.shape[:-2], len(of_queries), len(of_keys))
            mask = mask[..., of_queries, :][..., of_keys]
        if values is not None:
            values = values[..., of_keys, :]
        return queries[..., of_queries, :], keys[..., of_keys, :], mask, values


class LibraryEncoder(Encoder):
    """A Vision Transformer of timm, torchvision or transformers.

    Args:
        model: in evaluation mode.
        blocks: its layers, first to last.
        forward: from images to the features of the last layer.
        special: names of the tokens before those of the grid, such as ``class``, ``register 1``.

    Raises:
        ValueError: the model has no supported layers.
    """

    def __init__(
        self,
        model: nn.Module,
        blocks: Sequence[Block],
        forward: Forward,
        special: Sequence[str] = (),
    ) -> None:
        super().__init__()
        if not blocks:
            raise ValueError(f"{type(model).__name__} has no supported layers")
        self.model = model
        self.special = tuple(special)
        self.blocks = tuple(blocks)
        self._forward = forward
        self.training = model.training
        last = blocks[-1].grid
        self.grid = (last.rows, last.columns)
        self.special_tokens = len(self.special)
        self.image_size = (round(last.image_size[0]), round(last.image_size[1]))
        names = {id(module): name for name, module in self.named_modules()}
        self.block_names = [names[id(block.module)] for block in blocks]

    @property
    def layer_modules(self) -> list[nn.Module]:
        """The modules of the blocks."""
        return [block.module for block in self.blocks]

    @property
    def special_names(self) -> list[str]:
        """Names of the tokens before those of the grid."""
        return list(self.special)

    @property
    def windows(self) -> dict[str, Windows]:
        """Layer -> its windows; empty if in all layers the same tokens attend to each other."""
        of_its_own = (block.window or block.keys for block in self.blocks)
        if not any(of_its_own) and len({block.grid for block in self.blocks}) == 1:
            return {}
        made: dict[Hashable, Windows] = {}  # one for all layers that are alike
        windows = {}
        for name, block in zip(self.block_names, self.blocks, strict=True):
            kind = block.grid, block.window, block.shift, block.keys, block.spread
            if kind not in made:
                made[kind] = block.windows()
            windows[name] = made[kind]
        return windows

    def forward(self, images: Float[Tensor, "batch channel height width"]) -> Tensor:
        self.check_size(images)
        return self._forward(images)

    def as_map(self, layer: int, output: Any) -> Float[Tensor, "batch dim row column"]:
        """See `Encoder`; some layers of transformers put out more than features."""
        block = self.blocks[layer]
        grid = block.grid
        output = output[0] if isinstance(output, tuple) else output
        if output.ndim == 4 and block.channels_first:
            return output
        if output.ndim == 4 and block.order is None:
            return rearrange(output, "b row col d -> b d row col")
        if block.order is not None:
            tokens = output.reshape(len(output), len(grid), -1)
            tokens = tokens[:, block.order.to(output.device)]
        else:
            tokens = output[:, output.shape[1] - len(grid) :]
        return rearrange(
            tokens, "b (row col) d -> b d row col", row=grid.rows, col=grid.columns
        )


def check_patches(image_size: tuple[int, int], patch_size: tuple[int, int]) -> None:
    """Refuse images that do not divide into patches, heights and widths in pixels."""
    height, width = image_size
    down, across = patch_size
    if height % down or width % across:
        raise ValueError(
            f"images of {height} x {width} do not divide into patches of {down} x "
            f"{across}"
        )


def special_names(module: nn.Module) -> list[str]:
    """Names of the special tokens that a module has, in the order of timm and transformers."""
    named = {"cls_token": "class", "class_embedding": "class"}
    named |= {"dist_token": "distillation", "distillation_token": "distillation"}
    names = [
        name for of, name in named.items() if getattr(module, of, None) is not None
    ]
    for attribute in ("reg_token", "register_tokens"):
        registers = getattr(module, attribute, None)
        if registers is not None:
            names += [f"register {i}" for i in range(1, registers.shape[1] + 1)]
    return names


@contextmanager
def probe_layers(
    encoder: nn.Module, *callbacks: Callback, with_values: Sequence[ValueCallback] = ()
) -> Iterator[None]:
    """Call `probe`; models of other libraries pass on the self-attention of every layer only.

    Raises:
        ValueError: where a layer takes no softmax that can be heard, or several.
    """
    if not isinstance(encoder, LibraryEncoder):
        with probe(encoder, *callbacks, with_values=with_values):
            yield
        return
    calls = dict.fromkeys(encoder.block_names, 0)
    by_name = dict(zip(encoder.block_names, encoder.blocks, strict=True))

    def pass_on(
        name: str,
        queries: Queries,
        keys: Keys,
        mask: Tensor | None,
        values: Values | None,
    ) -> None:
        for block in calls:
            if name == block or name.startswith(f"{block}."):
                calls[block] += 1
                attended = by_name[block].row_by_row(queries, keys, mask, values)
                for callback in callbacks:
                    callback(block, *attended[:3])
                for value_callback in with_values:
                    value_callback(block, *attended)

    with probe(encoder, with_values=[pass_on]):
        yield
    if len(set(calls.values())) > 1 or 0 in calls.values():
        wrong = min(calls, key=lambda name: calls[name])
        raise ValueError(
            f"{type(encoder.model).__name__}: attention of {wrong} is not supported: "
            f"found {calls[wrong]} softmaxes in it"
        )


@dataclass(frozen=True, slots=True)
class LibraryPreprocessing(Preprocessing):
    """`Preprocessing` whose ``transform`` resizes and crops: RGB image to pixels, channel first."""

    transform: Callable[[Image.Image], Any] | None = None

    def pixels(self, image: Image.Image) -> UInt8[Tensor, "channel height width"]:
        """Resize and crop as the library does, before it normalizes.

        Raises:
            ValueError: if the transformation makes another size.
        """
        if self.transform is None:
            return Preprocessing.pixels(self, image)
        pixels = torch.as_tensor(self.transform(image))
        if tuple(pixels.shape) != (3, self.height, self.width):
            raise ValueError(
                f"preprocessing made {tuple(pixels.shape)} of an image of "
                f"{image.height} x {image.width}, the model takes (3, {self.height}, "
                f"{self.width})"
            )
        return pixels.to(torch.uint8)
