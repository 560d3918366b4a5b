"""The words of scanned pages in docling: ``docling --allow-external-plugins --ocr-engine vit-str``.

https://docling-project.github.io/docling/concepts/plugins
"""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal

from docling.datamodel.accelerator_options import AcceleratorOptions
from docling.datamodel.base_models import Page
from docling.datamodel.document import ConversionResult
from docling.datamodel.pipeline_options import OcrOptions
from docling.exceptions import OcrLanguageNotSupportedError
from docling.models.base_ocr_model import BaseOcrModel
from docling.utils.ocr_language import OcrLanguage, OcrLanguageSupport
from docling.utils.profiling import TimeRecorder
from docling_core.types.doc.base import BoundingBox, CoordOrigin
from docling_core.types.doc.page import BoundingRectangle, TextCell
from pydantic import Field

from vit_str.decoding.prior import NO_LANGUAGE, known_languages
from vit_str.decoding.search import Search
from vit_str.pages.page import Word
from vit_str.pages.reader import load_page


class VitStrOcrOptions(OcrOptions):
    """Options of the reader in docling.

    Attributes:
        lang: whose words to expect where a page leaves doubts, such as ``de``, and whose letters,
            such as ``ru``; ``none`` in lists of codes; those of all languages if empty.
        model: weights of the package, a .safetensors file, or a folder of ``vit-str export``.
    """

    kind: ClassVar[Literal["vit-str"]] = "vit-str"
    lang: list[str] = Field(default_factory=list)
    model: str = "tiny"


class VitStrOcrModel(BaseOcrModel):
    """Finds and reads the words of page images."""

    multiple_languages = True

    def __init__(
        self,
        *,
        enabled: bool,
        artifacts_path: Path | None,
        options: VitStrOcrOptions,
        accelerator_options: AcceleratorOptions,
    ) -> None:
        super().__init__(
            enabled=enabled,
            artifacts_path=artifacts_path,
            options=options,
            accelerator_options=accelerator_options,
        )
        if enabled:
            codes = self.resolve_ocr_languages()
            search = Search(language="+".join(codes)) if codes else None
            device = accelerator_options.device
            self._reader = load_page(options.model, device, search=search)

    @classmethod
    def get_options_type(cls) -> type[OcrOptions]:
        """Name of this engine in docling."""
        return VitStrOcrOptions

    def supported_ocr_languages(self) -> OcrLanguageSupport:
        """Languages that the package has words or letters of."""
        return OcrLanguageSupport(bcp47=list(known_languages()), native=[NO_LANGUAGE])

    def map_ocr_language(self, language: OcrLanguage) -> str:
        """``de`` and ``iso:de`` are the same.

        Raises:
            OcrLanguageNotSupportedError: neither words nor letters of this language are known.
        """
        code = language.native or language.bcp47_language
        if code not in (*known_languages(), NO_LANGUAGE):
            raise OcrLanguageNotSupportedError(
                self._engine_name,
                language.tag(),
                supported=self.supported_ocr_languages(),
            )
        return code

    def __call__(
        self,
        conv_res: ConversionResult,
        page_batch: Iterable[Page],
    ) -> Iterable[Page]:
        """Add what the pages say to their text."""
        for page in page_batch:
            backend = page._backend
            if self.enabled and backend is not None and backend.is_valid():
                with TimeRecorder(conv_res, "ocr"):
                    areas = self.get_ocr_rects(page)
                    cells = [self._cells(page, area) for area in areas]
                    self.post_process_cells(list(chain(*cells)), page, conv_res)
            yield page

    def _cells(self, page: Any, area: BoundingBox) -> list[TextCell]:
        """The words in a part of a page."""
        if not area.area():
            return []
        scale = self.options.scale
        image = page._backend.get_page_image(scale=scale, cropbox=area)
        words = self._reader.read(image).words
        return [_cell(word, area, scale) for word in words]


def ocr_engines() -> dict[str, list[type[BaseOcrModel]]]:
    """The models of this plug-in, as docling asks for them."""
    return {"ocr_engines": [VitStrOcrModel]}


def _cell(word: Word, area: BoundingBox, scale: float) -> TextCell:
    """A word where it is on the page, in points."""
    # Docling begins at the lower left corner of a text, against the clock.
    corners = [word.polygon[index] for index in (3, 2, 1, 0)]
    places = chain(*((area.l + x / scale, area.t + y / scale) for x, y in corners))
    names = ("r_x0", "r_y0", "r_x1", "r_y1", "r_x2", "r_y2", "r_x3", "r_y3")
    return TextCell(
        text=word.text,
        orig=word.text,
        confidence=word.confidence,
        from_ocr=True,
        rect=BoundingRectangle(
            **dict(zip(names, places, strict=True)), coord_origin=CoordOrigin.TOPLEFT
        ),
    )
