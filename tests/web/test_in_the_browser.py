"""The exported page reads in Chromium what the command reads."""

import json
import shutil
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest
import torch
from filelock import FileLock
from PIL import Image, ImageDraw, ImageFont

import vit_str
from vit_str.characters.charset import Charset
from vit_str.decoding.search import Search
from vit_str.engines.weights_contents import resolve
from vit_str.export.web import RUNTIME_FILES, detector_files, write_page
from vit_str.images.loading import load_image
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import PermutedDecoder, Recognizer, VisionTransformer
from vit_str.pages.reader import load_page
from vit_str.pages.write.json_rows import page_row
from vit_str.torch_runtime.weights_file import WeightsFile, load_weights

pytestmark = pytest.mark.usefixtures("without_shape_checks", "graphs_traced_once")
SAMPLES = Path(__file__).parents[2] / "data" / "samples" / "images"
TEXT = """Notes on the weather

The morning was cold and bright, and the
clouds moved slowly over the harbor. At
noon the wind turned to the east; by two
it had begun to rain.

Tickets cost $9.50 (adults) and 4.25 for
children under 12 years."""


@pytest.fixture(scope="module")
def tiny(shared_folder, without_shape_checks, graphs_traced_once) -> Path:
    """The page of the bundled model, without those of other scripts, made once in a test run.

    npm loads 33 MB for it, and graphs are traced.
    """
    if shutil.which("npm") is None:
        pytest.skip("no npm")
    folder = shared_folder / "exported-tiny"
    with FileLock(shared_folder / "exported-tiny.lock"):
        if not folder.is_dir():
            weights = load_weights(resolve("tiny"))
            write_page(weights, folder, detector=detector_files())
    return folder


@pytest.fixture
def tall(tmp_path) -> list[Path]:
    """A word that runs down, and one that runs up."""
    paths = []
    for name, turn in (("down.png", Image.Transpose.ROTATE_270), ("up.png", 2)):
        with Image.open(SAMPLES / "word-09.jpg") as image:
            image.transpose(turn).save(tmp_path / name)
        paths.append(tmp_path / name)
    return paths


@pytest.fixture
def amid_nothing(tmp_path, word_image) -> list[Path]:
    """A word amid nothing, and one that runs down."""
    paths = []
    for name, size, at in (
        ("wide.png", (900, 300), (500, 90)),
        ("high.png", (300, 900), (70, 400)),
    ):
        sheet = Image.new("RGB", size, "white")
        word = word_image("Museum station", size=(220, 32))
        sheet.paste(
            word if size[0] > size[1] else word.transpose(Image.Transpose.ROTATE_270),
            at,
        )
        sheet.save(tmp_path / name)
        paths.append(tmp_path / name)
    return paths


@pytest.fixture
def doubtful(tmp_path) -> list[Path]:
    """Words too small to be sure of."""
    paths = []
    for name, height in (("word-01.png", 6), ("word-09.jpg", 7)):
        path = (tmp_path / name).with_suffix(".png")
        with Image.open(SAMPLES / name) as image:
            image.convert("RGB").resize((24, height)).save(path)
        paths.append(path)
    return paths


def compare(
    page: Any,
    address: str,
    folder: Path,
    paths: list[Path],
    language: str | None = None,
    within: float = 1e-3,
) -> list[dict[str, Any]]:
    """Read in the page and with the exported model in Python; gives what the page says."""
    page.goto(address)
    page.locator("#live", has_text="Ready").wait_for(state="attached")
    page.select_option("#language", language or "")
    page.set_input_files("#files", paths)
    page.locator(".card[aria-busy=false]").nth(len(paths) - 1).wait_for()
    page.click("#copy-json")
    page.get_by_text("Copied").first.wait_for()
    lines = page.evaluate("() => navigator.clipboard.readText()").splitlines()
    reader = vit_str.load(folder / "model", search=Search(n_best=3, language=language))
    readings = reader.read([*paths], boxes=reader.has_boxes)
    records = [json.loads(line) for line in reversed(lines)]
    for path, reading, record in zip(paths, readings, records, strict=True):
        assert (record["path"], record["text"]) == (path.name, reading.text)
        # Another decoder of JPEG or WebP files may give other last bits.
        assert record["confidence"] == pytest.approx(reading.confidence, abs=within)
        for one, other in zip(record["characters"], reading.characters, strict=True):
            assert one["confidence"] == pytest.approx(other.confidence, abs=within)
            assert one.get("box") == (other.box and pytest.approx(other.box, abs=0.1))
        # Between the other texts of a doubtful word it may be a close race: most are the same.
        if reading.confidence > 0.5:
            assert record["alternatives"][0]["text"] == reading.alternatives[0].text
        priors = {
            each["text"]: each.get("prior", 0)
            for each in (record, *record["alternatives"])
        }
        expected = {each.text: each.prior for each in (reading, *reading.alternatives)}
        shared = priors.keys() & expected.keys()
        assert len(shared) > len(expected) // 2
        for text in shared:
            assert priors[text] == pytest.approx(expected[text], abs=1e-5)
    return records


