import os
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw, ImageFont
from safetensors import SafetensorError

from vit_str.characters.charset import Charset
from vit_str.files import default_cache, exclusive
from vit_str.synthesis import glyph_cache, glyphs, rasterize, rasterize_parallel
from vit_str.synthesis.glyph_cache import load_or_draw_glyphs
from vit_str.synthesis.glyph_drawing import draw_glyphs
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.machine_faces import is_machine

FONTS = ("DejaVuSans.ttf", "DejaVuSerif.ttf")


@pytest.fixture(scope="module")
def folder(matplotlib_fonts, tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("fonts")
    for name in (*FONTS, "cmsy10.ttf"):
        shutil.copy(matplotlib_fonts / name, target)
    return target


def glyph(atlas: GlyphAtlas, font: int, character: str) -> torch.Tensor:
    place = atlas.charset.encode(character)[0]
    start = int(atlas.starts[font, place])
    width = int(atlas.widths[font, place])
    return atlas.columns[start : start + width].T


def ink_rows(atlas: GlyphAtlas, font: int, character: str) -> tuple[int, int]:
    rows = (glyph(atlas, font, character) > 96).any(1).nonzero()
    return int(rows[0]), int(rows[-1])


def assert_equal(one: GlyphAtlas, other: GlyphAtlas) -> None:
    for name in ("columns", "starts", "widths", "bearings", "advances", "is_correct"):
        assert torch.equal(getattr(one, name), getattr(other, name)), name
    assert (one.names, one.charset, one.height) == (
        other.names,
        other.charset,
        other.height,
    )


def test_glyphs_are_what_the_font_draws(atlas, folder):
    """At some size Pillow draws the very same R and Q, at the same distance from the pen."""
    for character in "RQ":
        ours = glyph(atlas, 0, character).numpy()
        place = atlas.charset.encode(character)[0]
        differences = []
        for size in np.arange(36, 52, 0.25):
            font = ImageFont.truetype(folder / FONTS[0], float(size))
            image = Image.new("L", (100, 100))
            baseline = ink_rows(atlas, 0, "R")[1] + 1
            ImageDraw.Draw(image).text(
                (20, baseline), character, 255, font, anchor="ls"
            )
            left = 20 + int(atlas.bearings[0, place])
            theirs = np.asarray(image, float)[:48, left : left + ours.shape[1]]
            differences.append(np.abs(theirs - ours).mean())
        assert min(differences) < 8
        assert max(differences) > 30


def test_letters_share_a_baseline_and_fill_the_line(atlas):
    for font in range(len(atlas)):
        assert ink_rows(atlas, font, "H")[1] == pytest.approx(
            ink_rows(atlas, font, "E")[1], abs=1
        )
        assert ink_rows(atlas, font, "p")[1] > ink_rows(atlas, font, "x")[1] + 3
        assert ink_rows(atlas, font, "x")[0] > ink_rows(atlas, font, "d")[0] + 3
        heights = [ink_rows(atlas, font, c) for c in "Hgjpqy|({"]
        assert 40 <= max(b for _, b in heights) - min(t for t, _ in heights) + 1 <= 46


def test_symbols_in_the_place_of_letters_are_not_correct_ids(folder):
    atlas, _ = draw_glyphs([folder / "cmsy10.ttf"], Charset())
    assert shown(atlas, 0, '!"+') == []
    assert shown(atlas, 0, "ABC") == ["A", "B", "C"]


def shown(atlas: GlyphAtlas, font: int, characters: str) -> Sequence[str]:
    return [c for c in characters if atlas.is_correct[font, atlas.charset.encode(c)[0]]]


def test_missing_characters_are_not_correct_ids(folder):
    charset = Charset("abcdefgh\uac00 ")
    atlas, _ = draw_glyphs([folder / "DejaVuSans.ttf"], charset)
    assert shown(atlas, 0, charset.characters) == list("abcdefgh ")
    # The space is honestly empty
    assert atlas.advances[0, -1] > 0 and atlas.widths[0, -1] == 0


def test_small_letters_alone_do_not_fill_the_line(atlas, folder):
    """A charset of digits and small letters is drawn at the size of all of ASCII."""
    small, _ = draw_glyphs([folder / FONTS[0]], Charset("0123456789abcxdg"))
    for character in "d4g":
        assert ink_rows(small, 0, character) == ink_rows(atlas, 0, character)


def test_save_and_load(atlas, tmp_path):
    path = tmp_path / "new" / "glyphs.safetensors"
    atlas.save(path)
    assert_equal(GlyphAtlas.load(path), atlas)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_foreign_and_damaged_files_are_refused(atlas, tmp_path):
    path = tmp_path / "glyphs.safetensors"
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match="cannot read glyphs"):
        GlyphAtlas.load(path)
    atlas.save(path)
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(ValueError, match="cannot read glyphs"):
        GlyphAtlas.load(path)


