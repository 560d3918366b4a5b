"""The real docling with this package as its OCR engine.

Its models of layout come from the network: in their place, a page is one paragraph.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

pytest.importorskip("docling")
pytest.importorskip("cv2")

from docling.datamodel.base_models import Cluster, InputFormat, LayoutPrediction, Page
from docling.datamodel.document import ConversionResult
from docling.datamodel.pipeline_options import BaseLayoutOptions, PdfPipelineOptions
from docling.document_converter import (
    DocumentConverter,
    ImageFormatOption,
    PdfFormatOption,
)
from docling.exceptions import OcrLanguageNotSupportedError
from docling.models.base_layout_model import BaseLayoutModel
from docling.models.factories import get_layout_factory, get_ocr_factory
from docling_core.types.doc import BoundingBox, DocItemLabel
from PIL import Image, ImageDraw, ImageFont

from vit_str.characters.charset import charset_of
from vit_str.docling import VitStrOcrModel, VitStrOcrOptions

# Of docling, about itself
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
LINES = "Museum station", "opens every day", "Coffee and tea"


class ParagraphOptions(BaseLayoutOptions):
    kind: ClassVar[str] = "paragraph"


class Paragraph(BaseLayoutModel):
    def __init__(self, **settings: Any) -> None:
        pass

    @classmethod
    def get_options_type(cls) -> type[BaseLayoutOptions]:
        return ParagraphOptions

    def predict_layout(
        self, conv_res: ConversionResult, pages: Sequence[Page]
    ) -> list[LayoutPrediction]:
        return [LayoutPrediction(clusters=[whole(page)]) for page in pages]


def whole(page: Page) -> Cluster:
    box = BoundingBox(l=0, t=0, r=page.size.width, b=page.size.height)
    return Cluster(id=0, label=DocItemLabel.TEXT, bbox=box, confidence=1.0)


@pytest.fixture(scope="module")
def converter() -> DocumentConverter:
    factory = get_layout_factory(allow_external_plugins=True)
    factory.register(Paragraph, "tests", __name__)
    options = PdfPipelineOptions(
        allow_external_plugins=True,
        do_table_structure=False,
        generate_parsed_pages=True,
        layout_options=ParagraphOptions(),
        ocr_options=VitStrOcrOptions(lang=["en"]),
    )
    formats = {
        InputFormat.IMAGE: ImageFormatOption(pipeline_options=options),
        InputFormat.PDF: PdfFormatOption(pipeline_options=options),
    }
    return DocumentConverter(format_options=formats)


@pytest.fixture(scope="module")
def picture(matplotlib_fonts) -> Image.Image:
    letters = ImageFont.truetype(str(matplotlib_fonts / "DejaVuSans.ttf"), 48)
    page = Image.new("RGB", (900, 500), "white")
    pen = ImageDraw.Draw(page)
    for number, line in enumerate(LINES):
        pen.text((100, 80 + 120 * number), line, "black", letters)
    return page


@pytest.mark.parametrize("name", ["scan.png", "scan.pdf"])
def test_a_scan_is_a_document(converter, picture, tmp_path, name):
    picture.save(tmp_path / name, resolution=150)
    document = converter.convert(tmp_path / name).document
    assert document.export_to_text().split() == " ".join(LINES).split()


def test_where_words_are(converter, picture, tmp_path):
    """In points of the page, also on one that is turned to the right."""
    picture.transpose(Image.Transpose.ROTATE_270).save(
        tmp_path / "turned.pdf", resolution=150
    )
    page = converter.convert(tmp_path / "turned.pdf").pages[0]
    (museum,) = [cell for cell in page.cells if cell.text == "Museum"]
    box = museum.rect.to_bounding_box()
    right, top = (72 / 150 * side for side in (500 - 80, 100))
    assert (box.r, box.t) == pytest.approx((right, top), abs=8)
    assert museum.rect.angle_360 == pytest.approx(270, abs=2)
    assert museum.from_ocr
    assert museum.confidence > 0.9


def test_the_engine_is_found_by_its_name():
    factory = get_ocr_factory(allow_external_plugins=True)
    options = factory.create_options("vit-str", lang=["iso:de", "none"])
    assert isinstance(options, VitStrOcrOptions)
    assert VitStrOcrModel in factory.classes.values()


def test_a_language_has_its_weights(both_scripts):
    model = VitStrOcrModel(
        enabled=True,
        artifacts_path=None,
        options=VitStrOcrOptions(lang=["ru", "en"], model=str(both_scripts)),
        accelerator_options=PdfPipelineOptions().accelerator_options,
    )
    assert model._reader.lines.charset == charset_of("cyrillic-greek")


def test_an_unknown_language():
    options = VitStrOcrOptions(lang=["tlh"])
    with pytest.raises(OcrLanguageNotSupportedError, match="tlh"):
        VitStrOcrModel(
            enabled=True,
            artifacts_path=None,
            options=options,
            accelerator_options=PdfPipelineOptions().accelerator_options,
        )
