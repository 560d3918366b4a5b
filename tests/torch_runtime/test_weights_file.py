import json
import os
import tracemalloc
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save, save_file

import vit_str.engines.weights_contents
from vit_str.characters.charset import Charset
from vit_str.engines.graph_files import DESCRIPTION, find_graphs, int8_weights
from vit_str.engines.initializers import (
    QUANTIZED_OUTPUTS,
    SCALE_OUTPUTS,
    initializer,
)
from vit_str.engines.weights_contents import (
    BUNDLED,
    SCALES,
    checksum,
    is_intact,
    load_contents,
    resolve,
)
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer
from vit_str.torch_runtime.engine import generate
from vit_str.torch_runtime.weights_file import (
    load_weights,
    renew_weights,
    save_weights,
    write_in_int8,
)

PREPROCESSING = json.dumps(Preprocessing().to_dict())


def metadata(path: Path) -> dict[str, str]:
    with safe_open(path, "pt") as file:
        values: dict[str, str] = file.metadata()
        return values


def change(path: Path, **values: str) -> Path:
    """Write the file again with other metadata, and a checksum that fits."""
    return write(path, load_file(path), metadata(path) | values)


def write(path: Path, tensors: dict[str, torch.Tensor], values: dict[str, str]) -> Path:
    values = values | {"sha256": checksum(BytesIO(save(tensors, values)))}
    save_file(tensors, path, values)
    return path


def test_everything_comes_back(tmp_path, small_recognizer, word_image):
    recognizer = small_recognizer(charset_size=3, seed=5)
    preprocessing = Preprocessing(mean=(0.1, 0.2, 0.3))
    path = tmp_path / "new" / "folder" / "한글.safetensors"
    save_weights(
        path, recognizer, Charset("가나é"), preprocessing, {"steps": 7, "by": "é"}
    )
    file = load_weights(path)
    assert file.charset == Charset("가나é")
    assert file.preprocessing == preprocessing
    assert file.provenance == {"steps": 7, "by": "é"}
    assert not file.recognizer.training
    pixels = preprocessing.pixels(word_image("abc"))
    images = preprocessing.normalize(pixels)[None]
    found, expected = (
        generate(model.decoder, model.encode(images))
        for model in (file.recognizer, recognizer)
    )
    assert torch.equal(found.labels, expected.labels)
    assert torch.equal(found.confidences, expected.confidences)
    assert os.listdir(path.parent) == [path.name]


def test_fixed_positions_are_computed_again(tmp_path):
    encoder = VisionTransformer(32, 1, 2, patch_size=(8, 16), positions="sinusoidal")
    recognizer = Recognizer(encoder, TransformerDecoder(94, 32, 1, 2)).eval()
    path = tmp_path / "a.safetensors"
    save_weights(path, recognizer, Charset(), Preprocessing(), {})
    images = torch.randn(2, 3, 32, 128)
    assert torch.equal(
        load_weights(path).recognizer.encode(images), recognizer.encode(images)
    )


def test_half_precision_halves_the_file_and_reads_as_float32(
    tmp_path, small_recognizer
):
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


def test_the_metadata_is_text_that_others_can_read(weights_path):
    values = metadata(weights_path)
    assert values["format"] == "vit-str"
    assert values["version"] == "1"
    assert values["charset"] == Charset().characters
    assert json.loads(values["preprocessing"])["width"] == 128
    assert json.loads(values["model"])["encoder"]["class"] == "VisionTransformer"
    assert json.loads(values["provenance"]) == {"note": "random"}


def test_a_failed_save_leaves_the_old_file(weights_path, weights, monkeypatch):
    before = weights_path.read_bytes()

    def fill_disk(path, _):
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fill_disk)
    with pytest.raises(OSError, match=r"No space left"):
        save_weights(weights_path, weights.recognizer, Charset(), Preprocessing(), {})
    assert weights_path.read_bytes() == before
    assert os.listdir(weights_path.parent) == [weights_path.name]


