"""Every character of a charset in every font, drawn once, as tensors to compose text from."""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float32, Int64, UInt8
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from vit_str import console
from vit_str.characters.charset import Charset
from vit_str.files import (
    default_cache,
    exclusive,
    remove_links,
    remove_partial,
    write_atomically,
)
from vit_str.synthesis.fonts import (
    NO_FONTS,
    Rejection,
    find_fonts,
    limit_families,
    split_fonts,
)
from vit_str.synthesis.glyph_quality import flaw, judge
from vit_str.synthesis.ink_levels import in_levels
from vit_str.synthesis.machine_faces import (
    DIGITS,
    Face,
    drawn_faces,
    faces_of_fonts,
    is_drawn_by_code,
    is_machine,
    is_only_to_test,
    wheel_faces,
)
from vit_str.synthesis.rasterize import HEIGHT, is_blackletter
from vit_str.synthesis.rasterize_parallel import rasterize_parallel

Drawing = Mapping[str, np.ndarray]
"""Arrays of `rasterize_many` for some fonts."""

_FORMAT = "vit-str glyphs"
_VERSION = "5"  # of the cached file
_ABANDONED = 3600.0
"""Seconds without a change after which a temporary file is that of a killed run."""
_REJECTED = ".rejected.txt"
_DRAWN = ".drawn"
"""Ends the name of the folder that holds what is drawn, until all is."""
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

    @classmethod
    def build(
        cls,
        paths: Sequence[Path],
        charset: Charset,
        resume: Path | None = None,
    ) -> tuple["GlyphAtlas", list[Rejection]]:
        """Draw the first face of all fonts, and sort out those that cannot be used.

        Args:
            paths: of the fonts.
            charset: the characters to draw.
            resume: see `rasterize_parallel`.
        """
        accepted: list[str] = []
        rejections: list[Rejection] = []
        drawings: list[Drawing] = []
        for batch, drawing in rasterize_parallel(paths, charset.characters, resume):
            accepted += [batch[place] for place in drawing["used"]]
            for path, reason in zip(batch, drawing["reasons"], strict=True):
                if reason:
                    rejections.append(Rejection(path, str(reason)))
            if drawing["used"].size:
                drawings.append(drawing)
        if not accepted:
            return cls._empty(charset), rejections
        everything, flaws = cls._judged(drawings, accepted, charset)
        kept = []
        for place, (path, why) in enumerate(zip(accepted, flaws, strict=True)):
            if why:
                rejections.append(Rejection(path, why))
            else:
                kept.append(place)
        rejections.sort(key=lambda rejection: rejection.path)
        return everything.select(kept).compact(), rejections

    @classmethod
    def _judged(
        cls, drawings: Sequence[Drawing], paths: Sequence[str], charset: Charset
    ) -> tuple["GlyphAtlas", list[str]]:
        """All fonts that are drawn, with why each of them should not be used, empty if it can."""
        families = _joined(drawings, "families")
        variants = _joined(drawings, "variants")
        names = [
            _name(str(family), path, str(variant))
            for family, path, variant in zip(families, paths, variants, strict=True)
        ]
        blackletter = torch.tensor([is_blackletter(name) for name in names])
        quality = judge(
            torch.from_numpy(_joined(drawings, "shapes")),
            torch.from_numpy(_joined(drawings, "drawn")),
            charset.characters,
            blackletter,
        )
        widths = torch.from_numpy(_joined(drawings, "widths"))
        ends = widths.flatten().cumsum(0)
        atlas = cls(
            columns=torch.from_numpy(in_levels(_joined(drawings, "columns"))),
            starts=(ends - widths.flatten()).view_as(widths),
            widths=widths,
            bearings=torch.from_numpy(_joined(drawings, "bearings")),
            advances=torch.from_numpy(_joined(drawings, "advances")),
            is_correct=quality.is_correct,
            names=names,
            charset=charset,
        )
        judged = zip(
            quality.is_correct,
            quality.recognized.tolist(),
            blackletter.tolist(),
            strict=True,
        )
        flaws = [
            flaw(is_correct, recognized, charset.characters, is_old)
            for is_correct, recognized, is_old in judged
        ]
        return atlas, flaws

    @classmethod
    def _empty(cls, charset: Charset) -> "GlyphAtlas":
        none = torch.zeros(0, len(charset))
        return cls(
            columns=torch.zeros(0, HEIGHT, dtype=torch.uint8),
            starts=none.long(),
            widths=none.long(),
            bearings=none,
            advances=none,
            is_correct=none.bool(),
            names=[],
            charset=charset,
        )

    def save(self, path: Path) -> None:
        """Write everything to one safetensors file, atomically."""
        metadata = {
            "format": _FORMAT,
            "version": _VERSION,
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
                if kind != (_FORMAT, _VERSION):
                    raise ValueError(
                        f"expected version {_VERSION} of an atlas of glyphs"
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

    @classmethod
    def load_or_build(
        cls,
        charset: Charset,
        folders: Sequence[Path] | None = None,
        cache: Path | None = None,
    ) -> "GlyphAtlas":
        """The atlas of all fonts in ``folders``, or of the system, built only if they changed.

        Rejected fonts and the reasons are listed in a text file beside the cached atlas.

        Args:
            charset: the characters to draw.
            folders: where to look for fonts instead of the system's folders.
            cache: folder to keep atlases in. By default ``VIT_STR_CACHE`` in the environment, or
                ``vit-str`` in the user's cache folder.

        Raises:
            ValueError: where there are no fonts, or none that has the characters.
        """
        where = "on this system"
        if folders is not None:
            where = f"in {', '.join(map(str, folders))}"
        paths = find_fonts(folders)
        if not paths:
            raise ValueError(f"expected fonts, found none {where}; {NO_FONTS}")
        cache = cache or default_cache()
        file = cache / f"glyphs-{_key(paths, charset)}.safetensors"
        lock = file.with_suffix(".lock")
        with suppress(OSError):  # of a disk that is read-only
            remove_links(
                file, lock, file.with_suffix(_DRAWN), file.with_suffix(_REJECTED)
            )
        atlas = cls._cached(file)
        if not atlas:
            file.parent.mkdir(parents=True, exist_ok=True)
            with exclusive(lock, wait=True):
                atlas = cls._cached(file)
                atlas = atlas or cls._build_cached(charset, paths, where, file)
        return atlas.with_faces(faces_of_fonts(paths, charset))

    @classmethod
    def _cached(cls, file: Path) -> "GlyphAtlas | None":
        """The contents of the cache; nothing if it is damaged, which is no reason to stop."""
        if not file.is_file():
            return None
        try:
            return cls.load(file)
        except ValueError:
            return None

    @classmethod
    def _build_cached(
        cls, charset: Charset, paths: Sequence[Path], where: str, file: Path
    ) -> "GlyphAtlas":
        drawn = file.with_suffix(_DRAWN)
        _remove_abandoned(file.parent, drawn)
        atlas, rejections = cls.build(paths, charset, drawn)
        if not atlas.names:
            raise ValueError(
                f"none of the {len(paths)} fonts {where} can be used, the first "
                f"because it {rejections[0].reason}; {NO_FONTS}"
            )
        lines = [f"{rejection.path}: {rejection.reason}\n" for rejection in rejections]
        try:
            atlas.save(file)
            with write_atomically(file.with_suffix(_REJECTED)) as rejected:
                rejected.write_text("".join(lines), encoding="utf-8")
        # Drawing took minutes: go on with it
        except (OSError, SafetensorError) as error:
            console.warn(
                f"fonts are not kept in {file.parent}: {console.reason_of(error)}"
            )
        rmtree(drawn, ignore_errors=True)
        return atlas

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
        shape = len(known), len(self.charset)
        widths = torch.zeros(shape, dtype=torch.int64)
        bearings = torch.zeros(shape)
        advances = torch.zeros(shape)
        is_correct = torch.zeros(shape, dtype=torch.bool)
        pieces = [np.zeros((0, self.height), np.uint8)]
        for row, face in enumerate(known.values()):
            characters = "".join(face)
            numbered = zip(self.charset.encode(characters), characters, strict=True)
            for id_, character in sorted(numbered):
                glyph = face[character]
                widths[row, id_] = len(glyph.columns)
                bearings[row, id_] = glyph.bearing
                advances[row, id_] = glyph.advance
                is_correct[row, id_] = True
                pieces.append(glyph.columns)
        ends = widths.flatten().cumsum(0) + len(self.columns)
        more = {
            "columns": torch.from_numpy(np.concatenate(pieces)),
            "starts": (ends - widths.flatten()).view_as(widths),
            "widths": widths,
            "bearings": bearings,
            "advances": advances,
            "is_correct": is_correct,
        }
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


def _remove_abandoned(cache: Path, own: Path) -> None:
    """Remove what runs that were killed or stopped have left, but for those of the same fonts."""
    remove_partial(cache, least_age=_ABANDONED)
    for drawn in cache.glob(f"glyphs-*{_DRAWN}"):
        with suppress(OSError):
            is_old = time.time() - drawn.stat().st_mtime >= _ABANDONED
            if is_old and drawn != own:
                rmtree(drawn)


def _joined(drawings: Sequence[Drawing], key: str) -> np.ndarray:
    """One array of all drawings, font after font."""
    return np.concatenate([drawing[key] for drawing in drawings])


def _name(family: str, path: str, variant: str) -> str:
    """Family, file and variant of a font, as `fonts.family_of` takes them apart."""
    name = f"{family.replace('/', ' ')}/{Path(path).stem}"
    return f"{name} ({variant})" if variant else name


def _key(paths: Sequence[Path], charset: Charset) -> str:
    """Changes whenever the fonts, the charset or this program's way to draw them do."""
    files = []
    for path in paths:
        status = path.stat()
        files.append((str(path), status.st_size, status.st_mtime_ns))
    parts = json.dumps([_VERSION, charset.characters, files])
    return hashlib.blake2b(parts.encode(), digest_size=8).hexdigest()