def test_the_samples_read_as_by_the_command(
    browser, tiny, serve_files, tall, amid_nothing, doubtful
):
    asked: list[str] = []
    no_picture = tall[0].with_name("no-picture.png")
    no_picture.write_bytes(b"hello")
    with serve_files(tiny) as address:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        compare(page, address, tiny, [*sorted(SAMPLES.iterdir()), *tall])
        for record in compare(page, address, tiny, amid_nothing):
            assert record["text"] == "Museum station"
        texts = []
        for language in (None, "none", "en"):
            # Small differences of resized pixels count where the model is not sure.
            records = compare(page, address, tiny, doubtful, language, within=0.02)
            texts.append([record["text"] for record in records])
            spoke = any(
                other.get("prior") for r in records for other in r["alternatives"]
            )
            assert spoke == (language != "none")
        assert texts[0] != texts[1]
        page.goto(address)
        page.locator("#live", has_text="Ready").wait_for(state="attached")
        page.set_input_files("#files", no_picture)
        page.locator(
            ".problem", has_text="not a picture that the browser can open"
        ).wait_for()
        page.close()
    assert all(url.startswith((address, f"blob:{address}")) for url in asked)


@pytest.fixture
def print_page(tmp_path, matplotlib_fonts) -> Path:
    """A sheet that lies a little askew, with a heading, two paragraphs, and a word hard to read."""
    sheet = Image.new("RGB", (900, 700), "white")
    pen = ImageDraw.Draw(sheet)
    for number, line in enumerate(TEXT.splitlines()):
        font = ImageFont.truetype(
            matplotlib_fonts / "DejaVuSerif.ttf", 28 if number else 44
        )
        pen.text((60, 40 + 52 * number), line, "black", font)
    with Image.open(SAMPLES / "word-09.jpg") as word:
        sheet.paste(word.convert("RGB").resize((36, 12)).resize((144, 48)), (60, 560))
    sheet.rotate(2, Image.Resampling.BICUBIC, fillcolor="white").save(
        tmp_path / "print.png"
    )
    return tmp_path / "print.png"


@pytest.fixture
def ruled_page(tmp_path, matplotlib_fonts) -> Path:
    """A table between rules, askew, with cells of two lines and one that covers two columns."""
    sheet = Image.new("RGB", (900, 520), "white")
    pen = ImageDraw.Draw(sheet)
    font = ImageFont.truetype(matplotlib_fonts / "DejaVuSans.ttf", 26)
    pen.text((60, 40), "Prices of this winter", "black", font)
    columns, rows = (60, 420, 640, 840), (120, 180, 270, 360, 420)
    cells = [
        ("Article", 0, 0),
        ("Price", 1, 0),
        ("Pieces", 2, 0),
        ("Coat with a", 0, 1),
    ]
    cells += [
        ("warm lining", 0, 1.4),
        ("49.90", 1, 1),
        ("12", 2, 1),
        ("Boots of", 0, 2),
    ]
    cells += [
        ("brown leather", 0, 2.4),
        ("89.00", 1, 2),
        ("7", 2, 2),
        ("All together", 0, 3),
    ]
    cells += [("1221.80", 2, 3)]
    for text, column, row in cells:
        top = rows[int(row)] + 12 + 90 * (row - int(row))
        pen.text((columns[column] + 14, top), text, "black", font)
    pen.text((60, 450), "All prices include taxes.", "black", font)
    for row in rows:
        pen.line((columns[0], row, columns[-1], row), "black", 2)
    for number, column in enumerate(columns):
        pen.line((column, rows[0], column, rows[3 if number == 1 else 4]), "black", 2)
    sheet.rotate(-1, Image.Resampling.BICUBIC, fillcolor="white").save(
        tmp_path / "ruled.png"
    )
    return tmp_path / "ruled.png"


