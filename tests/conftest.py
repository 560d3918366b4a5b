"""What several tests share: drawn words, and a small model with random weights."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from filelock import FileLock
from jaxtyping import config
from PIL import Image, ImageDraw, ImageFont

from tests.changed import (  # noqa: F401 - which pytest finds here
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure_node,
    pytest_ignore_collect,
    pytest_sessionstart,
)
from tests.slow_files import pytest_terminal_summary  # noqa: F401 - the same
from tests.traced_graphs import graphs_traced_once  # noqa: F401 - the same
from vit_str.characters.charset import Charset, charset_of
from vit_str.cli import main
from vit_str.images.preprocessing import Preprocessing
from vit_str.machine import CPU_DTYPE, THREADS, cpu_count, use_threads
from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer
from vit_str.scripts import registry
from vit_str.synthesis.glyph_cache import load_or_draw_glyphs
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.torch_runtime.weights_file import WeightsFile, save_weights
from vit_str.words.reader import Reader


def pytest_configure() -> None:
    """Give the processes of pytest-xdist as many threads as there are processors, together."""
    workers = os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")
    if THREADS not in os.environ:
        use_threads(max(1, cpu_count() // int(workers)))


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_is_heard() -> None:
    """Shells start what runs in the background deaf to Ctrl-C, and children inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def make_recognizer(charset_size: int = 94, seed: int = 0) -> Recognizer:
    """A random model that tells images apart, answers in milliseconds and reads 32 x 128."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        encoder = VisionTransformer(dim=32, depth=1, heads=2, patch_size=(8, 16))
        decoder = TransformerDecoder(
            charset_size, dim=32, depth=1, heads=2, maximum_length=6
        )
        torch.nn.init.normal_(decoder.classify.weight, std=1.0)
        for name, parameter in decoder.named_parameters():
            if "cross_attention" in name:
                parameter.data.mul_(10)
    return Recognizer(encoder, decoder).eval()


def draw_word(
    text: str, mode: str = "RGB", size: tuple[int, int] = (128, 32)
) -> Image.Image:
    """Black text on white, (width, height) as Pillow has it."""
    image = Image.new("RGB", size, "white")
    font = ImageFont.load_default(size[1] * 0.7)
    ImageDraw.Draw(image).text((4, 2), text, fill="black", font=font)
    return image.convert(mode)


@pytest.fixture(scope="session")
def matplotlib_fonts() -> Path:
    """The folder of fonts that the training extra brings: DejaVu, STIX and others."""
    spec = find_spec("matplotlib")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf"


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory) -> Path:
    """A folder that all processes of a test run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def font_folder(matplotlib_fonts, shared_folder) -> Path:
    """A folder with one font, DejaVu Sans, whose characters are drawn once for a whole test run.

    They are in the folder ``glyphs`` beside it, for ``VIT_STR_CACHE``.
    """
    folder = shared_folder / "one-font"
    with FileLock(shared_folder / "one-font.lock"):
        if not folder.is_dir():
            folder.mkdir()
            shutil.copy2(matplotlib_fonts / "DejaVuSans.ttf", folder / "Sans.ttf")
            load_or_draw_glyphs(Charset(), [folder], shared_folder / "glyphs")
    return folder


@pytest.fixture(scope="session")
def two_fonts(matplotlib_fonts, shared_folder) -> Path:
    """A folder with two fonts to train and to validate with, drawn once into its parent.

    Which is the folder ``glyphs`` of `font_folder` too, so that word lists are gathered once.
    """
    folder = shared_folder / "glyphs" / "two-fonts"
    with FileLock(shared_folder / "two-fonts.lock"):
        if not folder.is_dir():
            folder.mkdir(parents=True)
            for name in ("DejaVuSans.ttf", "DejaVuSerif.ttf"):
                shutil.copy2(matplotlib_fonts / name, folder / name)
            load_or_draw_glyphs(Charset(), [folder], folder.parent)
    return folder


@pytest.fixture(scope="session")
def one_font(font_folder) -> GlyphAtlas:
    """The characters of ``font_folder``."""
    return load_or_draw_glyphs(Charset(), [font_folder], font_folder.parent / "glyphs")


