"""What a question cannot answer is said in one line, and nothing is written."""

from pathlib import Path
from typing import Any

import pytest

from vit_str.cli import main

CONVOLUTIONAL = f"untrained:{Path(__file__).parents[2]}/configs/conv_transformer.yaml"
WRONG_USE = [
    (["distance", "no-such"], "no model 'no-such'"),
    (["distance", "tiny", "--data", "no-such"], "no such folder"),
    (["distance", "tiny", "--count", "0"], "--count"),
    (["distance", "tiny", "--device", "abacus"], "unknown device"),
    (["distance", "tiny", "tiny"], "once"),
    (
        ["characters", "SMALL", "--block", "2"],
        "--block and --head are from 1 to 1 and 2",
    ),
    (["characters", "SMALL", "--head", "0"], "--block and --head"),
    (["characters", "SMALL", "--show", "-1"], "--show must be from 0"),
    (["rollout", CONVOLUTIONAL], "ConvolutionalEncoder holds no attention"),
    (["receptive-field", "SMALL", "--queries", "0"], "queries must be 1 or more"),
]
OTHER_LIBRARIES = [
    (["characters", "timm:test_vit"], "is not a model that reads"),
    (
        ["rollout", "untrained:timm:swin_tiny_patch4_window7_224"],
        "attention inside windows",
    ),
    (
        ["distance", "untrained:timm:test_vit", "--data", "rendered"],
        "give --data FOLDER",
    ),
    (
        ["vit-paper", "untrained:timm:nothing", "--data", "rendered"],
        "give --data FOLDER, such as data/samples of a checkout",
    ),
    (["distance", "untrained:timm:nothing"], "timm has no model 'nothing'"),
    (["distance", "untrained:torchvision:resnet18"], "ResNet is not supported"),
    (
        ["distance", "untrained:timm:test_vit", "--checkpoint", "x.pt"],
        "found 0 that take it",
    ),
    (["distance", "timm:test_vit", "--checkpoint", "x.pt"], "x.pt: no such file"),
    (["distance", "tiny", "timm:test_vit"], "not loaded (no network"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG_USE + OTHER_LIBRARIES)
def test_refusal(
    arguments, message, small_weights, labeled_folder, tmp_path, capsys, monkeypatch
):
    if (arguments, message) in OTHER_LIBRARIES:
        pytest.importorskip("torchvision")
        pytest.importorskip("transformers")
        patch_timm(monkeypatch)
    arguments = [
        str(small_weights()) if word == "SMALL" else word for word in arguments
    ]
    data = [] if "--data" in arguments else ["--data", str(labeled_folder)]
    out = tmp_path / "out"
    assert main(["analyze", *arguments, *data, "--out", str(out)]) == 2
    *progress, error = capsys.readouterr().err.splitlines()
    assert all("image" in line for line in progress)
    assert error.startswith("vit-str analyze: ")
    assert message in error
    assert not out.exists()


def test_a_page_that_cannot_be_written(
    small_weights, labeled_folder, tmp_path, capsys, monkeypatch
):
    """It is said before anything is measured, which may take long."""
    monkeypatch.setattr("vit_str.analysis.results.load_images", None)
    (tmp_path / "out").write_text("a file")
    options = ["--data", str(labeled_folder), "--out", str(tmp_path / "out")]
    assert main(["analyze", "rollout", str(small_weights()), *options]) == 1
    (error,) = capsys.readouterr().err.splitlines()
    assert error == f"vit-str analyze: {tmp_path / 'out'}: Not a directory"


def patch_timm(monkeypatch: pytest.MonkeyPatch) -> None:
    """No network: weights cannot be fetched."""
    timm = pytest.importorskip("timm")
    create = timm.create_model

    def offline(*arguments: Any, pretrained: bool, **named: Any) -> Any:
        if pretrained:
            raise OSError("no network\nhere")
        return create(*arguments, pretrained=False, **named)

    monkeypatch.setattr(timm, "create_model", offline)