def read_page(page: Any, address: str, path: Path) -> Any:
    """The card of a whole picture."""
    page.goto(address)
    page.locator("#live", has_text="Ready").wait_for(state="attached")
    page.set_input_files("#files", path)
    page.locator(".card[aria-busy=false]").wait_for()
    return page.locator(".card")


def compare_page(page: Any, address: str, model: str, path: Path) -> dict[str, Any]:
    """Read a whole picture in the page and in Python; gives what the page says."""
    card = read_page(page, address, path)
    card.get_by_text("Copy JSON").click()
    card.get_by_text("Copied").wait_for()
    record = json.loads(page.evaluate("() => navigator.clipboard.readText()"))
    expected = page_row(
        path.name,
        load_page(model, backend="onnx", detector="rapidocr").read(path, boxes=True),
    )
    assert [record[name] for name in ("path", "width", "height", "text")] == [
        expected[name] for name in ("path", "width", "height", "text")
    ]
    for one, other in zip(record["words"], expected["words"], strict=True):
        assert [one[name] for name in ("text", "block", "line")] == [
            other[name] for name in ("text", "block", "line")
        ]
        assert one["confidence"] == pytest.approx(other["confidence"], abs=0.01)
        for corner, expected_corner in zip(
            one["polygon"], other["polygon"], strict=True
        ):
            assert corner == pytest.approx(expected_corner, abs=1.5)
    return record


def test_whole_pictures(browser, tiny, serve_files, print_page):
    empty, huge, no_picture = (
        print_page.with_name(f"{n}.png") for n in ("empty", "huge", "no")
    )
    Image.new("RGB", (400, 400), "white").save(empty)
    Image.new("1", (8000, 8000)).save(huge)
    no_picture.write_bytes(print_page.read_bytes()[:100])
    with serve_files(tiny) as address:
        page = browser.new_page()
        record = compare_page(page, address, "tiny", print_page)
        assert record["text"].startswith(TEXT)
        card = page.locator(".card")
        assert card.locator("polygon").count() == len(record["words"])
        card.get_by_text("Copy text").click()
        assert page.evaluate("() => navigator.clipboard.readText()") == record["text"]
        assert (
            "No text found"
            in read_page(page, address, empty).locator(".text").inner_text()
        )
        page.select_option("#kind", "page")
        for path, problem in (
            (huge, "64 million pixels, more than this page takes"),
            (no_picture, "not a picture that the browser can open"),
        ):
            page.set_input_files("#files", path)
            page.locator(".problem", has_text=problem).wait_for()
        page.close()


def test_tables_between_rules(browser, tiny, serve_files, ruled_page):
    with serve_files(tiny) as address:
        page = browser.new_page()
        record = compare_page(page, address, "tiny", ruled_page)
        assert "Coat with a warm lining 49.90 12\n" in record["text"]
        assert "Boots of brown leather 89.00 7\n" in record["text"]
        table = page.locator(".card table")
        assert table.locator("th").all_inner_texts() == ["Article", "Price", "Pieces"]
        assert table.locator("tr").count() == 4
        page.close()


@pytest.mark.slow  # of tracing three graphs
def test_a_model_that_refines(browser, tiny, serve_files, tall, tmp_path):
    torch.manual_seed(0)
    decoder = PermutedDecoder(94, dim=32, heads=2, maximum_length=6)
    torch.nn.init.normal_(decoder.classify.weight)
    encoder = VisionTransformer(dim=32, depth=1, heads=2, patch_size=(8, 16))
    preprocessing = Preprocessing(
        mean=(0.4, 0.5, 0.6), turn_above=1.5, reread_below=1.0
    )
    recognizer = Recognizer(encoder, decoder).eval()
    folder = tmp_path / "page"
    weights = WeightsFile(recognizer, Charset(), preprocessing, {}, 1.2)
    write_page(weights, folder, runtime=tiny / "runtime")
    with serve_files(folder) as address:
        page = browser.new_page()
        compare(page, address, folder, [SAMPLES / "word-01.png", *tall])
        page.close()