def test_others_may_read_the_file(weights_path):
    plain = weights_path.with_name("plain")
    plain.touch()
    assert weights_path.stat().st_mode == plain.stat().st_mode


def test_files_cut_short_or_of_other_formats(weights_path):
    path = weights_path
    data = weights_path.read_bytes()
    foreign = {
        b"": "damaged .*; download or export it again",
        data[:5]: "damaged",
        data[:300]: "damaged",
        data[: len(data) // 2]: "damaged .*; download or export it again",
        data[:-1]: "damaged",
        b"\x89PNG\r\n\x1a\n" + bytes(1000): "damaged",
        b"hello\n" * 100: "damaged",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0": "git lfs pull",
        (8).to_bytes(8, "little") + b"{broken}": "damaged",
        (2).to_bytes(8, "little") + b"{}extra bytes": "damaged",
        (14).to_bytes(8, "little") + b'{"a": [1,2,3]}': "damaged",
        # Begins with PK
        (0x4B50).to_bytes(8, "little") + b"{}".ljust(0x4B50): "not from vit-str",
    }
    for data, trouble in foreign.items():
        path.write_bytes(data)
        with pytest.raises(ValueError, match=trouble) as caught:
            load_weights(path)
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)
    torch.save({"weight": torch.zeros(2)}, path)
    with pytest.raises(ValueError, match=r"PyTorch checkpoint"):
        load_weights(path)
    save_file({"weight": torch.zeros(2)}, path)
    with pytest.raises(ValueError, match=r"not from vit-str"):
        load_weights(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes of POSIX")
def test_paths_that_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # which is not waited for
    for name, trouble in (
        ("x\x1b[31m\n", r"x\\x1b\[31m\\n: no such file; check the path"),
        *((".", "not a file; give"), ("pipe", "not a file; give")),
    ):
        with pytest.raises(ValueError, match=trouble) as caught:
            load_weights(tmp_path / name)
        assert str(caught.value).isprintable()


def test_the_version_is_the_lowest_that_understands_the_file(weights_path, weights):
    for temperature, version in [(1.0, "1"), (1.5, "2")]:
        renew_weights(
            weights_path, weights_path, replace(weights, temperature=temperature)
        )
        assert metadata(weights_path)["version"] == version
    values = metadata(weights_path)
    with pytest.raises(
        ValueError, match=r"version 4, this vit-str reads 1 and 2 and 3"
    ):
        load_weights(change(weights_path, version="4"))
    for name in ("temperature", "sha256"):  # as files of the first version were
        del values[name]
    save_file(load_file(weights_path), weights_path, values | {"version": "1"})
    file = load_weights(weights_path)
    assert (file.temperature, is_intact(weights_path)) == (1, None)
    with pytest.raises(ValueError, match=r"a temperature is 0\.01 to 100\.0, found 0"):
        renew_weights(weights_path, weights_path, replace(weights, temperature=0.0))
    assert load_weights(weights_path).temperature == 1


def test_weights_in_8_bits(tmp_path):
    """They are a half as large, and what graphs in 8 bits take of them stays as it was."""
    small, again, renewed = (tmp_path / f"{name}.safetensors" for name in "abc")
    source = resolve("tiny")
    graphs = find_graphs(load_contents(source).description)
    assert graphs is not None
    values = json.loads((graphs / DESCRIPTION).read_text(encoding="utf-8"))
    names = int8_weights(values)
    write_in_int8(source, small, names)
    assert small.stat().st_size < 0.53 * source.stat().st_size
    assert metadata(small)["version"] == "3"
    before = load_contents(source)
    after = load_contents(small)
    assert after.provenance == before.provenance
    assert after.ranges == before.ranges
    assert set(after.tensors) == set(before.tensors)
    for name, tensor in before.tensors.items():
        if name in names:
            kinds = (QUANTIZED_OUTPUTS, SCALE_OUTPUTS)
            own, scales = (initializer(name + k, after.tensors, {}) for k in kinds)
            theirs, other = (initializer(name + k, before.tensors, {}) for k in kinds)
            assert np.array_equal(own, theirs), name
            np.testing.assert_allclose(scales, other, rtol=1e-6)
        else:
            assert np.array_equal(after.tensors[name], tensor)
    write_in_int8(small, again, names)
    assert metadata(again) == metadata(small)
    renew_weights(small, renewed, replace(load_weights(small), temperature=1.5))
    assert metadata(renewed)["version"] == "3"
    stored = load_file(small)
    name = min(names)
    del stored[name + SCALES]
    save_file(stored, small, metadata(small))
    with pytest.raises(ValueError, match="not as it was written"):
        load_weights(small)
    told = {key: each for key, each in metadata(small).items() if key != "sha256"}
    save_file(stored, small, told)
    with pytest.raises(ValueError, match="parts do not fit together"):
        load_weights(small)


def test_renewing_keeps_every_tensor_to_the_bit(tmp_path, small_recognizer):
    old = tmp_path / "old.safetensors"
    new = tmp_path / "new.safetensors"
    save_weights(
        old, small_recognizer(), Charset(), Preprocessing(), {"by": "é"}, torch.float16
    )
    file = replace(load_weights(old), temperature=1.25, provenance={"a": 1})
    renew_weights(old, new, file)
    tensors = load_file(new)
    for name, tensor in load_file(old).items():
        assert tensors[name].dtype == torch.float16
        assert torch.equal(tensors.pop(name), tensor)
    assert not tensors
    found = load_weights(new)
    assert (found.temperature, found.provenance) == (1.25, {"a": 1})


def test_the_checksum_covers_tensors_and_metadata(weights_path):
    assert is_intact(weights_path) is True
    tensors = load_file(weights_path)
    values = metadata(weights_path)
    save_file(tensors, weights_path, values | {"charset": Charset().characters[::-1]})
    assert is_intact(weights_path) is False
    tensors["decoder.norm.weight"][3] *= 1.01
    save_file(tensors, weights_path, values)
    assert is_intact(weights_path) is False
    with pytest.raises(
        ValueError, match="not as it was written, its checksum does not fit; down"
    ):
        load_weights(weights_path)
    for value in (float("nan"), float("inf"), 1e30):
        tensors["decoder.norm.weight"][3] = value
        with pytest.raises(
            ValueError, match=r"decoder\.norm\.weight holds what is no number"
        ):
            load_weights(write(weights_path, tensors, values))
    del values["charset"]
    tensors["decoder.norm.weight"][3] = 1.0
    with pytest.raises(ValueError, match=r"missing 'charset'"):
        load_weights(write(weights_path, tensors, values))


@pytest.mark.parametrize("name", ["tiny", "line", "cyrillic-greek"])
def test_weights_that_are_far_too_large_are_refused(name, tmp_path):
    """They read the same in every picture, with the greatest confidence."""
    path = BUNDLED / f"{name}.safetensors"
    tensors = {key: 1000 * each.float() for key, each in load_file(path).items()}
    values = {key: text for key, text in metadata(path).items() if key != "sha256"}
    save_file(tensors, tmp_path / "large.safetensors", values)
    with pytest.raises(
        ValueError, match="is no number or above 500: the training failed"
    ):
        load_weights(tmp_path / "large.safetensors")


@pytest.mark.parametrize(
    ("values", "trouble"),
    [
        ({"charset": "abc"}, "a model of 94 characters with a charset of 3"),
        ({"charset": "a" * 94}, "repeated"),
        ({"model": "{broken"}, "Expecting property name"),
        ({"model": '{"encoder": {"class": "Popen", "arguments": {}}}'}, "decoder"),
        ({"model": "[1]"}, "do not fit together"),
        ({"model": "[" * 100_000}, "nested too deep"),
        ({"model": '{"encoder": 1, "decoder": {}}'}, "do not fit together"),
        ({"preprocessing": "{}"}, "preprocessing needs height"),
        ({"preprocessing": "[]"}, "do not fit together"),
        (
            {"preprocessing": PREPROCESSING.replace("32", "1" + "0" * 400)},
            "more than 1,048,576 pixels",
        ),
        (
            {"preprocessing": PREPROCESSING.replace("32", "64")},
            r"\(64, 128\) for a model of \(32",
        ),
        ({"preprocessing": PREPROCESSING.replace("0.5", "NaN")}, "do not fit together"),
        ({"provenance": "5"}, "iterable"),
        ({"charset": "x" * 1_000_000}, "a charset of 1000000"),
        *(
            ({"temperature": each}, "a temperature is")
            for each in ("0", "-1", "nan", "1e999")
        ),
        ({"temperature": "warm"}, "convert string"),
    ],
)
def test_parts_that_do_not_fit_together(weights_path, values, trouble):
    with pytest.raises(ValueError, match=trouble) as caught:
        load_weights(change(weights_path, **values))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("part", "arguments"),
    [
        ("encoder", {"image_size": [50_000, 50_000]}),
        ("encoder", {"image_size": "32"}),
        ("encoder", {"image_size": [1024, 1024], "patch_size": [2, 2]}),
        ("encoder", {"depth": 1_000_000}),
        ("encoder", {"depth": 900}),
        ("encoder", {"dim": 10**400}),
        ("encoder", {"dim": 1 << 19, "heads": 1}),
        ("encoder", {"dim": {"class": "VisionTransformer", "arguments": {}}}),
        ("encoder", {"mlp_ratio": 1e300}),
        ("encoder", {"mlp_ratio": 2.0}),
        ("encoder", {"patch_size": [0, 16]}),
        ("encoder", {"positions": ["learned"]}),
        ("encoder", {"x\x1b[31m\n": 1}),
        ("decoder", {"maximum_length": 25.5}),
        ("decoder", {"depth": 2}),
        ("decoder", {"charset_size": 10**6}),
        ("decoder", {"encoder": {"class": "CtcDecoder", "arguments": {}}}),
    ],
)
def test_descriptions_are_checked_before_anything_is_built(
    weights_path, part, arguments
):
    path = change(weights_path, model=described(weights_path, part, **arguments))
    tracemalloc.start()
    with pytest.raises(ValueError, match="parts do not fit together") as caught:
        load_weights(path)
    assert tracemalloc.get_traced_memory()[1] < 50 << 20
    tracemalloc.stop()
    assert str(caught.value).isprintable()


