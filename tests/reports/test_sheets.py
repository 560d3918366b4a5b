import pytest
from PIL import Image, ImageFont

from vit_str.reports.sheets import Captioned, caption_font, sheet, write_picture


def colors(picture: Image.Image, box: tuple[int, int, int, int]) -> set[object]:
    return {color for _, color in picture.crop(box).getcolors(9999)}


def test_pictures_lie_in_rows_with_captions_below():
    cells = [
        Captioned(Image.new("RGB", (40, 20), color), "gjÅ|" * 9, color)
        for color in ("red", "blue")
    ]
    picture = sheet([*cells, cells[0]], columns=2)
    assert picture.size == (2 * 46, 2 * 38)
    assert colors(picture, (0, 0, 40, 20)) == {(255, 0, 0)}
    assert colors(picture, (46, 0, 86, 20)) == {(0, 0, 255)}
    assert (255, 0, 0) in colors(picture, (0, 20, 46, 38))
    assert (0, 0, 255) not in colors(picture, (0, 20, 46, 38)), (
        "no caption leaves its cell"
    )
    assert colors(picture, (46, 38, 92, 76)) == {(255, 255, 255)}


def test_captions_in_a_script_that_the_usual_font_lacks(matplotlib_fonts):
    def find():
        return [matplotlib_fonts / name for name in ("cmsy10.ttf", "DejaVuSans.ttf")]

    font = caption_font("Здравствуй мир", find)
    assert isinstance(font, ImageFont.FreeTypeFont)
    assert font.getname()[0] == "DejaVu Sans"
    usual = ImageFont.load_default(11)
    glyphs = [bytes(font.getmask(character)) for character in "Здравст"]
    assert len(set(glyphs)) == len("Здравст"), (
        "every letter its own shape, not a box for all"
    )
    assert len({bytes(usual.getmask(character)) for character in "Здравст"}) == 1


def test_english_captions_look_for_no_font():
    def find():
        raise AssertionError

    assert (
        caption_font("Word 1%", find).getname() == ImageFont.load_default(11).getname()
    )


def test_a_picture_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "sheet.jpg"
    write_picture(path, Image.new("RGB", (40, 20), "red"))
    before = path.read_bytes()
    with pytest.raises(OSError, match="cannot write mode RGBA as JPEG"):
        write_picture(path, Image.new("RGBA", (40, 20)))
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
