"""The interface between decoding and computing: a model, its engine, the steps of its texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from vit_str.characters.charset import Charset
from vit_str.images.preprocessing import Preprocessing

if TYPE_CHECKING:
    from jaxtyping import Float, Int64

LOOPS = ("step", "refine", "scores", "ctc")
"""Ways from the scores of a decoder to a text, see `Interface.loop`."""


@dataclass(frozen=True, slots=True)
class Interface:
    """How a model is used.

    Attributes:
        decoder: name of its class.
        loop: ``step`` writes character by character; ``refine`` too, and can read all characters
            at once and again; ``scores`` has scores for every position, ``ctc`` for every column.
        maximum_length: most characters that it writes.
        grid: rows and columns of tokens.
        special_tokens: number of tokens before those of the grid.
        image_size: height and width of the images that it sees, in pixels.
        has_cross_attention: whether it says where it looks while it writes.
        decoding: ``autoregressive`` or ``parallel``, with ``refine``.
        refinements: how often the text is read again, with ``refine``.
        drafts: whether `Scorer.scores` are of drafts, which `Scorer.verify` checks, with ``step``.
    """

    decoder: str
    loop: str
    maximum_length: int
    grid: tuple[int, int]
    special_tokens: int
    image_size: tuple[int, int]
    has_cross_attention: bool = False
    decoding: str = "autoregressive"
    refinements: int = 0
    drafts: bool = False

    @property
    def has_boxes(self) -> bool:
        """Whether it tells where characters are: by attention, or by the columns of CTC."""
        return self.has_cross_attention or self.loop == "ctc"

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Interface:
        """Inverse of ``asdict``.

        Raises:
            ValueError: for values that do not describe a model that this version can run.
        """
        try:
            found = cls(**values)
            grid = tuple(map(int, found.grid))
            image_size = tuple(map(int, found.image_size))
            fits = found.loop in LOOPS and found.maximum_length >= 1
        except TypeError as error:
            raise ValueError(
                f"the description of the model does not fit: {error}"
            ) from None
        if not fits or len(grid) != 2 or len(image_size) != 2:
            raise ValueError(f"the description of the model does not fit: {values}")
        return replace(found, grid=grid, image_size=image_size)


@dataclass(frozen=True, slots=True)
class Model:
    """Description of a model for reading.

    Attributes:
        charset: the characters that it writes.
        preprocessing: what images go through first.
        temperature: divides scores, so that confidences mean what they say.
        provenance: where the weights come from.
        interface: how it is used.
    """

    charset: Charset
    preprocessing: Preprocessing
    temperature: float
    provenance: dict[str, Any]
    interface: Interface

    def with_temperature(self, temperature: float) -> Model:
        """The same model with another temperature.

        Raises:
            ValueError: for a temperature that is not above 0.
        """
        if not temperature > 0:
            raise ValueError(f"a temperature is above 0, found {temperature}")
        return replace(self, temperature=temperature)


class Steps(Protocol):
    """A batch of texts while they are written; whoever writes owns it.

    The start, an input, and the end, an output, have the last id of all symbols.
    """

    def step(
        self, symbols: Int64[np.ndarray, " row"], position: int
    ) -> Float[np.ndarray, "row symbol"]:
        """Scores of the next symbol of each row, after ``symbols`` were written."""

    def keep(self, rows: Int64[np.ndarray, " row"]) -> None:
        """Go on with these rows, in any order, some perhaps repeated."""


class Scorer(Protocol):
    """Scores of the next symbols of encoded images, which decoding makes texts of."""

    def begin(self, encoded: Any) -> Steps:
        """Texts of encoded images before anything is written."""

    def scores(self, encoded: Any) -> Float[np.ndarray, "batch position symbol"]:
        """Scores of every position or column, for a model that needs no loop or drafts texts."""

    def refine(
        self, encoded: Any, labels: Int64[np.ndarray, "batch position"]
    ) -> Float[np.ndarray, "batch position_and_end symbol"]:
        """Scores of every position given all others, for a model that can refine."""

    def verify(
        self, encoded: Any, labels: Int64[np.ndarray, "batch position"]
    ) -> Float[np.ndarray, "batch position_and_end symbol"]:
        """Scores of every position given those before it, for a model that drafts texts."""

    def select(self, encoded: Any, rows: Sequence[int]) -> Any:
        """The encoder's output for some of the images."""


class Engine(Scorer, Protocol):
    """Runs a model on numpy arrays; what it makes of images is its own.

    Attributes:
        model: what it runs.
        backend: the library that computes: ``onnx`` or ``torch``.
        device: where, as torch names devices.
        number_format: in which it computes, such as ``float32`` or ``int8``.
        threads: that compute.
    """

    model: Model
    backend: str
    device: str
    number_format: str
    threads: int

    def encode(self, images: Float[np.ndarray, "batch channel height width"]) -> Any:
        """The encoder's output for normalized images."""

    def attention(
        self, encoded: Any, labels: Int64[np.ndarray, "batch position"]
    ) -> Float[np.ndarray, "batch position token"]:
        """Where the decoder looks while it writes ``labels``, for a model that looks."""