def test_cache_is_used_until_the_fonts_change(folder, tmp_path, monkeypatch):
    fonts = tmp_path / "fonts"
    fonts.mkdir()
    shutil.copy(folder / "DejaVuSans.ttf", fonts)
    monkeypatch.setenv("VIT_STR_CACHE", str(tmp_path / "cache"))
    assert default_cache() == tmp_path / "cache"
    first = load_or_draw_glyphs(Charset(), [fonts])
    with monkeypatch.context() as patched:
        patched.setattr(glyph_cache, "draw_glyphs", None)
        assert_equal(load_or_draw_glyphs(Charset(), [fonts]), first)
    shutil.copy(folder / "DejaVuSerif.ttf", fonts)
    assert len(load_or_draw_glyphs(Charset(), [fonts])) == 2


def test_fonts_that_cannot_be_kept_are_used(folder, tmp_path, monkeypatch, capsys):
    """As on a full disk, where drawing has taken minutes."""

    def full(*_):
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    shutil.copy(folder / "DejaVuSans.ttf", tmp_path)
    monkeypatch.setattr(glyphs, "save_file", full)
    cache = tmp_path / "cache"
    assert load_or_draw_glyphs(Charset(), [tmp_path], cache).names
    assert "fonts are not kept in" in (said := capsys.readouterr().err)
    assert "No space left on device" in said and said.count("\n") == 1
    assert not list(cache.glob("*.safetensors"))


@pytest.mark.skipif(os.name != "posix", reason="links need rights on other systems")
def test_nothing_is_written_through_links_in_the_cache(folder, tmp_path):
    fonts = tmp_path / "fonts"
    fonts.mkdir()
    shutil.copy(folder / "DejaVuSans.ttf", fonts)
    cache = tmp_path / "cache"
    load_or_draw_glyphs(Charset("abc"), [fonts], cache)
    precious = tmp_path / "precious.txt"
    precious.write_text("mine")
    kept = [path for path in cache.iterdir() if path.is_file()]
    assert {path.suffix for path in kept} == {".safetensors", ".txt", ".lock"}
    for path in kept:
        path.unlink()
        path.symlink_to(precious)
    load_or_draw_glyphs(Charset("abc"), [fonts], cache)
    assert precious.read_text() == "mine"
    assert not any(path.is_symlink() for path in cache.iterdir())


def test_drawing_that_was_stopped_goes_on(folder, tmp_path, monkeypatch):
    """Batches that are whole are not drawn again; a damaged one is."""
    monkeypatch.setattr(rasterize_parallel, "_BATCH", 1)
    monkeypatch.setattr(rasterize_parallel, "_WORKERS", 1)
    charset = Charset("abc")
    whole = load_or_draw_glyphs(charset, [folder], tmp_path / "whole")
    draw = rasterize_parallel._Drawing.draw
    asked = []
    most = 2

    def counted(self, paths):
        if len(asked) == most:
            raise KeyboardInterrupt
        asked.append(paths)
        return draw(self, paths)

    monkeypatch.setattr(rasterize_parallel._Drawing, "draw", counted)
    cache = tmp_path / "cache"
    with pytest.raises(KeyboardInterrupt):
        load_or_draw_glyphs(charset, [folder], cache)
    first, second = sorted(cache.glob("*.drawn/*"))
    second.write_bytes(first.read_bytes()[:-100])
    asked.clear()
    assert_equal(load_or_draw_glyphs(charset, [folder], cache), whole)
    drawn = [Path(path).name for (path,) in asked]
    assert drawn == ["DejaVuSerif.ttf", "cmsy10.ttf"]
    assert not list(cache.glob("*.drawn"))