def described(path: Path, part: str, **arguments: Any) -> str:
    model = json.loads(metadata(path)["model"])
    model[part]["arguments"] |= arguments
    return json.dumps(model)


def test_other_classes_are_never_built(weights_path):
    model = json.loads(metadata(weights_path)["model"])
    encoder = model["encoder"]
    for _ in range(3):
        encoder = {"class": "ColumnEncoder", "arguments": {"encoder": encoder}}
    popen = model["encoder"] | {"class": "Popen"}
    for other, trouble in (
        (encoder, r"Missing key\(s\) in state_dict"),
        (popen, "unknown part 'Popen'; known are .*VisionTransformer"),
    ):
        with pytest.raises(ValueError, match=trouble):
            load_weights(
                change(weights_path, model=json.dumps(model | {"encoder": other}))
            )


def test_nothing_is_unpickled(weights_path, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("unpickled")

    monkeypatch.setattr("pickle.Unpickler", refuse)
    monkeypatch.setattr("pickle.loads", refuse)
    monkeypatch.setattr(torch, "load", refuse)
    load_weights(weights_path)


def test_resolve(tmp_path, monkeypatch):
    monkeypatch.setattr(vit_str.engines.weights_contents, "BUNDLED", tmp_path)
    for name in ("tiny", "small"):
        (tmp_path / f"{name}.safetensors").touch()
    assert resolve("tiny") == tmp_path / "tiny.safetensors"
    assert resolve("mine.safetensors") == Path("mine.safetensors")
    assert resolve(tmp_path / "mine") == tmp_path / "mine"
    assert resolve(Path("other.safetensors")) == Path("other.safetensors")
    with pytest.raises(
        ValueError, match=r"no model 'huge': .* of the package: small, tiny$"
    ):
        resolve("huge")
