from itertools import pairwise

import pytest

from vit_str.synthesis.fonts import family_of, find_fonts, limit_families, split_fonts

NAMES = [
    f"Family {number}{style}/file{number}"
    for number in range(300)
    for style in ("", " Bold", " Light Italic")
]


def test_finds_fonts_once_in_order(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("b.ttf", "deep/a.OTF", "readme.txt"):
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / "copy.ttf").write_bytes(b"b.ttf")
    found = find_fonts([tmp_path])
    assert [path.relative_to(tmp_path.resolve()).as_posix() for path in found] == [
        "b.ttf",
        "deep/a.OTF",
    ]


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"no folder at .*nowhere"):
        find_fonts([tmp_path / "nowhere"])


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("Lato/Lato-Black", "lato"),
        ("Lato Semi Bold Italic/x", "lato"),
        ("Open Sans ExtraBold/x", "open sans"),
        ("Black/x", "black"),
        ("Goldbold/x", "goldbold"),
    ],
)
def test_family_is_freed_of_styles(name, family):
    assert family_of(name) == family


def test_split_keeps_families_together():
    training, held_out = split_fonts(NAMES, held_out=0.1)
    assert sorted(training + held_out) == list(range(len(NAMES)))
    families = [
        {family_of(NAMES[index]) for index in side} for side in (training, held_out)
    ]
    assert not families[0] & families[1]
    assert 15 <= len(families[1]) <= 45


def test_split_leaves_something_on_both_sides():
    assert all(split_fonts(["A/a", "B/b"], held_out=0))
    assert all(split_fonts(["A/a", "B/b"], held_out=1))
    assert split_fonts(["A/a", "A Bold/b"]) == ([0, 1], [])


def test_large_families_are_thinned_evenly():
    names = [f"Large Bold/{number}" for number in range(40)] + [
        "Small/a",
        "Small Bold/b",
    ]
    kept = limit_families(names, range(1, 42), most=4)
    assert [names[index] for index in kept[-2:]] == ["Small/a", "Small Bold/b"]
    assert len(kept) == 6
    steps = [second - first for first, second in pairwise(kept[:4])]
    assert min(steps) >= 9 and kept[0] == 1
    assert limit_families(names, [3, 5, 40], most=4) == [3, 5, 40]
