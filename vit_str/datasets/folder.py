"""A folder with ``images/`` and ``labels.tsv``."""

from collections.abc import Sequence
from pathlib import Path

from vit_str.datasets.source import LabeledWord
from vit_str.datasets.writer import DatasetWriter, GrowingFile, Layout

IMAGES, LABELS, BOXES = "images", "labels.tsv", "boxes.jsonl"


class FolderWriter(DatasetWriter):
    """Writes ``images/000000000.png`` and so on, and for each a line: its name, tab, label.

    With boxes, ``boxes.jsonl`` has a line for each too: an object with image, label and boxes.
    Lines follow when the images are there, those of ``labels.tsv`` last.
    """

    def __init__(self, path: Path, layout: Layout) -> None:
        super().__init__(path, layout)
        (path / IMAGES).mkdir(parents=True, exist_ok=True)
        labels, boxes = path / LABELS, path / BOXES
        self.done, end, last = _whole_lines(labels)
        expected = self._name(self.done - 1, self.layout.suffix + "\t" * bool(self.layout.suffix))
        if last and not last.startswith(expected.encode()):
            raise ValueError(
                f"{labels} has been changed since it was written: line {self.done} is not about "
                f"{expected.strip()}; write to a new folder"
            )
        if layout.boxes:
            self.done, end_of_boxes, _ = _whole_lines(boxes, self.done)
            self._boxes = GrowingFile(boxes, end_of_boxes)
            _, end, _ = _whole_lines(labels, self.done)
        self._labels = GrowingFile(labels, end)

    def add(self, words: Sequence[LabeledWord]) -> None:
        named = [
            (self._name(number, self.layout.suffix or word.suffix), word)
            for number, word in enumerate(words, self.done)
        ]
        for name, word in named:
            (self.path / IMAGES / name).write_bytes(word.image)
        if self.layout.boxes:
            lines = [f"{word.json_of_boxes(image=name)}\n" for name, word in named]
            self._boxes.append("".join(lines).encode())
        self._labels.append("".join(f"{name}\t{word.label}\n" for name, word in named).encode())
        self.done += len(words)

    def close(self) -> None:
        if self.layout.boxes:
            self._boxes.close()
        self._labels.close()

    def _name(self, number: int, suffix: str) -> str:
        return f"{self.layout.start + number:09d}{suffix}"


def _whole_lines(path: Path, most: int | None = None) -> tuple[int, int, bytes]:
    """Number of lines that end, at most so many, where the last of them ends, and that line."""
    count, end, last = 0, 0, b""
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n") or count == most:
                    break
                count, end, last = count + 1, end + len(line), line
    return count, end, last