@pytest.fixture(scope="module")
def without_shape_checks() -> Iterator[None]:
    """While a graph is traced: tensors are symbols there, which the checks cannot look at."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


@pytest.fixture
def small_recognizer() -> Callable[..., Recognizer]:
    return make_recognizer


@pytest.fixture
def word_image() -> Callable[..., Image.Image]:
    return draw_word


@pytest.fixture
def weights() -> WeightsFile:
    return WeightsFile(
        make_recognizer(), Charset(), Preprocessing(), {"note": "random"}
    )


@pytest.fixture
def weights_path(tmp_path, weights) -> Path:
    path = tmp_path / "weights" / "small.safetensors"
    save_weights(
        path,
        weights.recognizer,
        weights.charset,
        weights.preprocessing,
        weights.provenance,
    )
    return path


@pytest.fixture(scope="session")
def both_scripts(tmp_path_factory) -> Path:
    """A folder with random weights for Latin letters, and for Cyrillic and Greek, as a package."""
    folder = tmp_path_factory.mktemp("both-scripts")
    for name, charset in {
        "tiny": "latin",
        "line": "latin",
        "cyrillic-greek": "cyrillic-greek",
        "cyrillic-greek-line": "cyrillic-greek",
    }.items():
        known = charset_of(charset)
        recognizer = make_recognizer(len(known))
        save_weights(
            folder / f"{name}.safetensors", recognizer, known, Preprocessing(), {}
        )
    return folder


@pytest.fixture(scope="session")
def doubting_folder(tmp_path_factory) -> Path:
    """A folder with random weights that doubt all they read, and larger ones for that."""
    folder = tmp_path_factory.mktemp("doubting")
    for seed, name in enumerate(("tiny", "base", "line")):
        known = Charset(Charset().characters + "é" * (name == "base"))
        save_weights(
            folder / f"{name}.safetensors",
            make_recognizer(len(known), seed),
            known,
            Preprocessing(reread_below=1.0),
            {},
        )
    return folder


@pytest.fixture
def latin_alone(monkeypatch, tmp_path) -> None:
    """A package without weights of other scripts."""
    monkeypatch.setattr(registry, "BUNDLED", tmp_path / "nothing")


@pytest.fixture(params=["float32", "bfloat16"])
def number_format(request, monkeypatch) -> str:
    """The number formats that torch is fastest in on one CPU or another, whichever this one is."""
    monkeypatch.setenv(CPU_DTYPE, request.param)
    return request.param


@pytest.fixture
def undrawn(monkeypatch) -> None:
    """Pages without figures: to draw them takes longer than all else of a small model.

    They are made, and not drawn; one test or more of every command does draw them.
    """
    monkeypatch.setattr("vit_str.reports.page.Page.figure", lambda *_, **__: None)


@pytest.fixture
def reader(weights) -> Reader:
    return Reader(weights, "cpu", torch.float32)


@pytest.fixture
def model(weights_path) -> list[str]:
    """The options that name the small model."""
    return ["--model", str(weights_path), "--device", "cpu"]


@pytest.fixture
def run(capsys) -> Callable[..., tuple[int, str, str]]:
    """Runs a command: its exit code, what it prints to standard output, and to standard error."""

    def run_command(*arguments: object) -> tuple[int, str, str]:
        code = main(list(map(str, arguments)))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_command


@pytest.fixture
def words(tmp_path) -> Path:
    """A folder with five images, one of them in a folder of its own."""
    folder = tmp_path / "words"
    (folder / "more").mkdir(parents=True)
    for file in ("a.png", "b.jpg", "c.webp", "d.tiff", "more/e.bmp"):
        draw_word(file[-6:-4], size=(90, 30)).save(folder / file)
    return folder


@pytest.fixture
def labeled_folder(tmp_path, word_image) -> Path:
    """Six labelled images, one of which is damaged."""
    folder = tmp_path / "labeled"
    folder.mkdir()
    lines = []
    for number, word in enumerate(["one", "two", "three", "four", "five", "six"]):
        name = f"{number}.png"
        word_image(word, size=(70 + 10 * number, 24)).save(folder / name)
        lines.append(f"{name}\t{word}\n")
    (folder / "3.png").write_bytes(b"not an image")
    (folder / "labels.tsv").write_text("".join(lines))
    return folder
