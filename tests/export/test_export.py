"""Exported models read what the models read, by the reader and by the program in their README."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import vit_str
from vit_str import machine
from vit_str.characters.charset import Charset
from vit_str.decoding.search import Search
from vit_str.engines.graph_files import GRAPHS, description_digest
from vit_str.engines.onnx_engine import load_with_graphs
from vit_str.engines.weights_contents import bundled_names, load_contents, resolve
from vit_str.export.folder import write_exported
from vit_str.images.preprocessing import Preprocessing
from vit_str.machine import CPU_DTYPE
from vit_str.models import (
    CtcDecoder,
    Decoder,
    LineTransformer,
    ParallelDecoder,
    PermutedDecoder,
    PlainConvolutionalEncoder,
    Recognizer,
    RecurrentDecoder,
    RecurrentEncoder,
    TransformerDecoder,
    VisionTransformer,
)
from vit_str.torch_runtime.weights_file import WeightsFile, load_weights, save_weights
from vit_str.words.reader import Reader

pytestmark = pytest.mark.usefixtures("without_shape_checks", "graphs_traced_once")
MODELS: dict[str, Callable[[], Decoder]] = {
    "transformer": lambda: TransformerDecoder(
        94, dim=32, depth=2, heads=2, maximum_length=6
    ),
    "drafts": lambda: TransformerDecoder(
        94, dim=32, heads=2, maximum_length=6, draft_grid=(4, 8)
    ),
    "permuted": lambda: PermutedDecoder(94, dim=32, heads=2, maximum_length=6),
    "additive": lambda: RecurrentDecoder(94, dim=32, maximum_length=6),
    "lstm": lambda: RecurrentDecoder(
        94, dim=32, cell="lstm", attention="none", maximum_length=6
    ),
    "parallel": lambda: ParallelDecoder(94, dim=32, maximum_length=6),
    "ctc": lambda: CtcDecoder(94, dim=32, maximum_length=6),
}


def weights_of(decoder: Decoder) -> WeightsFile:
    if isinstance(decoder, CtcDecoder):
        encoder = RecurrentEncoder(
            PlainConvolutionalEncoder((8, 32), (1, 1), ((4, 4), (8, 4))), depth=1
        )
    else:
        encoder = VisionTransformer(
            dim=32,
            depth=1,
            heads=2,
            patch_size=(8, 16),
            class_token=True,
            fine_depth=1,
        )
    torch.nn.init.normal_(decoder.classify.weight)
    decoder.classify.bias.data[-1] = -3.0  # type: ignore[union-attr]  # of the end or the blank
    for name, parameter in decoder.named_parameters():
        if "cross_attention" in name:
            parameter.data.mul_(10)  # images are told apart
    preprocessing = Preprocessing(
        mean=(0.4, 0.5, 0.6), turn_above=1.5, reread_below=1.0
    )
    return WeightsFile(
        Recognizer(encoder, decoder).eval(), Charset(), preprocessing, {}, 1.2
    )


def line_weights() -> WeightsFile:
    torch.manual_seed(0)
    sizes = {"stem_widths": (8, 8), "stem_depths": (1, 1), "image_size": (32, 640)}
    encoder = LineTransformer(dim=32, depth=1, heads=2, **sizes)
    decoder = CtcDecoder(94, dim=32, maximum_length=200)
    torch.nn.init.normal_(decoder.classify.weight)
    preprocessing = Preprocessing(32, 640, width_step=32)
    return WeightsFile(
        Recognizer(encoder, decoder).eval(), Charset(), preprocessing, {}
    )


def test_lines_of_any_width_are_read_alike(tmp_path):
    weights = line_weights()
    write_exported(weights, tmp_path / "lines", False)
    generator = np.random.default_rng(0)
    images = [
        Image.fromarray(generator.integers(0, 255, (height, width, 3), np.uint8))
        for height, width in ((32, 32), (40, 300), (20, 900), (40, 310), (32, 97))
    ]
    exported = vit_str.load(tmp_path / "lines")
    reader = Reader(weights, "cpu", torch.float32)
    both = exported.read(images, boxes=True), reader.read(images, boxes=True)
    for image, one, other in zip(images, *both, strict=True):
        assert one.text == other.text == exported.read(image).text
        assert one.confidence == pytest.approx(other.confidence, abs=1e-4)
        lefts = [character.box.left for character in one.characters if character.box]
        assert len(lefts) == len(one.text) and lefts == sorted(lefts)
        assert all(
            c.box is not None and c.box.right <= image.width for c in one.characters
        )
    assert len({reading.text for reading in both[0]}) > 1
    images[1].save(tmp_path / "lines" / "line.png")
    command = re.search(
        r"```python\n(.*?)```", (tmp_path / "lines" / "README.md").read_text(), re.S
    )
    assert command
    program = [sys.executable, "-c", command[1], "line.png"]
    printed = subprocess.run(
        program, cwd=tmp_path / "lines", capture_output=True, text=True
    )
    assert printed.stdout.strip("\n") == both[0][1].text


ROOT = Path(__file__).parents[2]
SAMPLES = sorted((ROOT / "data" / "samples" / "images").iterdir())
OFTEN = ("transformer", "ctc", "parallel")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(n, marks=[] if n in OFTEN else pytest.mark.slow) for n in MODELS
    ],
)
def exported(request, tmp_path_factory, graphs_traced_once) -> tuple[WeightsFile, Path]:
    torch.manual_seed(0)
    weights = weights_of(MODELS[request.param]())
    folder = tmp_path_factory.mktemp("exported") / request.param
    write_exported(weights, folder)
    return weights, folder


def words(count: int) -> list[Image.Image]:
    pixels = np.random.default_rng(0).integers(
        256, size=(count, 8, 12, 3), dtype=np.uint8
    )
    sizes = [(40, 10), (10, 40), (128, 32)]
    return [Image.fromarray(p).resize(sizes[i % 3], 0) for i, p in enumerate(pixels)]


def test_both_engines_read_the_same(exported):
    weights, folder = exported
    looks = weights.recognizer.decoder.__class__ in (
        TransformerDecoder,
        PermutedDecoder,
    )
    for search in (Search(), Search(n_best=2, beams=3), Search(pattern="[a-z]+[0-9]")):
        readers = [
            Reader(weights, "cpu", torch.float32, search=search),
            vit_str.load(folder, search=search),
        ]
        for batch_size in (1, 7):
            both = [
                reader.read(list(words(9)), batch_size, boxes=looks)
                for reader in readers
            ]
            for one, other in zip(*both, strict=True):
                assert one.text == other.text
                assert one.confidence == pytest.approx(other.confidence, abs=5e-5)
                assert [each.text for each in one.alternatives] == [
                    each.text for each in other.alternatives
                ]
                for first, second in zip(one.characters, other.characters, strict=True):
                    assert first.box == pytest.approx(second.box, abs=0.01)


def test_care_is_chosen_of_exported_models_too(exported):
    weights, folder = exported
    for effort in ("fast", "careful"):
        expected = Reader(weights, "cpu", torch.float32, effort=effort).read(
            list(words(9))
        )
        found = vit_str.load(folder, effort=effort).read(list(words(9)))
        assert [each.text for each in found] == [each.text for each in expected]


def test_the_program_in_the_readme_reads_so_too(exported):
    weights, folder = exported
    page = (folder / "README.md").read_text()
    program = re.search("```python\n(.*?)```", page, re.DOTALL)
    assert program is not None
    assert all(
        f"`{path.name}`" in page
        for path in folder.iterdir()
        if path.name != "README.md"
    )
    path = folder.parent / f"{folder.name}.png"
    (word,) = words(1)
    word.save(path)
    command = [sys.executable, "-c", program[1], path]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=True)
    once = replace(
        weights, preprocessing=replace(weights.preprocessing, reread_below=0.0)
    )
    assert (
        done.stdout.decode()
        == Reader(once, "cpu", torch.float32).read(word).text + "\n"
    )


def test_a_folder_with_a_part_missing_or_of_another_model(exported, tmp_path, capfd):
    _, folder = exported
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    values = json.loads((copy / "model.json").read_text())
    for change, problem in [
        ({"identity": "another"}, "of another model than model.json"),
        ({"version": 9}, "another format or version"),
        ({"charset": values["charset"][:-1]}, "93 characters, but the graphs write 94"),
        ({"interface": {}}, "does not fit"),
        (
            {"preprocessing": values["preprocessing"] | {"height": 40_000}},
            r"copy: prepares images of \(40000, 128\) for a model of \(32, 128\)",
        ),
        ({"graphs": ["../encoder"]}, "does not fit"),
    ]:
        (copy / "model.json").write_text(json.dumps(values | change))
        with pytest.raises(ValueError, match=problem):
            vit_str.load(copy)
    (copy / "model.json").write_text(json.dumps(values))
    for file, content in (("model.json", b"{"), ("encoder.onnx", b"hello")):
        kept = (copy / file).read_bytes()
        for damage, problem in ((content, "damaged"), (None, "no such file")):
            (copy / file).write_bytes(content) if damage else (copy / file).unlink()
            with pytest.raises(ValueError, match=f"{file}: {problem}"):
                vit_str.load(copy)
        (copy / file).write_bytes(kept)
    (copy / "encoder.onnx").write_bytes(
        kept[:-2000] + bytes([kept[-2000] ^ 1]) + kept[-1999:]
    )
    with pytest.raises(ValueError, match=r"encoder.onnx: damaged"):
        vit_str.load(copy)
    with pytest.raises(
        ValueError, match=r"encoder\.onnx: damaged, not as it was written"
    ):
        vit_str.load(copy)
    (copy / "encoder.onnx").write_bytes(kept)
    with pytest.raises(ValueError, match="--backend onnx"):
        vit_str.load(copy, backend="torch")
    assert capfd.readouterr().out == ""


def test_the_command_exports_in_int8(tmp_path, run, caplog):
    torch.manual_seed(0)
    weights = weights_of(MODELS["parallel"]())
    path = tmp_path / "a.safetensors"
    out = tmp_path / "out"
    save_weights(
        path, weights.recognizer, weights.charset, weights.preprocessing, {"by": "me"}
    )
    assert run("export", path, "--out", out, "--int8")[0] == 0
    assert "pre-processing" not in caplog.text
    reader = vit_str.load(out)
    assert reader.engine.number_format == "int8"
    assert reader.provenance == {"by": "me"}
    expected = Reader(weights, "cpu", torch.float32).read(list(words(9)))
    found = reader.read(list(words(9)))
    same = [one.text == other.text for one, other in zip(expected, found, strict=True)]
    assert sum(same) > 4  # of a random model, whose choices are close calls
    code, _, err = run("export", path, "--out", out)
    assert (code, "there already, and not empty" in err) == (2, True)


@pytest.mark.parametrize("name", bundled_names())
def test_the_graphs_of_the_package_fit_its_weights(name):
    """``python data/make_graphs.py`` makes them anew."""
    path = resolve(name)
    reader = Reader(load_with_graphs(path))
    in_torch = Reader(load_weights(path), "cpu", torch.float32)
    assert in_torch.engine.model.interface == reader.engine.model.interface
    both = [each.read(SAMPLES, boxes=True) for each in (reader, in_torch)]
    for one, other in zip(*both, strict=True):
        assert one.text == other.text
        assert one.confidence == pytest.approx(other.confidence, abs=1e-5)


@pytest.mark.parametrize("name", bundled_names())
def test_the_graphs_of_the_package_read_in_8_bits_too(name):
    both = [
        vit_str.load(name, "cpu", backend=backend) for backend in ("onnx", "onnx-int8")
    ]
    assert [reader.engine.number_format for reader in both] == ["float32", "int8"]
    tolerance = 0.1  # of the confidence of the least sure sample
    readings = [[reader.read(image) for reader in both] for image in SAMPLES]
    # Letters that a reader does not know are close calls
    known = [pair for pair in readings if pair[0].confidence > 0.5]
    assert len(known) >= len(SAMPLES) / 2
    for exact, quantized in known:
        assert quantized.text == exact.text
        assert quantized.confidence == pytest.approx(exact.confidence, abs=tolerance)
        assert quantized.confidence != exact.confidence


def test_the_processor_or_the_environment_decides_for_8_bits(monkeypatch, tmp_path):
    for name, expected in (
        ("float32", "float32"),
        ("bfloat16", "float32"),
        ("int8", "int8"),
    ):
        monkeypatch.setenv(CPU_DTYPE, name)
        assert vit_str.load("tiny", "cpu").engine.number_format == expected
    monkeypatch.setenv(CPU_DTYPE, "int4")
    with pytest.raises(ValueError, match="must be one of float32, bfloat16, int8"):
        vit_str.load("tiny", "cpu")
    monkeypatch.delenv(CPU_DTYPE)
    monkeypatch.setattr(machine.platform, "system", lambda: "Linux")
    for system, flags, expected in (
        ("x86_64", "fma avx2 avx_vnni", (True, True, 127)),
        ("x86_64", "fma avx2", (True, True, 64)),
        ("AMD64", "", (True, True, 64)),
        ("aarch64", "asimddp", (True, False, 127)),
        ("aarch64", "", (False, False, 127)),
    ):
        monkeypatch.setattr(machine.platform, "machine", lambda s=system: s)
        monkeypatch.setattr(
            machine, "_cpu_info", lambda key, f=flags: f if key == "flags" else ""
        )
        found = machine.has_fast_int8(), machine.has_static_int8()
        assert (*found, machine.largest_int8_weight()) == expected
    folder = tmp_path / "exported"
    torch.manual_seed(0)
    write_exported(weights_of(MODELS["parallel"]()), folder)
    with pytest.raises(ValueError, match="vit-str export --int8 decides"):
        vit_str.load(folder, "cpu", backend="onnx-int8")


def test_there_are_no_graphs_of_other_weights():
    digests = {
        description_digest(load_contents(resolve(name)).description)
        for name in (*bundled_names(), ROOT / "data/models/base.safetensors")
    }
    assert {folder.name for folder in GRAPHS.iterdir()} == digests
    assert sum(path.stat().st_size for path in GRAPHS.rglob("*")) < 300_000 * len(
        digests
    )


def test_weights_of_another_shape_do_not_fit_the_graphs(tmp_path):
    weights = load_weights(resolve("tiny"))
    path = tmp_path / "other.safetensors"
    weights.recognizer.decoder.classify = torch.nn.Linear(
        weights.recognizer.decoder.dim, 7
    )
    save_weights(path, weights.recognizer, weights.charset, weights.preprocessing, {})
    with pytest.raises(ValueError, match="its parts do not fit together"):
        vit_str.load(path, "cpu", backend="onnx")


def test_a_model_without_graphs_is_read_with_torch(weights_path):
    assert vit_str.load(weights_path, "cpu").engine.backend == "torch"
    with pytest.raises(ValueError, match="no graphs of this model"):
        vit_str.load(weights_path, "cpu", backend="onnx")
    assert vit_str.load("tiny", "cpu").engine.backend == "onnx"
    with pytest.raises(ValueError, match="reads on the CPU"):
        vit_str.load("tiny", "cuda", backend="onnx")
    with pytest.raises(ValueError, match="backend must be one of"):
        vit_str.load("tiny", backend="jax")


def test_a_fine_tuned_model_keeps_the_graphs(tmp_path):
    weights = load_weights(resolve("tiny"))
    path = tmp_path / "tuned.safetensors"
    with torch.no_grad():
        weights.recognizer.decoder.classify.bias += 0.5
    for dtype in (torch.float32, torch.bfloat16):
        save_weights(
            path, weights.recognizer, weights.charset, weights.preprocessing, {}, dtype
        )
        both = [vit_str.load(path, "cpu", backend=name) for name in ("onnx", "torch")]
        texts = [[each.text for each in reader.read(list(words(5)))] for reader in both]
        assert texts[0] == texts[1]
