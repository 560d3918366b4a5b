"""The files that ``vit-str evaluate`` writes: pages of Markdown, figures, a sheet of mistakes."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from vit_str import console
from vit_str.datasets import WordSource
from vit_str.evaluation import Report
from vit_str.evaluation.mistakes import Mistake, mistake_sheet, surest_mistakes
from vit_str.files import write_atomically
from vit_str.sheets import Font, caption_font

PAGE = "report.md"
"""Name of the page in the folder of a report."""


@dataclass(frozen=True, slots=True)
class Output:
    """What to write besides the table.

    Attributes:
        markdown: file for a page without figures.
        report: folder for a page with figures.
        sheet: file for pictures of the surest mistakes, of a format that Pillow writes.
    """

    markdown: Path | None
    report: Path | None
    sheet: Path | None

    def prepare(self) -> None:
        """Find out before the reading, which may take long, whether it can be written.

        Raises:
            ValueError: it cannot, or a library is missing.
        """
        if self.sheet and self.sheet.suffix.lower() not in _picture_formats():
            raise ValueError(
                f"the sheet is a picture: expected a name such as mistakes.png, found {self.sheet}"
            )
        if self.report:
            _figure_writer()
        folders = [path.parent for path in (self.markdown, self.sheet) if path]
        for folder in [*folders, *([self.report] if self.report else [])]:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ValueError(f"cannot write {folder}: {error.strerror}") from error
            if not os.access(folder, os.W_OK):
                raise ValueError(f"cannot write {folder}: no permission")

    def write(
        self, report: Report, page: Callable[[bool], str], sets: Mapping[str, WordSource]
    ) -> None:
        """Write all of it.

        Args:
            report: what was found.
            page: the text of the page, with figures or without.
            sets: name -> where the pictures of mistakes are.

        Raises:
            OutputError: something cannot be written.
        """
        try:
            if self.markdown:
                _write(self.markdown, page(False))
            if self.report:
                _figure_writer()(report, self.report)
                _write(self.report / PAGE, page(True))
            if self.sheet:
                _write_sheet(self.sheet, surest_mistakes(report.words), sets)
        except OSError as error:
            where = error.filename or "the report"
            raise console.OutputError(f"cannot write {where}: {error.strerror}") from error


def _figure_writer() -> Callable[[Report, Path], None]:
    try:
        from vit_str.evaluation.figures import write_figures
    except ModuleNotFoundError as error:
        if (error.name or "vit_str").partition(".")[0] == "vit_str":
            raise  # a mistake of ours, not a package that the base install leaves out
        raise ValueError(
            f'the figures of --report need {error.name}, run: pip install "vit-str[analyze]", '
            "or give --markdown FILE for a page without figures"
        ) from error
    return write_figures


def _write_sheet(path: Path, mistakes: list[Mistake], sets: Mapping[str, WordSource]) -> None:
    font = _font("".join(mistake.caption() for mistake in mistakes))
    try:
        picture = mistake_sheet(mistakes, sets, font)
    except ValueError as error:
        console.complain(f"{path} is not written: {error}")
        return
    with write_atomically(path) as temporary:
        picture.save(temporary)


def _write(path: Path, page: str) -> None:
    with write_atomically(path) as temporary:
        temporary.write_text(page, encoding="utf-8", errors="backslashreplace", newline="\n")


def _font(text: str) -> Font | None:
    """Letters for the captions; without the library that looks into fonts only English ones."""
    from vit_str.synthesis.fonts import find_fonts

    try:
        return caption_font(text, find_fonts)
    except ModuleNotFoundError as error:
        console.complain(
            f"captions in other scripts need {error.name}, without it they are boxes; "
            'run: pip install "vit-str[analyze]"'
        )
        return None


def _picture_formats() -> dict[str, str]:
    """Suffix -> name of the format, of those that Pillow writes."""
    suffixes = Image.registered_extensions()
    return {suffix: name for suffix, name in suffixes.items() if name in Image.SAVE}
