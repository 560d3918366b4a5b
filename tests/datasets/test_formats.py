"""Which format a path holds."""

import pytest

from vit_str.datasets import READERS, WordStream, open_words


@pytest.mark.parametrize("name", READERS)
def test_every_format_has_a_reader_that_refuses_what_is_not_there(name, tmp_path):
    reader = READERS[name]
    assert issubclass(reader, WordStream)
    assert reader.format == name
    with pytest.raises(ValueError, match="nowhere") as caught:
        open_words(tmp_path / "nowhere", name)
    assert "\n" not in str(caught.value)


def test_what_is_nothing(tmp_path):
    with pytest.raises(ValueError, match="no such file or folder; check the path"):
        open_words(tmp_path / "none")
    with pytest.raises(ValueError, match="found no data set there; looked for labels"):
        open_words(tmp_path)
    with pytest.raises(ValueError, match="one of lmdb, synthtext, mjsynth, tar, tar"):
        open_words(tmp_path, "zip")


def test_what_to_do_about_a_folder_without_a_usual_label_file(tmp_path):
    with pytest.raises(ValueError, match="named by what they say, give --format names"):
        open_words(tmp_path)
    (tmp_path / "truth.csv").write_text("a.png,one\n")
    with pytest.raises(
        ValueError, match=r"if truth\.csv has the labels, give its path"
    ):
        open_words(tmp_path)
    assert len(open_words(tmp_path / "truth.csv")) == 1
