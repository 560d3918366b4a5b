"""Weights of a run become weights of the package, with graphs and ranges of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vit_str.characters.charset import Charset
from vit_str.engines.graph_files import INT8, STATIC
from vit_str.images.preprocessing import Preprocessing
from vit_str.machine import has_static_int8
from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer
from vit_str.torch_runtime.weights_file import save_weights

ROOT = Path(__file__).parents[2]

_PROGRAM = """
import sys
from pathlib import Path
from vit_str.engines import graph_files, weights_contents
from vit_str.scripts import registry
package = Path(sys.argv.pop(1))
graph_files.GRAPHS = package / "graphs"
for module in (weights_contents, registry):
    module.BUNDLED = package
sys.path.insert(0, sys.argv.pop(1))
import bundle_weights
bundle_weights.main()
from vit_str.words.reader import load
from PIL import Image
image = Image.new("RGB", (128, 32))
for backend in ("onnx", "onnx-int8"):
    reader = load("base", "cpu", backend=backend)
    reader.read(image)
    print(backend, reader.describe().temperature, reader.engine._graphs.variant_of("encoder"))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fine_depth", "options", "size"), [(0, [], 0.7), (1, ["--int8"], 0.6)]
)
def test_weights_of_a_run_become_weights_of_the_package(
    tmp_path, font_folder, fine_depth, options, size
):
    """Also where tensors are alike, as in blocks that start as nothing."""
    encoder = VisionTransformer(
        dim=32, depth=2, heads=2, patch_size=(16, 8), fine_depth=fine_depth
    )
    decoder = TransformerDecoder(94, 32, 2, 2, 6, draft_grid=(2, 16))
    for block in encoder.blocks:
        block.attention.to_output.weight.data.zero_()
    run = tmp_path / "run.safetensors"
    save_weights(run, Recognizer(encoder, decoder), Charset(), Preprocessing(), {})
    package = tmp_path / "package"
    (package / "graphs").mkdir(parents=True)
    command = [sys.executable, "-c", _PROGRAM, package, ROOT / "data"]
    command += ["base", run, "--temperature", "1.2", "--fonts", font_folder, *options]
    cache = {"VIT_STR_CACHE": str(font_folder.parent / "glyphs")}
    done = subprocess.run(
        command,
        env=os.environ | cache | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    variant = STATIC if has_static_int8() else INT8
    expected = ["onnx 1.2 ", f"onnx-int8 1.2 {variant}"]
    assert done.stdout.splitlines()[-2:] == expected
    assert (package / "base.safetensors").stat().st_size < run.stat().st_size * size
