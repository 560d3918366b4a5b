import pytest

from vit_str.charset import PADDING, PRINTABLE_ASCII, Charset


def test_the_default_is_the_94_printable_characters() -> None:
    charset = Charset()
    assert len(charset) == 94
    assert charset.characters == PRINTABLE_ASCII
    assert charset.decode(charset.encode("Hello,World!")) == "Hello,World!"


def test_any_script() -> None:
    charset = Charset("가나다라")
    assert charset.encode("다가") == [2, 0]
    assert charset.decode([2, 0, PADDING, PADDING]) == "다가"


def test_what_is_outside_is_reported_never_changed() -> None:
    charset = Charset("abc")
    assert charset.unknown("aXbéa") == "Xé"
    with pytest.raises(ValueError, match="'Xé', which the charset of 3 characters lacks"):
        charset.encode("aXbéa")


def test_batches_are_padded() -> None:
    batch = Charset("abc").encode_batch(["ab", "", "c"])
    assert batch.tolist() == [[0, 1], [PADDING, PADDING], [2, PADDING]]
    assert Charset("abc").encode_batch([]).shape == (0, 0)


@pytest.mark.parametrize("characters", ["", "aba"])
def test_every_character_once(characters: str) -> None:
    with pytest.raises(ValueError, match="every character once"):
        Charset(characters)
