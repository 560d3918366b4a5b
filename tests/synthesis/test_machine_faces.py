"""Faces of machines that are drawn by code, behind the fonts of an atlas."""

import numpy as np
import pytest
import torch

from vit_str.characters.charset import Charset
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.machine_faces import (
    DOTS,
    FOURTEEN,
    OPTICAL,
    ROLLED,
    SEVEN,
    WHEELS,
    faces_of_fonts,
    is_only_to_test,
    kind_of_face,
)


@pytest.fixture(scope="module")
def machines(atlas) -> GlyphAtlas:
    return atlas.with_machine_faces()


def glyph(atlas: GlyphAtlas, face: int, character: str) -> np.ndarray:
    (id_,) = atlas.charset.encode(character)
    start = int(atlas.starts[face, id_])
    width = int(atlas.widths[face, id_])
    return atlas.columns[start : start + width].numpy()


def faces(atlas: GlyphAtlas, kind: str) -> list[int]:
    return [
        place for place, name in enumerate(atlas.names) if kind_of_face(name) == kind
    ]


def test_faces_stand_behind_the_fonts_which_stay_as_they_are(atlas, machines):
    assert machines.names[: len(atlas)] == atlas.names
    assert len(machines) > len(atlas) + 40
    assert torch.equal(machines.columns[: len(atlas.columns)], atlas.columns)
    assert torch.equal(machines.starts[: len(atlas)], atlas.starts)
    assert machines.with_machine_faces() is machines
    assert len(set(machines.names)) == len(machines)


def test_every_glyph_of_a_face_has_ink_within_the_line(machines):
    for kind in (SEVEN, FOURTEEN, DOTS, WHEELS):
        places = faces(machines, kind)
        assert places
        correct = machines.is_correct[places]
        assert (machines.widths[places][correct] > 0).all(), (
            "but for the space of others"
        )
        assert not machines.widths[places][~correct].any()
        for character in "0123456789":
            assert machines.is_correct[
                places, machines.charset.encode(character)[0]
            ].all()
            assert all(glyph(machines, face, character).max() > 200 for face in places)


@pytest.mark.parametrize("kind", [SEVEN, FOURTEEN, DOTS])
def test_no_two_characters_of_a_face_look_the_same(machines, kind):
    for face in faces(machines, kind):
        known = machines.is_correct[face].nonzero()[:, 0].tolist()
        seen = {}
        for id_ in known:
            character = machines.charset.characters[id_]
            # Ghosts are in all of them
            ink = glyph(machines, face, character) > 128
            inked = ink[ink.any(1)]
            place = float(machines.bearings[face, id_])
            key = (inked.tobytes(), inked.shape, place)
            assert key not in seen, (machines.names[face], character, seen.get(key))
            seen[key] = character


def test_ghosts_are_faint(machines):
    """What is not lit stays far below what is."""
    levels = set()
    for face in faces(machines, SEVEN):
        ink = glyph(machines, face, "1")
        # A column through the left side, which is not lit in a 1
        left = ink[: len(ink) // 3]
        levels.add(int(left.max()) if len(ink) > 12 else 0)
        assert ink.max() == 255
    ghosts = {level for level in levels if level < 60}
    assert len(ghosts) > 3, "some faces have ghosts, of different strengths"
    assert max(ghosts) < 50


def test_wheels_roll_less_than_half_way(machines):
    """A digit that has not come to rest is still the one that is seen most."""
    resting = [
        face
        for face in faces(machines, WHEELS)
        if not machines.names[face].endswith(ROLLED)
    ]
    for face in resting:
        assert machines.names[face + 1] == f"{machines.names[face]} {ROLLED}"
        for digit in "0123456789":
            at_rest = 255 - glyph(machines, face, digit).astype(float)
            turning = 255 - glyph(machines, face + 1, digit).astype(float)
            assert at_rest.shape == turning.shape
    moved = [
        not np.array_equal(glyph(machines, face, "8"), glyph(machines, face + 1, "8"))
        for face in resting
    ]
    assert all(moved)


def test_held_out_faces_are_others(atlas):
    training = atlas.with_machine_faces()
    held_out = atlas.with_machine_faces(held_out=True)
    for kind in (SEVEN, FOURTEEN, DOTS):
        seen = {glyph(training, face, "5").tobytes() for face in faces(training, kind)}
        others = {
            glyph(held_out, face, "5").tobytes() for face in faces(held_out, kind)
        }
        assert others and not seen & others
    assert any(map(kind_of_face, atlas.held_out().names))


def test_charsets_without_digits_have_no_wheels_and_those_without_ascii_none(atlas):
    letters = Charset("ABCDE")
    ids = torch.tensor(atlas.charset.encode("ABCDE"))
    few = GlyphAtlas(
        columns=atlas.columns,
        starts=atlas.starts[:, ids],
        widths=atlas.widths[:, ids],
        bearings=atlas.bearings[:, ids],
        advances=atlas.advances[:, ids],
        is_correct=atlas.is_correct[:, ids],
        names=atlas.names,
        charset=letters,
    )
    machines = few.with_machine_faces()
    assert not faces(machines, WHEELS) and faces(machines, DOTS)


def test_fonts_of_machines_are_believed_by_their_names(
    atlas, matplotlib_fonts, tmp_path
):
    names = ("OCRB", "DSEG7Classic-Bold", "DSEG14Modern-Regular", "Other")
    for name in names:
        (tmp_path / f"{name}.ttf").write_bytes(
            (matplotlib_fonts / "DejaVuSansMono.ttf").read_bytes()
        )
    machines = atlas.with_faces(
        faces_of_fonts(sorted(tmp_path.iterdir()), atlas.charset)
    )
    added = machines.names[len(atlas) :]
    assert sorted(map(kind_of_face, added)) == sorted([OPTICAL, SEVEN, FOURTEEN])
    (optical,) = faces(machines, OPTICAL)
    assert machines.is_correct[optical].all()
    (seven,) = faces(machines, SEVEN)
    written = {
        machines.charset.characters[id_]
        for id_ in machines.is_correct[seven].nonzero()[:, 0]
    }
    assert set("0123456789-.:") <= written
    assert not set("KMVWXZSgkmsvwxz") & written, "what seven segments cannot show"
    # Those to train with are drawn by code
    assert not any(map(is_only_to_test, machines.training().names))
    assert sum(map(is_only_to_test, machines.held_out().names)) == 2
    assert faces(machines.training().with_machine_faces(), SEVEN)
