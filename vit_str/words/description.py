"""The description of a reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vit_str.engines.interface import Engine


@dataclass(frozen=True, slots=True)
class ReaderDescription:
    """Model, backend and device of a reader.

    Attributes:
        characters: all that it reads.
        maximum_length: most characters of a text.
        image_size: height and width of the images that the model sees, in pixels.
        grid: rows and columns of the tokens that the encoder makes of an image.
        reads_lines: whether it reads lines of any width, not words.
        has_boxes: whether it can say where characters are.
        temperature: divides scores, so that confidences mean what they say.
        backend: the library that computes: ``onnx`` or ``torch``.
        device: where, as torch names devices.
        number_format: in which it computes, such as ``float32`` or ``int8``.
        threads: that compute.
    """

    characters: str
    maximum_length: int
    image_size: tuple[int, int]
    grid: tuple[int, int]
    reads_lines: bool
    has_boxes: bool
    temperature: float
    backend: str
    device: str
    number_format: str
    threads: int

    @classmethod
    def of(cls, engine: Engine, temperature: float) -> ReaderDescription:
        """The description of an engine and its model, whose scores are divided by a temperature."""
        model = engine.model
        return cls(
            characters=model.charset.characters,
            maximum_length=model.interface.maximum_length,
            image_size=model.interface.image_size,
            grid=model.interface.grid,
            reads_lines=model.preprocessing.width_step > 0,
            has_boxes=model.interface.has_boxes,
            temperature=temperature,
            backend=engine.backend,
            device=engine.device,
            number_format=engine.number_format,
            threads=engine.threads,
        )
