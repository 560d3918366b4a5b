"""A kit gives what it was written from."""

import sys
from copy import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from vit_str.characters.charset import Charset
from vit_str.synthesis.kit import Kit, write_kit
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.materials import InstalledMaterials
from vit_str.synthesis.renderer import Renderer


@pytest.fixture
def pictures(tmp_path) -> Path:
    """A folder with one colorful picture of two tiles."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    pixels = np.random.default_rng(1).integers(0, 256, (64, 128, 3), dtype=np.uint8)
    Image.fromarray(pixels).resize((1024, 512)).save(folder / "one.png")
    return folder


@pytest.fixture
def installed(two_fonts, pictures, monkeypatch) -> InstalledMaterials:
    """Two fonts and a picture, whose glyphs are drawn."""
    monkeypatch.setenv("VIT_STR_CACHE", str(two_fonts.parent))
    materials = InstalledMaterials([two_fonts], [pictures])
    materials.atlas(Charset())
    return materials


def words_of(materials, size=64):
    charset = materials.charsets[0]
    lexicon = Lexicon(charset, word_lists=materials.word_lists)
    renderer = Renderer(
        materials.atlas(charset).training(), lexicon, pictures=materials.pictures
    )
    return renderer.batch(size, seed=3, index=5)


def test_the_same_words_are_drawn_from_the_file_as_from_the_fonts(
    installed, tmp_path, monkeypatch
):
    from_fonts = words_of(installed)
    write_kit(tmp_path / "all.kit", [installed])
    kit = Kit(tmp_path / "all.kit")
    assert kit.charsets == [Charset()]
    assert kit.language(Charset()) == "en"
    monkeypatch.setattr("vit_str.synthesis.fonts.find_fonts", None)
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    monkeypatch.setitem(sys.modules, "fontTools", None)
    monkeypatch.setenv("VIT_STR_CACHE", str(tmp_path / "nothing"))
    from_kit = words_of(kit)
    assert torch.equal(from_kit.images, from_fonts.images)
    assert torch.equal(from_kit.labels, from_fonts.labels)
    assert torch.equal(from_kit.boxes, from_fonts.boxes)
    assert torch.equal(from_kit.token_characters, from_fonts.token_characters)


def test_fonts_to_train_with_and_held_out_ones_are_in_it(installed, tmp_path):
    write_kit(tmp_path / "all.kit", [installed])
    atlas = Kit(tmp_path / "all.kit").atlas(Charset())
    whole = installed.atlas(Charset())
    assert atlas.names == whole.names
    for name in ("columns", "starts", "widths", "bearings", "advances", "is_correct"):
        assert torch.equal(getattr(atlas, name), getattr(whole, name)), name
    assert atlas.training().names == whole.training().names
    assert atlas.held_out().names == whole.held_out().names


def test_what_it_lacks_is_said_in_a_line(installed, tmp_path):
    write_kit(tmp_path / "all.kit", [installed])
    kit = Kit(tmp_path / "all.kit")
    with pytest.raises(ValueError, match="no glyphs of these 3 characters"):
        kit.atlas(Charset("abc"))
    with pytest.raises(ValueError, match="no lists for words, de: write one"):
        kit.word_lists(["words", "de", "abc", 25], list)


def test_fonts_of_the_same_characters_must_agree(installed, font_folder, tmp_path):
    other = InstalledMaterials([font_folder])
    other.given_atlases[Charset()] = installed.atlas(Charset()).select([0])
    with pytest.raises(ValueError, match="other fonts: write a kit for each"):
        write_kit(tmp_path / "all.kit", [installed, other])


def test_pictures_must_agree(installed, tmp_path):
    other = copy(installed)
    other.tiles = installed.tiles[:1]
    with pytest.raises(ValueError, match="other pictures: write a kit for each"):
        write_kit(tmp_path / "all.kit", [installed, other])


def read_all(kit):
    return kit.atlas(Charset()), kit.pictures


def test_damaged_files_and_others_are_refused(installed, tmp_path):
    path = tmp_path / "all.kit"
    write_kit(path, [installed])
    whole = path.read_bytes()
    path.write_bytes(whole[:-2000])
    with pytest.raises(ValueError, match="cannot read the kit"):
        Kit(path)
    path.write_bytes(whole[:-9000] + bytes(9000))
    with pytest.raises(ValueError, match="is damaged"):
        read_all(Kit(path))
    path.write_bytes(b"no kit")
    with pytest.raises(ValueError, match="cannot read the kit"):
        Kit(path)
    with pytest.raises(ValueError, match="cannot read the kit"):
        Kit(tmp_path / "nowhere.kit")
