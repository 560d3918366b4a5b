"""Finding lines: by ``rapidocr``, and on pages that lie on their side."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vit_str.machine import install_hint
from vit_str.pages.find.detection import (
    DETECTOR,
    RapidDetector,
    detector_file,
    find_lines,
)
from vit_str.pages.find.flattening import Middle
from vit_str.pages.find.geometry import Quadrilateral, rectangle, upright
from vit_str.pages.find.small_print import parts_with_ink

AGAIN = 'pip install --force-reinstall --no-deps "rapidocr>=3.9"'
DETECTION = "vit_str.pages.find.detection"
TURNS = Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_270


def table(numbers: int, pitch: int = 20) -> Image.Image:
    """Twenty bars for names, and two columns of others for numbers beside some of them."""
    page = Image.new("RGB", (400, 600), "white")
    pen = ImageDraw.Draw(page)
    for n in range(20):
        pen.rectangle((40, 40 + pitch * n, 140, 54 + pitch * n), "black")
        if n < numbers:
            pen.rectangle((240, 40 + pitch * n, 270, 54 + pitch * n), "black")
            pen.rectangle((300, 40 + pitch * n, 330, 54 + pitch * n), "black")
    return page


class Bars:
    """Finds bars, with margins; of a page on its side only two thirds of the short ones."""

    def __init__(self) -> None:
        self.looks = 0

    def lines(self, image: Image.Image) -> list[Quadrilateral]:
        """See `LineDetector`."""
        self.looks += 1
        cv2 = pytest.importorskip("cv2")
        dark = (np.asarray(image.convert("L")) < 128).astype(np.uint8)
        _, _, boxes, _ = cv2.connectedComponentsWithStats(dark)
        found = [
            upright(rectangle(x - 4, y - 4, x + w + 4, y + h + 4))
            for x, y, w, h, _ in boxes[1:]
        ]
        if image.width < image.height:
            return found
        is_short = [np.ptp(line, axis=0).max() < 60 for line in found]
        return [
            line
            for number, (line, short) in enumerate(zip(found, is_short, strict=True))
            if not short or number % 3
        ]


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize(
    ("numbers", "pitch", "looks"), [(20, 20, 2), (20, 26, 1), (3, 20, 1), (0, 20, 1)]
)
def test_a_tight_table_on_its_side_is_looked_at_from_its_side(
    turn, numbers, pitch, looks
):
    """A table whose rows are apart is not, nor an article, whose lines are long."""
    detector = Bars()
    page = table(numbers, pitch).transpose(turn)
    found = find_lines(detector, page).quadrilaterals
    assert detector.looks == looks
    assert (len(found) == 20 + 2 * numbers) == (looks == 2 or not numbers)
    pixels = np.asarray(page.convert("L"))
    for line in found:
        left, top = line[0].astype(int) + 4
        right, bottom = line[2].astype(int) - 4
        assert left < right
        assert top < bottom
        assert (pixels[top:bottom, left:right] == 0).all()


def test_what_a_detector_finds_without_an_area_is_passed_over(capfd):
    line = np.array([(10, 10), (90, 10), (90, 30), (10, 30)], float)
    wrong = [
        line * np.nan,
        np.add(line, (0, np.inf)),
        line * [1, 0],
        line * [0, 1],
        line * 0,
    ]

    class Broken:
        def lines(self, image: Image.Image) -> list[np.ndarray]:
            return [*wrong, line]

        def lines_and_middles(
            self, image: Image.Image
        ) -> tuple[list[np.ndarray], list[Middle]]:
            points = np.stack([np.linspace(0, 90, 20), np.full(20, np.nan)], 1)
            return self.lines(image), [Middle(points, np.nan)] * 9

    found = find_lines(Broken(), Image.new("RGB", (100, 40), "white"))
    (left,) = found.quadrilaterals
    np.testing.assert_array_equal(left, line)
    assert found.bend is None
    assert capfd.readouterr().out == ""


def test_an_upright_page_is_looked_at_once():
    detector = Bars()
    assert len(find_lines(detector, table(20)).quadrilaterals) == 60
    assert detector.looks == 1


def lines_of_bars(size: tuple[int, int]) -> Image.Image:
    """A gray page with strokes as of letters, in lines."""
    page = Image.new("RGB", size, (230, 240, 250))
    pen = ImageDraw.Draw(page)
    for top in range(20, size[1] - 30, 50):
        for left in range(30, size[0] - 60, 12):
            pen.rectangle((left, top + left % 5, left + 5, top + 20), (40, 30, 20))
    return page


def test_lines_are_those_of_rapidocr():
    """Also of a narrow strip, which gets margins."""
    rapidocr = pytest.importorskip("rapidocr")
    detector = RapidDetector()
    values = {"Global.max_side_len": 2944, "Det.limit_side_len": 32}
    values |= {"Det.thresh": 0.2, "Det.box_thresh": 0.3, "Global.log_level": "error"}
    engine = rapidocr.RapidOCR(params=values)
    for size in ((736, 736), (960, 736), (2944, 96)):
        page = lines_of_bars(size)
        blue_first = np.asarray(page)[:, :, ::-1]
        expected = engine(blue_first, use_det=True, use_cls=False, use_rec=False)
        found = [line.tolist() for line in detector.lines(page)]
        assert found
        assert sorted(found) == sorted(upright(box).tolist() for box in expected.boxes)
    assert detector.lines(Image.new("RGB", (736, 736), "white")) == []


def test_rapidocr_itself_is_not_imported():
    """It takes longer than a page."""
    pytest.importorskip("pyclipper")
    program = """
