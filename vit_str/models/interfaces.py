"""The interfaces of encoders and decoders; an `AutoregressiveDecoder` also has steps."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from einops import rearrange
from jaxtyping import Float, Int64
from torch import Tensor, nn


class Encoder(nn.Module, ABC):
    """Images to features."""

    dim: int  # width of a feature
    image_size: tuple[int, int]  # height and width of the images, in pixels
    # Rows and columns of tokens; the last ``rows * columns`` features, in reading order
    grid: tuple[int, int]
    special_tokens: int = 0  # number of features before them
    # It reads every multiple of this width, in pixels, and ``image_size`` and ``grid`` are those of
    # the widest image; 0 if it reads one width only
    width_step: int = 0

    @abstractmethod
    def forward(
        self, images: Float[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch token dim"]:
        """Features of normalized images."""

    @property
    def layer_modules(self) -> list[nn.Module]:
        """Blocks of attention, or layers of convolutional stages, first to last.

        Raises:
            ValueError: for an encoder that names none.
        """
        raise ValueError(
            f"{type(self).__name__} has no layers that are supported; give a "
            "VisionTransformer or a convolutional encoder"
        )

    @property
    def attention_grid(self) -> tuple[int, int]:
        """Rows and columns of the tokens of its layers, which features may be more than."""
        return self.grid

    @property
    def special_names(self) -> list[str]:
        """Names of the features before those of the grid: ``class``, ``register 1`` and so on."""
        names = ["class"] if getattr(self, "class_token", False) else []
        registers = self.special_tokens - len(names)
        return names + [f"register {number}" for number in range(1, registers + 1)]

    @property
    def windows(self) -> Mapping[str, Any]:
        """Layer -> the windows that its tokens attend in; empty where they attend to all."""
        return {}

    def as_map(
        self, layer: int, output: Float[Tensor, "batch ..."]
    ) -> Float[Tensor, "batch dim row column"]:
        """The output of a layer, counted from 0, on rows and columns, without special tokens."""
        if output.ndim == 4:
            return output
        rows, columns = self.attention_grid
        tokens = output[:, self.special_tokens :]
        return rearrange(tokens, "b (row col) d -> b d row col", row=rows, col=columns)

    def check_size(self, images: Float[Tensor, "batch channel height width"]) -> None:
        """Raise a ValueError for images of another size than ``image_size``."""
        if images.shape[-2:] != self.image_size:
            raise ValueError(
                f"this encoder reads images of {self.image_size} (height, width), "
                f"found {tuple(images.shape[-2:])}; resize them first"
            )


class Decoder(nn.Module, ABC):
    """Features to labels."""

    dim: int  # width of a feature
    charset_size: int  # number of characters it writes
    maximum_length: int  # most characters it writes
    # How its scores become text: ``step`` by step, ``refine`` (that, or all at once and again),
    # from ``scores`` of every position, or of every column (``ctc``)
    loop: str = "step"
    # Whether features have to be of one row, from left to right
    reads_columns: bool = False
    # Rows and columns of the features that its draft reads, if it has one
    draft_grid: tuple[int, int] | None = None
    # Features to scores of columns, a `CtcHead`; the text they spell is checked in one call
    draft: nn.Module | None

    def __init__(self) -> None:
        super().__init__()
        self.draft = None

    @property
    def least_tokens(self) -> int:
        """Fewest features that it can read."""
        return 1

    def check_length(self, labels: Int64[Tensor, "batch position"]) -> None:
        """Raise a ValueError for labels longer than ``maximum_length``."""
        if labels.shape[1] > self.maximum_length:
            raise ValueError(
                f"labels of up to {labels.shape[1]} characters, but maximum_length "
                f"is {self.maximum_length}; drop longer labels or raise "
                "decoder.maximum_length"
            )

    @abstractmethod
    def loss(
        self,
        features: Float[Tensor, "batch token dim"],
        labels: Int64[Tensor, "batch position"],
    ) -> Float[Tensor, ""]:
        """Loss on labels padded with ``PADDING``."""
