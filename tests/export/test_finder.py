"""A network that finds as a graph: the same maps without torch, at any size."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from PIL import Image

from vit_str.cli import main
from vit_str.models.finder import Finder
from vit_str.pages.find.detectors import open_detector
from vit_str.pages.find.maps import MAPS, SHARES
from vit_str.pages.find.own_detector import FinderDetector
from vit_str.torch_runtime.network_files import FINDER

pytestmark = pytest.mark.usefixtures("without_shape_checks")


@pytest.fixture(scope="module")
def weights(tmp_path_factory) -> Path:
    """A small network with random weights."""
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("finder") / "finder.safetensors"
    sizes = {"widths": [8] * 4, "depths": [1] * 4, "back": [8] * 4}
    FINDER.save(path, Finder(len(MAPS), **sizes), MAPS, {})
    return path


@pytest.fixture(scope="module")
def graph(weights) -> Path:
    """The same as a graph."""
    path = weights.with_suffix(".onnx")
    assert main(["export", str(weights), "--out", str(path)]) == 0
    return path


@torch.no_grad()
@pytest.mark.parametrize("size", [(32, 32), (96, 160)])
def test_the_graph_finds_the_same_as_the_network(weights, graph, size):
    images = np.random.default_rng(1).random((1, 3, *size), np.float32)
    session = onnxruntime.InferenceSession(graph)
    [[found]] = session.run(None, {"images": images})
    maps = FINDER.load(weights).network(torch.from_numpy(images))[0]
    maps[:SHARES] = maps[:SHARES].sigmoid()
    assert np.abs(found - maps.numpy()).max() < 1e-4


def test_a_detector_of_it_finds_lines_in_pictures_of_any_size(graph):
    detector = open_detector(str(graph))
    assert isinstance(detector, FinderDetector)
    maps, scale = detector.maps(Image.new("RGB", (801, 333), "white"))
    rows, columns = maps.shape[1:]
    assert min(rows, columns) * 4 == pytest.approx(736, abs=16)
    assert scale == pytest.approx([801 / columns / 4, 333 / rows / 4])
    assert isinstance(detector.lines(Image.new("RGB", (90, 50))), list)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "folder"], "let its name end in .onnx"),
        (["--web", "folder"], "give --out FILE.onnx"),
        (["--out", "finder.onnx", "--int8"], "no graph in 8 bits"),
    ],
)
def test_mistakes_are_one_line(weights, arguments, message, capsys):
    assert main(["export", str(weights), *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_other_files_are_no_detectors(tmp_path):
    other = tmp_path / "other.onnx"
    other.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="no network that finds lines"):
        open_detector(str(other))
    with pytest.raises(ValueError, match="no such file; give auto, ours, rapidocr, or"):
        open_detector("nowhere.onnx")
