import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import vit_str.weights.file
from vit_str.charset import Charset
from vit_str.images import Preprocessing
from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer
from vit_str.weights import WeightsFile, load_weights, renew_weights, resolve, save_weights
from vit_str.weights.golden import Golden
from vit_str.weights.header import is_intact

GOLDEN = Golden(
    (b"an image", b"another"), ("é", ""), (0.5, 1.0), (((3.5, 1.0),) * 2, ((9.0, 2.0),))
)


def metadata(path: Path) -> dict[str, str]:
    with safe_open(path, "pt") as file:
        values: dict[str, str] = file.metadata()
        return values


def change(path: Path, **values: str) -> Path:
    """Write the file again with other metadata."""
    save_file(load_file(path), path, metadata(path) | values)
    return path


def test_everything_comes_back(
    tmp_path: Path,
    small_recognizer: Callable[..., Recognizer],
    word_image: Callable[..., Image.Image],
) -> None:
    recognizer = small_recognizer(charset_size=3, seed=5)
    preprocessing = Preprocessing(mean=(0.1, 0.2, 0.3))
    path = tmp_path / "new" / "folder" / "한글.safetensors"
    save_weights(path, recognizer, Charset("가나é"), preprocessing, {"steps": 7, "by": "é"})
    file = load_weights(path)
    assert file.charset == Charset("가나é")
    assert file.preprocessing == preprocessing
    assert file.provenance == {"steps": 7, "by": "é"}
    assert not file.recognizer.training
    pixels = preprocessing.pixels(word_image("abc"))
    images = preprocessing.normalize(pixels)[None]
    found, expected = file.recognizer.generate(images), recognizer.generate(images)
    assert torch.equal(found.labels, expected.labels)
    assert torch.equal(found.confidences, expected.confidences)
    assert os.listdir(path.parent) == [path.name]


def test_fixed_positions_are_computed_again(tmp_path: Path) -> None:
    encoder = VisionTransformer(32, 1, 2, patch_size=(8, 16), positions="sinusoidal")
    recognizer = Recognizer(encoder, TransformerDecoder(94, 32, 1, 2)).eval()
    path = tmp_path / "a.safetensors"
    save_weights(path, recognizer, Charset(), Preprocessing(), {})
    images = torch.randn(2, 3, 32, 128)
    assert torch.equal(load_weights(path).recognizer.encode(images), recognizer.encode(images))


def test_half_precision_halves_the_file_and_reads_as_float32(
    tmp_path: Path, small_recognizer: Callable[..., Recognizer]
) -> None:
    recognizer = small_recognizer()
    paths = tmp_path / "full.safetensors", tmp_path / "half.safetensors"
    for path, dtype in zip(paths, (None, torch.float16), strict=True):
        save_weights(path, recognizer, Charset(), Preprocessing(), {}, dtype)
    full, half = (path.stat().st_size for path in paths)
    assert half < 0.6 * full
    loaded = load_weights(paths[1]).recognizer.state_dict()
    for name, tensor in recognizer.state_dict().items():
        assert tensor.dtype == loaded[name].dtype == torch.float32
        torch.testing.assert_close(loaded[name], tensor, atol=1e-3, rtol=1e-3)


def test_the_metadata_is_text_that_others_can_read(weights_path: Path) -> None:
    values = metadata(weights_path)
    assert values["format"] == "vit-str"
    assert values["version"] == "1"
    assert values["charset"] == Charset().characters
    assert json.loads(values["preprocessing"])["width"] == 128
    assert json.loads(values["model"])["encoder"]["class"] == "VisionTransformer"
    assert json.loads(values["provenance"]) == {"note": "random"}


def test_a_failed_save_leaves_the_old_file(
    weights_path: Path, weights: WeightsFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = weights_path.read_bytes()

    def fill_disk(path: Path, _: bytes) -> None:
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fill_disk)
    with pytest.raises(OSError, match=r"No space left"):
        save_weights(weights_path, weights.recognizer, Charset(), Preprocessing(), {})
    assert weights_path.read_bytes() == before
    assert os.listdir(weights_path.parent) == [weights_path.name]


def test_others_may_read_the_file(weights_path: Path) -> None:
    plain = weights_path.with_name("plain")
    plain.touch()
    assert weights_path.stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize(
    ("size", "trouble"),
    [
        (0, "empty; download or export it again"),
        (5, "cut short, 5 of"),
        (300, "cut short, 300 of"),
        (0.5, "cut short, .* of .* bytes; download or export it again"),
        (-1, "cut short"),
    ],
)
def test_a_file_cut_short(weights_path: Path, size: float, trouble: str) -> None:
    data = weights_path.read_bytes()
    weights_path.write_bytes(data[: int(size * len(data)) if size == 0.5 else int(size)])
    with pytest.raises(ValueError, match=trouble) as caught:
        load_weights(weights_path)
    assert "\n" not in str(caught.value)
    assert str(weights_path) in str(caught.value)


