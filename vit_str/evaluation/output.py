"""The files that ``vit-str evaluate`` writes: a page of Markdown, a sheet of mistakes."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vit_str import console
from vit_str.datasets import WordSource
from vit_str.evaluation.mistakes import mistake_sheet, surest_mistakes
from vit_str.evaluation.report import Report
from vit_str.files import write_atomically
from vit_str.reports.sheets import caption_font, check_picture


@dataclass(frozen=True, slots=True)
class Output:
    """What to write besides the table."""

    markdown: Path | None
    sheet: Path | None

    def prepare(self) -> None:
        """Find out before the reading, which may take long, whether it can be written."""
        if self.sheet:
            check_picture(self.sheet)
        for folder in [path.parent for path in (self.markdown, self.sheet) if path]:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ValueError(f"cannot write {folder}: {error.strerror}") from error
            if not os.access(folder, os.W_OK):
                raise ValueError(f"cannot write {folder}: no permission")

    def write(self, report: Report, page: str, sets: Mapping[str, WordSource]) -> None:
        """Write all of it."""
        try:
            if self.markdown:
                with write_atomically(self.markdown) as temporary:
                    temporary.write_text(page, encoding="utf-8", newline="\n")
            if self.sheet:
                _write_sheet(self.sheet, report, sets)
        except OSError as error:
            where = error.filename or "the report"
            raise console.OutputError(f"cannot write {where}: {error.strerror}") from error


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