def test_lines(browser, tiny, serve_files, tmp_path, print_page):
    folder = tmp_path / "page"
    weights = load_weights(resolve("line"))
    write_page(weights, folder, runtime=tiny / "runtime", detector=detector_files())
    assert not (folder / "lines").exists()
    words = [SAMPLES / name for name in ("word-01.png", "word-09.jpg", "word-06.jpg")]
    images = [load_image(path).resize((90, 32)) for path in words]
    line = Image.new("RGB", (300, 32), "white")
    for number, image in enumerate(images):
        line.paste(image, (100 * number, 0))
    line.save(tmp_path / "line.png")
    with serve_files(folder) as address:
        page = browser.new_page()
        compare(page, address, folder, [tmp_path / "line.png", words[0]])
        compare_page(page, address, "line", print_page)
        page.close()


def test_other_scripts_are_fetched_when_asked_for(
    browser, tiny, serve_files, tmp_path, both_scripts, run, print_page
):
    folder = tmp_path / "page"
    code, _, _ = run(
        "export", both_scripts, "--web", folder, "--runtime", tiny / "runtime"
    )
    assert code == 0
    image = SAMPLES / "word-01.png"
    with serve_files(folder) as address:
        page = browser.new_page()
        fetched: list[str] = []
        page.on("request", lambda request: fetched.append(request.url))
        page.goto(address)
        page.locator("#live", has_text="Ready").wait_for(state="attached")
        for language in ("", "de", "ru"):
            page.select_option("#language", language)
            page.set_input_files("#files", [image, print_page])
            page.locator(".card[aria-busy=false]").nth(1).wait_for()
            page.click("#clear")
            others = {url.removeprefix(address) for url in fetched if "/other/" in url}
            assert bool(others) == (language == "ru"), language
        folder = "other/cyrillic-greek"
        assert {f"{folder}/model/model.json", f"{folder}/lines/model.json"} <= others
        page.close()


def test_without_a_detector(
    browser, tiny, serve_files, tmp_path, both_scripts, run, monkeypatch
):
    """Of weights whose graphs are traced above; alone, they are of one script."""
    weights = shutil.copy(both_scripts / "tiny.safetensors", tmp_path)

    def not_installed(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("vit_str.export.web.distribution", not_installed)
    folder = tmp_path / "page"
    code, _, err = run(
        "export", weights, "--web", folder, "--runtime", tiny / "runtime"
    )
    assert code == 0
    assert "it reads words only" in err
    assert not (folder / "detector").exists()
    with serve_files(folder) as address:
        page = browser.new_page()
        compare(page, address, folder, [SAMPLES / "word-01.png"])
        assert page.locator("#kind-option").is_hidden()
        page.close()


def test_what_cannot_become_a_page(tmp_path, monkeypatch, run):
    out = tmp_path / "page"
    (tmp_path / "note").touch()

    def complaint(*arguments):
        code, _, err = run("export", *arguments)
        assert code == 2
        return err

    assert "--runtime needs --web" in complaint("tiny", "--out", out, "--runtime", "x")
    assert f"has no {RUNTIME_FILES[0]}" in complaint(
        "tiny", "--web", out, "--runtime", "x"
    )
    assert "there already, and not empty" in complaint("tiny", "--web", tmp_path)
    monkeypatch.setenv("PATH", "")
    assert "from npm, which is not installed" in complaint("tiny", "--web", out)
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho 'npm error no network' >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "(npm error no network)" in complaint("tiny", "--web", out)
    npm.write_text('#!/bin/sh\necho damaged > "$4/onnxruntime-web.tgz"\n')
    assert "npm gave another onnxruntime-web" in complaint("tiny", "--web", out)
    assert not out.exists()
