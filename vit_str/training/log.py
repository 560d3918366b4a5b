"""One log for all legs of a run."""

import csv
from pathlib import Path
from typing import Any

from lightning.pytorch.loggers import CSVLogger
from lightning.pytorch.utilities import rank_zero_only

from vit_str.files import write_atomically

_STEPS_BETWEEN_SAVES = 100


class RunLog(CSVLogger):
    """Writes ``metrics.csv``; a run that resumes appends to it.

    Rows of steps that a run takes again, because its last checkpoint is older, are replaced.

    Args:
        save_dir: folder of the run.
        name: folder of the log in it.
    """

    def __init__(self, save_dir: Path, name: str = "log") -> None:
        super().__init__(save_dir, name, version="")
        self.path = Path(self.log_dir) / "metrics.csv"
        self._rows: list[dict[str, Any]] | None = None

    @property
    def experiment(self) -> None:
        """Lightning's own writer deletes what a leg before has written."""

    @rank_zero_only
    def log_metrics(  # type: ignore[override]
        self, metrics: dict[str, float], step: int | None = None
    ) -> None:
        step = step or 0
        if self._rows is None:
            self._rows = [row for row in self._earlier_rows() if int(row["step"]) < step]
        self._rows.append({**metrics, "step": step})
        if (step + 1) % _STEPS_BETWEEN_SAVES == 0:
            self.save()

    def _earlier_rows(self) -> list[dict[str, Any]]:
        if not self.path.exists():
            return []
        with self.path.open(newline="", encoding="utf-8") as file:
            return [row for row in csv.DictReader(file) if (row.get("step") or "").isdigit()]

    @rank_zero_only
    def log_hyperparams(self, *_: Any, **__: Any) -> None:
        """The whole configuration is kept in ``config.yaml``."""

    @rank_zero_only
    def save(self) -> None:
        if not self._rows:
            return
        names = sorted({str(name) for row in self._rows for name in row})
        with (
            write_atomically(self.path) as temporary,
            temporary.open("w", newline="", encoding="utf-8") as file,
        ):
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(self._rows)

    @rank_zero_only
    def finalize(self, status: str) -> None:
        self.save()
