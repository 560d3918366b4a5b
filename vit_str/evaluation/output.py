"""The files that ``vit-str evaluate`` writes: pages of Markdown, figures, a sheet of mistakes."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from vit_str import console
from vit_str.datasets import WordSource
from vit_str.evaluation.mistakes import mistake_sheet, surest_mistakes
from vit_str.evaluation.report import Report
from vit_str.files import write_atomically
from vit_str.reports.sheets import caption_font, check_picture

PAGE = "report.md"
"""Name of the page in the folder of a report."""


@dataclass(frozen=True, slots=True)
class Output:
    """What to write besides the table.

    Attributes:
        markdown: file for a page without figures.
        report: folder for a page with figures.
        sheet: file for pictures of the surest mistakes.
    """

    markdown: Path | None
    report: Path | None
    sheet: Path | None

    def prepare(self) -> None:
        """Find out before the reading, which may take long, whether it can be written.

        Raises:
            ValueError: it cannot.
            ModuleNotFoundError: there is no library for figures.
        """
        if self.sheet:
            check_picture(self.sheet)
        if self.report:
            import vit_str.evaluation.figures  # noqa: F401
        folders = [path.parent for path in (self.markdown, self.sheet) if path]
        for folder in [*folders, *filter(None, [self.report])]:
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
                from vit_str.evaluation.figures import write_figures

                write_figures(report, self.report)
                _write(self.report / PAGE, page(True))
            if self.sheet:
                _write_sheet(self.sheet, report, sets)
        except OSError as error:
            where = error.filename or "the report"
            raise console.OutputError(f"cannot write {where}: {error.strerror}") from error


def _write(path: Path, page: str) -> None:
    with write_atomically(path) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")


def _write_sheet(path: Path, report: Report, sets: Mapping[str, WordSource]) -> None:
    from vit_str.synthesis.fonts import find_fonts

    mistakes = surest_mistakes(report.words)
    font = caption_font("".join(mistake.caption() for mistake in mistakes), find_fonts)
    try:
        picture = mistake_sheet(mistakes, sets, font)
    except ValueError as error:
        console.warn(f"{path} is not written: {error}")
        return
    with write_atomically(path) as temporary:
        picture.save(temporary)
