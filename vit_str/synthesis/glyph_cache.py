"""Glyphs of fonts, which are drawn once and kept in a file."""

import hashlib
import json
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from shutil import rmtree

from safetensors import SafetensorError

from vit_str import console
from vit_str.characters.charset import Charset
from vit_str.files import (
    default_cache,
    exclusive,
    remove_links,
    remove_partial,
    write_atomically,
)
from vit_str.synthesis.fonts import NO_FONTS, find_fonts
from vit_str.synthesis.glyph_drawing import draw_glyphs
from vit_str.synthesis.glyphs import VERSION, GlyphAtlas
from vit_str.synthesis.machine_faces import faces_of_fonts

_ABANDONED = 3600.0
"""Seconds without a change after which a temporary file is that of a killed run."""
_REJECTED = ".rejected.txt"
_DRAWN = ".drawn"
"""Ends the name of the folder that holds what is drawn, until all is."""


def load_or_draw_glyphs(
    charset: Charset,
    folders: Sequence[Path] | None = None,
    cache: Path | None = None,
) -> GlyphAtlas:
    """The glyphs of all fonts in ``folders``, or of the system, drawn only if they changed.

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
        remove_links(file, lock, file.with_suffix(_DRAWN), file.with_suffix(_REJECTED))
    atlas = _cached(file)
    if not atlas:
        file.parent.mkdir(parents=True, exist_ok=True)
        with exclusive(lock, wait=True):
            atlas = _cached(file)
            atlas = atlas or _draw_and_keep(charset, paths, where, file)
    return atlas.with_faces(faces_of_fonts(paths, charset))


def _cached(file: Path) -> GlyphAtlas | None:
    """The contents of the cache; nothing if it is damaged, which is no reason to stop."""
    if not file.is_file():
        return None
    try:
        return GlyphAtlas.load(file)
    except ValueError:
        return None


def _draw_and_keep(
    charset: Charset, paths: Sequence[Path], where: str, file: Path
) -> GlyphAtlas:
    drawn = file.with_suffix(_DRAWN)
    _remove_abandoned(file.parent, drawn)
    atlas, rejections = draw_glyphs(paths, charset, drawn)
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
        console.warn(f"fonts are not kept in {file.parent}: {console.reason_of(error)}")
    rmtree(drawn, ignore_errors=True)
    return atlas


def _remove_abandoned(cache: Path, own: Path) -> None:
    """Remove what runs that were killed or stopped have left, but for those of the same fonts."""
    remove_partial(cache, least_age=_ABANDONED)
    for drawn in cache.glob(f"glyphs-*{_DRAWN}"):
        with suppress(OSError):
            is_old = time.time() - drawn.stat().st_mtime >= _ABANDONED
            if is_old and drawn != own:
                rmtree(drawn)


def _key(paths: Sequence[Path], charset: Charset) -> str:
    """Changes whenever the fonts, the charset or this program's way to draw them do."""
    files = []
    for path in paths:
        status = path.stat()
        files.append((str(path), status.st_size, status.st_mtime_ns))
    parts = json.dumps([VERSION, charset.characters, files])
    return hashlib.blake2b(parts.encode(), digest_size=8).hexdigest()