def test_files_of_other_formats(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    foreign = {
        b"\x89PNG\r\n\x1a\n" + bytes(1000): "not a safetensors file",
        b"hello\n" * 100: "not a safetensors file",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0": "git lfs pull",
        (8).to_bytes(8, "little") + b"{broken}": "damaged",
        (2).to_bytes(8, "little") + b"{}extra bytes": "damaged",
        (14).to_bytes(8, "little") + b'{"a": [1,2,3]}': "damaged",
    }
    for data, trouble in foreign.items():
        path.write_bytes(data)
        with pytest.raises(ValueError, match=trouble) as caught:
            load_weights(path)
        assert "\n" not in str(caught.value)
    torch.save({"weight": torch.zeros(2)}, path)
    with pytest.raises(ValueError, match=r"PyTorch checkpoint"):
        load_weights(path)
    save_file({"weight": torch.zeros(2)}, path)
    with pytest.raises(ValueError, match=r"not from vit-str"):
        load_weights(path)


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no such file; check the path"):
        load_weights(tmp_path / "missing.safetensors")
    with pytest.raises(ValueError, match=r"cannot be read"):
        load_weights(tmp_path)


def test_a_later_version_is_refused(weights_path: Path) -> None:
    with pytest.raises(ValueError, match=r"version 3, this vit-str reads 1 and 2"):
        load_weights(change(weights_path, version="3"))


def test_the_version_is_the_lowest_that_understands_the_file(
    weights_path: Path, weights: WeightsFile
) -> None:
    for temperature, golden, version in [(1.0, None, "1"), (1.5, None, "2"), (1.0, GOLDEN, "2")]:
        renew_weights(
            weights_path, weights_path, replace(weights, temperature=temperature, golden=golden)
        )
        assert metadata(weights_path)["version"] == version


def test_files_from_before_temperatures_have_one_of_1(weights_path: Path) -> None:
    values = metadata(weights_path)
    for name in ("temperature", "sha256"):
        del values[name]
    save_file(load_file(weights_path), weights_path, values)
    file = load_weights(weights_path)
    assert file.temperature == 1
    assert file.golden is None
    assert is_intact(weights_path) is None


@pytest.mark.parametrize("temperature", ["0", "-1", "nan", "inf", "1e-300", "warm"])
def test_impossible_temperatures_are_refused(weights_path: Path, temperature: str) -> None:
    with pytest.raises(ValueError, match=r"(temperature is|convert string).*export it again"):
        load_weights(change(weights_path, temperature=temperature))


def test_impossible_temperatures_are_not_written(weights_path: Path, weights: WeightsFile) -> None:
    before = weights_path.read_bytes()
    with pytest.raises(ValueError, match=r"a temperature is 0\.01 to 100\.0, found 0"):
        renew_weights(weights_path, weights_path, replace(weights, temperature=0.0))
    assert weights_path.read_bytes() == before


def test_renewing_keeps_every_tensor_to_the_bit(
    tmp_path: Path, small_recognizer: Callable[..., Recognizer]
) -> None:
    old, new = tmp_path / "old.safetensors", tmp_path / "new.safetensors"
    save_weights(old, small_recognizer(), Charset(), Preprocessing(), {"by": "é"}, torch.float16)
    file = replace(load_weights(old), temperature=1.25, golden=GOLDEN, provenance={"a": 1})
    renew_weights(old, new, file)
    tensors = load_file(new)
    assert tensors.pop("golden.images").dtype == torch.uint8
    for name, tensor in load_file(old).items():
        assert tensors[name].dtype == torch.float16
        assert torch.equal(tensors.pop(name), tensor)
    assert not tensors
    found = load_weights(new)
    assert (found.temperature, found.golden, found.provenance) == (1.25, GOLDEN, {"a": 1})
    renew_weights(new, new, replace(found, golden=None, temperature=1.0))
    assert load_weights(new).golden is None
    assert "golden" not in metadata(new)


def test_the_checksum_covers_tensors_and_metadata(weights_path: Path) -> None:
    assert is_intact(weights_path) is True
    reversed_charset = Charset().characters[::-1]
    assert is_intact(change(weights_path, charset=reversed_charset)) is False
    assert is_intact(change(weights_path, charset=Charset().characters)) is True
    tensors = load_file(weights_path)
    tensors["decoder.norm.weight"][3] *= 1.01
    save_file(tensors, weights_path, metadata(weights_path))
    assert is_intact(weights_path) is False


def trouble(path: Path) -> str:
    """Why a file is refused; empty if it is not."""
    try:
        load_weights(path)
    except ValueError as error:
        return str(error)
    return ""


def test_damaged_bytes_are_refused_or_found(weights_path: Path, weights: WeightsFile) -> None:
    """One byte changed, anywhere: one line says so, or the checksum does; never a crash."""
    renew_weights(weights_path, weights_path, replace(weights, temperature=1.3, golden=GOLDEN))
    data = weights_path.read_bytes()
    header = int.from_bytes(data[:8], "little")
    generator = np.random.default_rng(5)
    places = [*range(8), *generator.integers(8, 8 + header, 150)]
    places += [*generator.integers(8 + header, len(data), 50)]
    refused = found = 0
    for place in places:
        damaged = bytearray(data)
        damaged[place] ^= int(generator.integers(1, 256))
        weights_path.write_bytes(damaged)
        message = trouble(weights_path)
        if message:
            refused += 1
            assert message.startswith(f"weights file {weights_path}: ")
            assert "\n" not in message
            continue
        # Without the name of the checksum there is none; padding of the header says nothing.
        intact = is_intact(weights_path)
        assert not intact or damaged[8 : 8 + header].strip() == data[8 : 8 + header].strip()
        found += intact is False
    assert refused > 50
    assert found > 40


@pytest.mark.parametrize(
    ("values", "trouble"),
    [
        ({"charset": "abc"}, "a model of 94 characters with a charset of 3"),
        ({"charset": "aa"}, "repeated"),
        ({"model": "{broken"}, "Expecting property name"),
        ({"model": '{"encoder": {"class": "Popen", "arguments": {}}}'}, "decoder"),
        ({"model": "[1]"}, "do not fit together"),
        ({"preprocessing": "{}"}, "preprocessing needs height"),
        ({"provenance": "5"}, "iterable"),
    ],
)
def test_parts_that_do_not_fit_together(
    weights_path: Path, values: dict[str, str], trouble: str
) -> None:
    with pytest.raises(ValueError, match=trouble) as caught:
        load_weights(change(weights_path, **values))
    assert "\n" not in str(caught.value)


def described(path: Path, part: str, **arguments: Any) -> str:
    model = json.loads(metadata(path)["model"])
    model[part]["arguments"] |= arguments
    return json.dumps(model)


def test_unknown_classes_are_never_built(weights_path: Path) -> None:
    model = json.loads(metadata(weights_path)["model"])
    model["encoder"]["class"] = "Popen"
    with pytest.raises(ValueError, match=r"unknown part 'Popen'; known are .*VisionTransformer"):
        load_weights(change(weights_path, model=json.dumps(model)))


def test_tensors_of_the_wrong_shape_or_number(weights_path: Path) -> None:
    wider = described(weights_path, "encoder", mlp_ratio=2.0)
    deeper = described(weights_path, "decoder", depth=2)
    with pytest.raises(ValueError, match=r"is of shape \(128.*\), the model needs \(64"):
        load_weights(change(weights_path, model=wider))
    with pytest.raises(ValueError, match=r"tensors missing or too many, the first is decoder\."):
        load_weights(change(weights_path, model=deeper))


def test_missing_metadata(weights_path: Path) -> None:
    values = metadata(weights_path)
    del values["charset"]
    save_file(load_file(weights_path), weights_path, values)
    with pytest.raises(ValueError, match=r"missing 'charset'"):
        load_weights(weights_path)


def test_nothing_is_unpickled(weights_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("unpickled")

    monkeypatch.setattr("pickle.Unpickler", refuse)
    monkeypatch.setattr("pickle.loads", refuse)
    monkeypatch.setattr(torch, "load", refuse)
    load_weights(weights_path)


def test_resolve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vit_str.weights.file, "BUNDLED", tmp_path)
    for name in ("tiny", "small"):
        (tmp_path / f"{name}.safetensors").touch()
    assert resolve("tiny") == tmp_path / "tiny.safetensors"
    assert resolve("mine.safetensors") == Path("mine.safetensors")
    assert resolve(tmp_path / "mine") == tmp_path / "mine"
    assert resolve(Path("other.safetensors")) == Path("other.safetensors")
    with pytest.raises(ValueError, match=r"no model 'huge': .* of the package: small, tiny$"):
        resolve("huge")
