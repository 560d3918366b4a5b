"""Files of pictures are PDF/A-1b, which Apache's Preflight judges where Debian has it."""

import re
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms

sys.path.insert(0, str(Path(__file__).parents[1]))
from made_pages import HEIGHT, WIDTH, line, page_of

from vit_str.pages.write.archive import srgb_profile
from vit_str.pages.write.searchable_pdf import ReadFile, write_searchable_pdf

pikepdf = pytest.importorskip("pikepdf")
pytest.importorskip("img2pdf")

# apt-get install default-jre-headless libpdfbox2-java libactivation-java libjaxb-api-java
JAVA = Path("/usr/share/java")
PREFLIGHT = [
    JAVA / f"{name}.jar"
    for name in (
        *("preflight", "pdfbox2", "fontbox2", "xmpbox"),
        *("commons-logging", "commons-io", "javax.activation", "jaxb-api"),
    )
]
KINDS = [
    *[("PNG", mode) for mode in ("RGB", "L", "1", "P", "RGBA", "LA")],
    *[("JPEG", "RGB"), ("JPEG", "L"), ("TIFF", "1"), ("TIFF", "RGB"), ("WEBP", "RGB")],
]


@pytest.fixture
def page():
    texts = ("Open daily from ten", "größer Ω €")
    return page_of([line(text, 60, 80 + 120 * n) for n, text in enumerate(texts)])


def picture(kind: str, mode: str, **options) -> bytes:
    file = BytesIO()
    image = Image.new("RGB", (WIDTH, HEIGHT), (200, 220, 90))
    if mode == "I;16":
        image = image.convert("L")
    image.convert(mode).save(file, kind, **options)
    return file.getvalue()


def written(sources: list[bytes], page, folder: Path) -> Path:
    files = [ReadFile(each, f"scan {n}", [page]) for n, each in enumerate(sources)]
    write_searchable_pdf(files, folder / "scan.pdf")
    return folder / "scan.pdf"


def claims(path: Path) -> bool:
    """Whether a file says that it is PDF/A-1b, in a record that can be read without inflating."""
    return b"<pdfaid:part>1</pdfaid:part>" in path.read_bytes()


@pytest.mark.parametrize(("kind", "mode"), KINDS)
def test_pictures_make_a_file_for_archives(kind, mode, page, tmp_path):
    path = written([picture(kind, mode)], page, tmp_path)
    content = path.read_bytes()
    assert content.startswith(b"%PDF-1.4") and claims(path)
    assert b"/XRef" not in content and b"/ObjStm" not in content
    with pikepdf.open(path) as made:
        (intent,) = made.Root.OutputIntents
        assert intent.S == "/GTS_PDFA1" and int(intent.DestOutputProfile.N) == 3
        record = made.Root.Metadata.read_bytes().decode()
        (date,) = re.findall("<xmp:CreateDate>(.*)</xmp:CreateDate>", record)
        assert re.sub("[-:T]", "", date) == str(made.docinfo.CreationDate)[2:]
        (shown,) = made.pages[0].Resources.XObject.values()
        assert "/SMask" not in shown


def test_several_pictures_make_one(page, tmp_path):
    path = written([picture(*kind) for kind in KINDS[:3]], page, tmp_path)
    assert claims(path)
    with pikepdf.open(path) as made:
        assert len(made.pages) == 3 and len(made.Root.OutputIntents) == 1


def test_what_archives_do_not_take_claims_nothing(page, tmp_path):
    assert not claims(written([picture("JPEG", "CMYK")], page, tmp_path))
    assert not claims(written([picture("PNG", "I;16")], page, tmp_path))
    newer = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    assert newer[8] == 4
    with_newer = picture("PNG", "RGB", icc_profile=newer)
    assert not claims(written([with_newer], page, tmp_path))
    good, bad = picture("PNG", "L"), picture("JPEG", "CMYK")
    assert not claims(written([good, bad], page, tmp_path))


def test_a_pdf_file_keeps_what_it_says(page, tmp_path):
    """Nobody looked at its fonts and pictures."""
    made = pikepdf.new()
    made.add_blank_page(page_size=(WIDTH, HEIGHT))
    file = BytesIO()
    made.save(file)
    assert not claims(written([file.getvalue()], page, tmp_path))
    assert not claims(written([picture("PNG", "L"), file.getvalue()], page, tmp_path))


def test_the_profile_is_that_of_srgb():
    ours = ImageCms.ImageCmsProfile(BytesIO(srgb_profile()))
    theirs = ImageCms.createProfile("sRGB")
    colors = np.random.default_rng(1).integers(0, 256, (64, 64, 3), np.uint8)
    image = Image.fromarray(colors)
    moved = ImageCms.profileToProfile(image, ours, theirs)
    assert moved is not None
    difference = np.abs(np.asarray(moved).astype(int) - colors)
    assert difference.max() <= 1
    assert "sRGB" in ImageCms.getProfileDescription(ours)


@pytest.mark.skipif(
    shutil.which("java") is None or not all(map(Path.exists, PREFLIGHT)),
    reason="apt-get install libpdfbox2-java",
)
def test_preflight_finds_no_fault(page, tmp_path):
    paths = []
    older = picture("PNG", "RGB", icc_profile=srgb_profile())
    for n, source in enumerate([*[picture(*kind) for kind in KINDS], older]):
        folder = tmp_path / str(n)
        folder.mkdir()
        paths.append(written([source], page, folder))
    together = tmp_path / "together"
    together.mkdir()
    paths.append(written([picture(*kind) for kind in KINDS], page, together))
    jars = ":".join(map(str, PREFLIGHT))
    command = ["java", "-cp", jars, "org.apache.pdfbox.preflight.Validator_A1b"]
    for path in paths:
        run = subprocess.run([*command, path], capture_output=True, text=True)
        assert "is a valid PDF/A-1b file" in run.stdout + run.stderr, run.stdout