import sys
from PIL import Image
from vit_str.pages.find.detection import RapidDetector
RapidDetector().lines(Image.new("RGB", (99, 99)))
print({"rapidocr", "omegaconf", "requests", "shapely"} & {*sys.modules})
"""
    command = [sys.executable, "-c", program]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda whole: b"", "No graph"),
        (lambda whole: whole[: len(whole) // 2], "parsing failed"),
        # What onnxruntime says of it is no UTF-8, for which it would try again, and print so
        (lambda whole: whole.replace(b"conv2d", b"\xff\xffnv2d", 1), "utf-8"),
    ],
)
def test_a_damaged_network_is_one_line(damage, reason, tmp_path, monkeypatch, capfd):
    network = detector_file()
    if network is None:
        pytest.skip("rapidocr is not installed")
    damaged = tmp_path / DETECTOR
    damaged.write_bytes(damage(network.read_bytes()))
    monkeypatch.setattr(f"{DETECTION}.detector_file", lambda: damaged)
    with pytest.raises(
        ValueError, match=rf"{DETECTOR}: damaged \(.*{reason}"
    ) as caught:
        RapidDetector()
    assert str(caught.value).endswith(f"; run: {AGAIN}")
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_network_that_opens_and_does_not_run_is_damaged(tmp_path, monkeypatch, capfd):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("pyclipper")
    picture, shares = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, sides)
        for name, sides in [("x", [1, 3, "h", "w"]), ("y", [1, 1, "h", "w"])]
    )
    seven = onnx.helper.make_tensor("seven", onnx.TensorProto.INT64, [1], [7])
    change = onnx.helper.make_node("Reshape", ["x", "seven"], ["y"])
    graph = onnx.helper.make_graph([change], "g", [picture], [shares], [seven])
    versions = [onnx.helper.make_opsetid("", 17)]
    model = onnx.helper.make_model(graph, opset_imports=versions, ir_version=8)
    onnx.save(model, tmp_path / DETECTOR)
    monkeypatch.setattr(f"{DETECTION}.detector_file", lambda: tmp_path / DETECTOR)
    with pytest.raises(ValueError, match=rf"{DETECTOR}: damaged \(.*Reshape") as caught:
        RapidDetector()
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("package", "hint"),
    [(None, install_hint("photo")), (ModuleType("rapidocr"), AGAIN)],
)
def test_a_rapidocr_that_is_missing_or_old_is_one_line(package, hint, monkeypatch):
    """One that is there already would not be installed anew for its extra."""
    monkeypatch.setattr(f"{DETECTION}.detector_file", lambda: None)
    monkeypatch.setattr(f"{DETECTION}.find_spec", lambda name: package)
    with pytest.raises(ValueError, match=r"needs rapidocr from 3\.9 on") as caught:
        RapidDetector()
    assert str(caught.value).endswith(f", run: {hint}")


def test_an_opencv_that_cannot_be_imported_says_why(tmp_path, monkeypatch):
    """Installing the extra would change nothing."""
    reason = "libGL.so.1: cannot open shared object file"
    (tmp_path / "cv2.py").write_text(f"raise ImportError({reason!r})\n")
    monkeypatch.delitem(sys.modules, "cv2", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=rf"OpenCV \({reason}\), run: pip .*headless"):
        RapidDetector()


def test_no_memory_is_kept_between_pages():
    """The network takes 200 MB for a page."""
    pytest.importorskip("rapidocr")
    status = Path("/proc/self/status")
    if not status.is_file():
        pytest.skip("asks Linux")

    def kilobytes() -> int:
        return int(status.read_text().partition("VmRSS:")[2].split()[0])

    detector = RapidDetector()
    detector.lines(lines_of_bars((736, 736)))
    before = kilobytes()
    detector.lines(lines_of_bars((1472, 1120)))
    assert kilobytes() - before < 60_000


@pytest.mark.parametrize(
    ("side", "places", "frame"),
    [
        (3000, [(200, 300)], True),
        (4000, [(3000, 3900)], False),
        (3000, [(70, 60), (1500, 1500), (2500, 2880)], True),
    ],
)
def test_small_print_on_large_sheets_is_found(side, places, frame):
    pytest.importorskip("rapidocr")
    sheet = Image.new("RGB", (side, side), "white")
    pen = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(26)
    for at in places:
        pen.text(at, "A small line", "black", font)
    if frame:
        pen.rectangle((2, 2, side - 3, side - 3), outline="black", width=3)
    detector = RapidDetector()
    found = find_lines(detector, sheet).quadrilaterals
    for at in places:
        text = np.array(pen.textbbox(at, "A small line", font))
        assert any(
            (line.min(0) <= text[:2] + 4).all() and (line.max(0) >= text[2:] - 4).all()
            for line in found
        )
    assert len(found) == len(places)


def test_only_sheets_that_are_nearly_empty_are_looked_at_closely():
    page = Image.new("RGB", (3000, 3000), "white")
    assert parts_with_ink(page, []) == []
    pen = ImageDraw.Draw(page)
    pen.rectangle((100, 100, 400, 120), "black")
    assert len(parts_with_ink(page, [])) == 1
    high = [rectangle(100, 100, 400, 200)]
    assert parts_with_ink(page, high) == []
    for top in range(200, 2900, 60):
        pen.rectangle((100, top, 2800, top + 20), "black")
    assert parts_with_ink(page, []) == []
    assert parts_with_ink(page.resize((2000, 2000)), []) == []