def test_what_was_drawn_of_other_fonts_is_removed_after_an_hour(folder, tmp_path):
    fonts = tmp_path / "fonts"
    fonts.mkdir()
    shutil.copy(folder / "DejaVuSans.ttf", fonts)
    old = tmp_path / "glyphs-old.drawn"
    new = tmp_path / "glyphs-new.drawn"
    for each in (old, new):
        each.mkdir()
    os.utime(old, (0, 0))
    load_or_draw_glyphs(Charset("abc"), [fonts], tmp_path)
    assert list(tmp_path.glob("*.drawn")) == [new]


def test_two_processes_draw_fonts_once(folder, tmp_path, monkeypatch):
    fonts = tmp_path / "fonts"
    first = tmp_path / "first"
    second = tmp_path / "second"
    fonts.mkdir()
    second.mkdir()
    shutil.copy(folder / "DejaVuSans.ttf", fonts)
    atlas = load_or_draw_glyphs(Charset(), [fonts], first)
    (drawn,) = first.glob("*.safetensors")
    monkeypatch.setattr(glyph_cache, "draw_glyphs", None)
    with ThreadPoolExecutor() as pool:
        with exclusive(second / drawn.with_suffix(".lock").name):
            waiting = pool.submit(load_or_draw_glyphs, Charset(), [fonts], second)
            time.sleep(0.2)
            shutil.copy(drawn, second)
        assert_equal(waiting.result(), atlas)


def test_without_fonts_the_user_is_told_what_to_do(tmp_path):
    with pytest.raises(ValueError, match=r"train.*fonts-debian\.txt.*--fonts"):
        load_or_draw_glyphs(Charset(), [tmp_path])
    (tmp_path / "broken.ttf").write_bytes(b"no font")
    with pytest.raises(ValueError, match=r"none of the 1 fonts.*cannot be read"):
        load_or_draw_glyphs(Charset(), [tmp_path], tmp_path)


def test_training_and_held_out_fonts_are_all_fonts(atlas):
    training = atlas.training()
    held_out = atlas.held_out()
    kept_out = _fonts(held_out)
    assert sorted(training.names + kept_out) == sorted(atlas.names)
    assert len(training) and kept_out
    alone = replace(atlas.select([0]))
    assert alone.training().names == _fonts(alone.held_out()) == alone.names


def _fonts(atlas):
    """Names of all but the faces that are drawn by code."""
    return [name for name in atlas.names if not is_machine(name)]


def test_drawing_that_takes_long_is_announced(folder, monkeypatch, capsys):
    """In logs too: standard error of tests is no terminal."""
    for name in ("_LONG", "_LINE_EVERY"):
        monkeypatch.setattr(rasterize_parallel, name, 0.0)
    fonts = sorted(folder.iterdir())[:1]
    assert list(rasterize_parallel.rasterize_parallel(fonts, "ab"))
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith(
        "drawing 2 characters of 1 fonts: about 1 min, kept for the next time"
    )
    assert second.endswith("1 of 1 fonts are drawn")


def test_who_stops_waits_for_no_font(tmp_path, monkeypatch):
    slow = tmp_path / "slow.py"
    slow.write_text("import time; time.sleep(60)")
    monkeypatch.setattr(rasterize, "__file__", str(slow))
    start = time.monotonic()
    with rasterize_parallel._Drawing("ab") as drawing:
        drawing.pool.map(drawing.draw, [["one.ttf"], ["two.ttf"], ["three.ttf"]])
        time.sleep(1)
    assert time.monotonic() - start < 20
