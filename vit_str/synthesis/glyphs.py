"""Every character of a charset in every font, as tensors to compose text from."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float32, Int64, UInt8
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from vit_str.characters.charset import Charset
from vit_str.files import write_atomically
from vit_str.synthesis.fonts import limit_families, split_fonts
from vit_str.synthesis.machine_faces import (
    DIGITS,
    Face,
    drawn_faces,
    is_drawn_by_code,
    is_machine,
    is_only_to_test,
    wheel_faces,
)
from vit_str.synthesis.rasterize import HEIGHT

_FORMAT = "vit-str glyphs"
VERSION = "5"  # of the cached file
_TENSORS = ("columns", "starts", "widths", "bearings", "advances", "is_correct")


@dataclass(frozen=True, slots=True, eq=False)
class GlyphAtlas:
    """Glyphs stored column by column, so that a line of text is a gather of columns.

    The glyph of a font and character is ``columns[start : start + width]``, transposed, with its
    first column ``bearing`` pixels right of the pen, which then moves by ``advance`` pixels. All
    glyphs of a font share a baseline. What a font does not draw has the width 0.
    """

    columns: UInt8[Tensor, "column row"]  # ink, 0 to 255 in steps of `INK_STEP`
    starts: Int64[Tensor, "font character"]
    widths: Int64[Tensor, "font character"]
    bearings: Float32[Tensor, "font character"]
    advances: Float32[Tensor, "font character"]
    # Whether the font shows this character truly; draw nothing else
    is_correct: Bool[Tensor, "font character"]
    names: list[str]  # of the fonts, as `family/file`
    charset: Charset  # the characters, by their ids
    height: int = HEIGHT  # of all glyphs, in rows

    def __len__(self) -> int:
        return len(self.names)

    def save(self, path: Path) -> None:
        """Write everything to one safetensors file, atomically."""
        metadata = {
            "format": _FORMAT,
            "version": VERSION,
            "names": json.dumps(self.names),
            "charset": self.charset.characters,
        }
        tensors = {name: getattr(self, name).cpu().contiguous() for name in _TENSORS}
        with write_atomically(path) as temporary:
            save_file(tensors, temporary, metadata)

    @classmethod
    def load(cls, path: Path) -> "GlyphAtlas":
        """Read a file that ``save`` has written.

        Raises:
            ValueError: for a damaged file, or one of another version.
        """
        try:
            with safe_open(path, framework="pt") as file:
                metadata = file.metadata() or {}
                kind = (metadata.get("format"), metadata.get("version"))
                if kind != (_FORMAT, VERSION):
                    raise ValueError(
                        f"expected version {VERSION} of an atlas of glyphs"
                    )
                tensors = {name: file.get_tensor(name) for name in _TENSORS}
        except (OSError, SafetensorError, ValueError) as error:
            raise ValueError(
                f"cannot read glyphs from {path}: {error}; delete it to build it anew"
            ) from None
        return cls(
            **tensors,
            names=json.loads(metadata["names"]),
            charset=Charset(metadata["charset"]),
        )

    def to(self, device: torch.device | str) -> "GlyphAtlas":
        """The same atlas on another device."""
        moved = {name: getattr(self, name).to(device) for name in _TENSORS}
        return replace(self, **moved)

    def select(self, indices: Sequence[int]) -> "GlyphAtlas":
        """Only some fonts; the columns are shared, not copied."""
        chosen = torch.tensor(indices, dtype=torch.int64, device=self.starts.device)
        return replace(
            self,
            starts=self.starts[chosen],
            widths=self.widths[chosen],
            bearings=self.bearings[chosen],
            advances=self.advances[chosen],
            is_correct=self.is_correct[chosen],
            names=[self.names[index] for index in indices],
        )

    def training(self) -> "GlyphAtlas":
        """The fonts to train with, not too many of one family."""
        training, _ = split_fonts(self.names)
        training = [
            place for place in training if not is_only_to_test(self.names[place])
        ]
        return self.select(limit_families(self.names, training))

    def held_out(self) -> "GlyphAtlas":
        """The families kept out of training; all fonts if there is only one family.

        Faces of machines are others than those of training too, but for those that passports and
        forms have everywhere.
        """
        training, held_out = split_fonts(self.names)
        kept = held_out or training
        of_machines = [
            place for place, name in enumerate(self.names) if is_machine(name)
        ]
        kept = sorted({*kept, *of_machines})
        return self.select(kept).with_machine_faces(held_out=True)

    def with_machine_faces(self, held_out: bool = False) -> "GlyphAtlas":
        """With the faces of machines that are drawn by code behind the fonts, unless it has them.

        Args:
            held_out: other faces, for what is kept out of training.
        """
        if not self.names or any(map(is_drawn_by_code, self.names)):
            return self
        faces = drawn_faces(held_out)
        if not self.charset.unknown(DIGITS):
            ids = self.charset.encode(DIGITS)
            has_all = self.is_correct[:, ids].all(1) & (self.widths[:, ids] > 0).all(1)
            fonts = [
                font
                for font in has_all.nonzero()[:, 0].tolist()
                if not is_machine(self.names[font])
            ]
            faces = faces | wheel_faces(
                fonts,
                lambda font: [self.glyph(font, id_) for id_ in ids],
                held_out,
            )
        return self.with_faces(faces)

    def glyph(self, font: int, character: int) -> UInt8[np.ndarray, "column row"]:
        """The columns of a glyph."""
        start = int(self.starts[font, character])
        width = int(self.widths[font, character])
        columns: UInt8[np.ndarray, "column row"] = (
            self.columns[start : start + width].cpu().numpy()
        )
        return columns

    def with_faces(self, faces: Mapping[str, Face]) -> "GlyphAtlas":
        """With more faces, by name, at the end; of each what the charset has."""
        known = {
            name: {
                each: glyph
                for each, glyph in face.items()
                if not self.charset.unknown(each)
            }
            for name, face in faces.items()
        }
        known = {name: face for name, face in known.items() if face.keys() - {" "}}
        if not known:
            return self
        more = _of_faces(known.values(), self.charset, self.height)
        more["starts"] += len(self.columns)
        device = self.columns.device
        joined: dict[str, Any] = {
            name: torch.cat([getattr(self, name), more[name].to(device)])
            for name in _TENSORS
        }
        return replace(self, **joined, names=[*self.names, *known])

    def compact(self) -> "GlyphAtlas":
        """Drop columns that no font uses."""
        first = self.starts[:, 0].tolist()
        counts = self.widths.sum(1)
        spans = zip(first, counts.tolist(), strict=True)
        pieces = [self.columns[start : start + count] for start, count in spans]
        columns = torch.cat([self.columns[:0], *pieces])
        shift = (counts.cumsum(0) - counts) - self.starts[:, 0]
        return replace(self, columns=columns, starts=self.starts + shift[:, None])


def _of_faces(
    faces: Collection[Face], charset: Charset, height: int
) -> dict[str, Tensor]:
    """Faces as an atlas of them alone has them."""
    shape = len(faces), len(charset)
    widths = torch.zeros(shape, dtype=torch.int64)
    bearings = torch.zeros(shape)
    advances = torch.zeros(shape)
    is_correct = torch.zeros(shape, dtype=torch.bool)
    pieces = [np.zeros((0, height), np.uint8)]
    for row, face in enumerate(faces):
        characters = "".join(face)
        numbered = zip(charset.encode(characters), characters, strict=True)
        for id_, character in sorted(numbered):
            glyph = face[character]
            widths[row, id_] = len(glyph.columns)
            bearings[row, id_] = glyph.bearing
            advances[row, id_] = glyph.advance
            is_correct[row, id_] = True
            pieces.append(glyph.columns)
    return {
        "columns": torch.from_numpy(np.concatenate(pieces)),
        "starts": starts_of(widths),
        "widths": widths,
        "bearings": bearings,
        "advances": advances,
        "is_correct": is_correct,
    }


def starts_of(
    widths: Int64[Tensor, "font character"],
) -> Int64[Tensor, "font character"]:
    """The first column of each glyph, where they stand one after the other."""
    ends = widths.flatten().cumsum(0)
    return (ends - widths.flatten()).view_as(widths)
