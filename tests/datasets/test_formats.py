"""Which format a path holds."""

import pytest

from vit_str.datasets import READERS, WordSource, open_words


@pytest.mark.parametrize("name", READERS)
def test_every_format_has_a_reader_that_refuses_what_is_not_there(name, tmp_path):
    reader = READERS[name]
    assert issubclass(reader, WordSource)
    assert reader.format == name
    with pytest.raises(ValueError, match="nowhere") as caught:
        open_words(tmp_path / "nowhere", name)
    assert "\n" not in str(caught.value)


def test_what_is_nothing(tmp_path):
    with pytest.raises(ValueError, match=r"no such file or folder; looked for .*labels\.tsv"):
        open_words(tmp_path / "none")
    with pytest.raises(ValueError, match="found no data set there; looked for labels"):
        open_words(tmp_path)
    with pytest.raises(ValueError, match="one of lmdb, tar, folder"):
        open_words(tmp_path, "zip")
