import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from PIL import Image
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from vit_str.weights import WeightsFile, load_weights, renew_weights, resolve
from vit_str.weights.doctor import make_golden

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def checked_path(
    weights_path: Path, weights: WeightsFile, word_image: Callable[..., Image.Image]
) -> Path:
    file = replace(weights, temperature=1.25)
    golden = make_golden(file, [word_image(word) for word in ("one", "Two", "3")])
    renew_weights(weights_path, weights_path, replace(file, golden=golden))
    return weights_path


def change(path: Path, name: str, factor: float, checksum: bool = True) -> None:
    """Multiply a tensor in the file and leave the rest."""
    with safe_open(path, "pt") as file:
        metadata = file.metadata()
    if not checksum:
        del metadata["sha256"]
    tensors = load_file(path)
    tensors[name] = tensors[name] * factor
    save_file(tensors, path, metadata)


def test_all_well(run: Run, checked_path: Path) -> None:
    code, out, err = run("doctor", checked_path, "--device", "cpu")
    assert (code, err) == (0, "")
    assert out.rstrip().endswith("all well")
    for part in (
        f"torch {torch.__version__.partition('+')[0]}",
        "as it was written",
        "VisionTransformer and TransformerDecoder",
        "stored as F32, U8",
        "94 characters, temperature 1.25",
        "note: random",
        "3 golden images",
        "3 of 3",
    ):
        assert part in out


def test_json_has_it_all(run: Run, checked_path: Path) -> None:
    code, out, _ = run("doctor", checked_path, "--json")
    values = json.loads(out)
    assert code == 0
    assert values["problems"] == []
    assert values["file"]["intact"] is True
    assert values["file"]["temperature"] == 1.25
    assert "cpu" in values["devices"]
    first = values["checks"][0]
    assert (first["device"], first["precision"], first["well"]) == ("cpu", "float32", True)


def test_a_changed_tensor_is_found(run: Run, checked_path: Path) -> None:
    change(checked_path, "decoder.classify.weight", 1.01)
    code, out, err = run("doctor", checked_path)
    assert (code, out) == (2, "")
    assert "its checksum does not fit; download or export it again" in err


def test_a_changed_tensor_is_found_without_a_checksum_too(
    run: Run, checked_path: Path, weights: WeightsFile
) -> None:
    golden = load_weights(checked_path).golden
    change(checked_path, "encoder.embed_patches.weight", 1.01, checksum=False)
    renew_weights(checked_path, checked_path, replace(weights, temperature=1.25, golden=golden))
    code, _, err = run("doctor", checked_path, "--device", "cpu")
    assert code == 1
    assert "checksum" not in err
    assert "get the file again, then compare the versions" in err


def test_a_file_without_golden_images(run: Run, weights_path: Path) -> None:
    code, out, _ = run("doctor", weights_path)
    assert code == 0
    assert "no golden images: reading cannot be compared" in out
    assert "all well" not in out


def test_files_that_cannot_be_used(run: Run, weights_path: Path) -> None:
    cut = weights_path.with_name("cut.safetensors")
    cut.write_bytes(weights_path.read_bytes()[:5000])
    for arguments, trouble in [
        ([cut], "damaged"),
        ([weights_path.with_name("missing.safetensors")], "no such file"),
        (["huge"], "no model 'huge'"),
        ([cut, "--device", "tpu"], "damaged"),
        ([weights_path, "--device", "tpu"], "unknown device 'tpu'"),
    ]:
        code, out, err = run("doctor", *arguments)
        assert (code, out) == (2, "")
        assert trouble in err
        assert err.count("\n") == 1


def test_a_golden_image_that_is_damaged(run: Run, checked_path: Path, weights: WeightsFile) -> None:
    golden = load_weights(checked_path).golden
    assert golden is not None
    images = (golden.images[0][:40], *golden.images[1:])
    damaged = replace(weights, golden=replace(golden, images=images))
    renew_weights(checked_path, checked_path, damaged)
    code, _, err = run("doctor", checked_path)
    assert code == 1
    assert "cpu, torch, float32: cannot read the golden images:" in err


def test_the_weights_of_the_package_are_well(run: Run) -> None:
    code, _, err = run("doctor", "--device", "cpu")
    assert (code, err) == (0, "")
    assert resolve("tiny").is_file()
