"""A Vision Transformer of another library as an encoder: where its tokens lie, and its blocks."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.probe import Listener, Queries, probe
from vit_str.models import Encoder

Forward = Callable[[Float[Tensor, "batch channel height width"]], Tensor]


@dataclass(frozen=True, slots=True)
class Block:
    """A layer with attention.

    Attributes:
        module: of the model, whose output is that of the layer.
        grid: of the tokens of the whole image in this layer.
        window: rows and columns of the windows inside which tokens look at each other; None where
            they look everywhere.
        shift: by how many rows and columns the windows lie lower and further right.
    """

    module: nn.Module
    grid: TokenGrid
    window: tuple[int, int] | None = None
    shift: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        rows, columns = self.window or (1, 1)
        if self.grid.rows % rows or self.grid.columns % columns:
            raise ValueError(
                f"{self.grid.rows} x {self.grid.columns} tokens do not divide into windows of "
                f"{rows} x {columns}: attention to padding is not understood"
            )

    @property
    def attended(self) -> TokenGrid:
        """The tokens that can look at each other: those of one window, or all."""
        if self.window is None:
            return self.grid
        return TokenGrid(*self.window, self.grid.patch_size)

    @property
    def windows(self) -> int:
        """How many there are in an image."""
        return len(self.grid) // len(self.attended)


class LibraryEncoder(Encoder):
    """A Vision Transformer of timm, torchvision or transformers.

    Args:
        model: in evaluation mode.
        blocks: its layers, first to last.
        special: names of the tokens before those of the grid, such as ``class``, ``register 1``.
        forward: from images to the features of the last layer; the model itself by default.
        positions: learned vectors of the tokens of the grid, if it has such.

    Raises:
        ValueError: no layers.
    """

    def __init__(
        self,
        model: nn.Module,
        blocks: Sequence[Block],
        special: Sequence[str] = (),
        forward: Forward | None = None,
        positions: Float[Tensor, "token dim"] | None = None,
    ) -> None:
        super().__init__()
        if not blocks:
            raise ValueError(f"{type(model).__name__} has no layers that are understood")
        self.model, self.special, self.blocks = model, tuple(special), tuple(blocks)
        self._forward, self.training = forward or model, model.training
        last = blocks[-1].grid
        self.grid, self.special_tokens = (last.rows, last.columns), len(self.special)
        self.image_size = (round(last.image_size[0]), round(last.image_size[1]))
        self.positions = positions
        names = {id(module): name for name, module in self.named_modules()}
        self.block_names = [names[id(block.module)] for block in blocks]

    @property
    def in_windows(self) -> bool:
        """Whether tokens of some layer look at those of their window only."""
        return any(block.window for block in self.blocks)

    def forward(self, images: Float[Tensor, "batch channel height width"]) -> Tensor:
        self.check_size(images)
        return self._forward(images)

    def as_map(self, layer: int, output: Tensor) -> Float[Tensor, "batch dim row column"]:
        """What a layer put out, without special tokens, on its rows and columns."""
        grid = self.blocks[layer].grid
        if output.ndim == 4:
            return rearrange(output, "b row col d -> b d row col")
        tokens = output[:, output.shape[1] - len(grid) :]
        return rearrange(tokens, "b (row col) d -> b d row col", row=grid.rows, col=grid.columns)


@contextmanager
def probe_layers(encoder: nn.Module, *listeners: Listener) -> Iterator[None]:
    """As `probe`; of models of other libraries the self-attention of every layer, nothing else.

    Raises:
        ValueError: a layer has attention that is not understood.
    """
    if not isinstance(encoder, LibraryEncoder):
        with probe(encoder, *listeners):
            yield
        return
    heard = dict.fromkeys(encoder.block_names, 0)

    def pass_on(name: str, queries: Queries, keys: Tensor, mask: Tensor | None) -> None:
        owners = [block for block in heard if name == block or name.startswith(f"{block}.")]
        for block in owners:
            heard[block] += 1
            for listener in listeners:
                listener(block, queries, keys, mask)

    with probe(encoder, pass_on):
        yield
    if len(set(heard.values())) > 1 or 0 in heard.values():
        wrong = min(heard, key=lambda name: heard[name])
        raise ValueError(
            f"{type(encoder.model).__name__}: attention of {wrong} is not understood: its softmax "
            f"was heard {heard[wrong]} times"
        )
