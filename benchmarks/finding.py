"""What two detectors find on the same labelled pictures, and how long they take.

    python benchmarks/finding.py FOLDER... --detectors rapidocr runs/find/finder.onnx
    python benchmarks/finding.py --drawn pages-find --detectors rapidocr finder.onnx

A folder holds ``images/`` and ``labels/``, as for ``vit-str evaluate --page``; its labels are words
(or lines, which then count as words). Both detectors see one picture after the other, in turns, on
one CPU thread. Nothing is read, so that finding alone is compared:

* **recall**: labels of which half lies in found lines that are no more than two and a half times as
  high as they are;
* **precision**: found lines of which 30 % or more is covered by labels;
* **ends**: by how many heights a found line begins or ends before or behind the words in it, in the
  median (above 0: it is longer), and how far off the ends are in the 90th percentile;
* **words**, of detectors that tell them: labels that overlap a found word with more than half of
  their union, one to one, and found words likewise.

With ``--drawn``, pictures of ``vit-str render --pages N --find`` are looked at too (draw them with
``--held-out``), as they are drawn. Their true maps also take the place of a network: what is lost
then is lost between maps and lines.

Of networks of ours, **confidence** is compared with how many of the found lines are right: its
mean and their share in ten parts of about as many lines, and the mean distance of both.

What is labelled ``###`` is not judged, nor are lines that lie mostly in it. Intervals are
bootstraps over pictures.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from measuring import add_json, described_parser, pin, print_machine, table, write_json
from PIL import Image
from shapely import STRtree
from shapely.geometry import Polygon
from shapely.ops import unary_union
from tqdm.auto import tqdm

from vit_str.datasets.picture_records import (
    PictureRecord,
    picture_shards_of,
    read_picture_shard,
)
from vit_str.evaluation.pages.labels import Label, labeled_pictures, read_labels
from vit_str.evaluation.statistics import percentile_interval, resamples
from vit_str.images.loading import load_image
from vit_str.models.finder import STEP
from vit_str.pages.find.detection import LineDetector
from vit_str.pages.find.detectors import open_detector
from vit_str.pages.find.geometry import side_lengths
from vit_str.pages.find.lines import find_lines, polygon_of
from vit_str.pages.find.own_detector import FinderDetector
from vit_str.synthesis.places import Places
from vit_str.training.find.examples import places_of
from vit_str.training.find.truth import SMALLEST, true_maps

COVERED = 0.5  # of a label, that lines have to hold
LABELED = 0.3  # of a line, that labels have to cover
HIGHEST = 2.5  # heights of a label, up to which a line is one around it
INSIDE = 0.5  # of a word, from which on it is in a line
OVERLAP = 0.5  # of a found and a true word, over their union


@dataclass
class Counts:
    """Of one picture, or of several."""

    labels: int = 0
    covered: int = 0
    lines: int = 0
    right: int = 0
    words: int = 0
    matched: int = 0
    ends: list[float] = field(default_factory=list)
    sure: list[tuple[float, bool]] = field(default_factory=list)
    seconds: float = 0.0

    def __add__(self, other: "Counts") -> "Counts":
        values = vars(self)
        return Counts(**{name: values[name] + vars(other)[name] for name in values})

    def figures(self) -> dict[str, float]:
        """Shares in percent, ends in heights, seconds in all."""
        ends = np.array(self.ends or [np.nan])
        return {
            "recall": share(self.covered, self.labels),
            "precision": share(self.right, self.lines),
            "word recall": share(self.matched, self.labels if self.words else 0),
            "word precision": share(self.matched, self.words),
            "ends": float(np.median(ends)),
            "ends 90 %": float(np.percentile(np.abs(ends), 90)),
            "seconds": self.seconds,
        }


def share(part: float, whole: float) -> float:
    """In percent."""
    return 100 * part / whole if whole else float("nan")


def compared(
    lines: Sequence[np.ndarray],
    words: Sequence[np.ndarray] | None,
    labels: Sequence[Label],
    confidences: Sequence[float] = (),
) -> Counts:
    """What was found on one picture beside its labels.

    Args:
        lines: quadrilaterals.
        words: polygons; None if the detector tells none.
        labels: of the picture.
        confidences: of the lines, if the detector tells them.
    """
    judged = [shape(label.polygon) for label in labels if label.is_judged]
    others = [shape(label.polygon) for label in labels if not label.is_judged]
    free = unary_union(others) if others else None
    counts = Counts(labels=len(judged))
    shapes = [shape(line) for line in lines]
    kept = [k for k, line in enumerate(shapes) if not lies_in(line, free)]
    tree = STRtree(judged)
    heights = [min(side_lengths(label.polygon)) for label in labels if label.is_judged]
    holds = np.zeros(len(judged))
    for k in kept:
        own = sorted(tree.query(shapes[k], "intersects").tolist())
        areas = np.array([judged[j].intersection(shapes[k]).area for j in own])
        high = min(side_lengths(lines[k]))
        fits = [j for j in own if high <= HIGHEST * heights[j]]
        for j, area in zip(own, areas, strict=True):
            if j in fits:
                holds[j] += area / max(judged[j].area, 1e-6)
        is_right = bool(areas.sum() >= LABELED * shapes[k].area)
        counts.right += is_right
        if len(confidences):
            counts.sure.append((confidences[k], is_right))
        inside = [
            j
            for j, area in zip(own, areas, strict=True)
            if j in fits and area > INSIDE * judged[j].area
        ]
        counts.ends += ends_of(lines[k], [judged[j] for j in inside])
    counts.lines = len(kept)
    counts.covered = int((holds >= COVERED).sum())
    if words is not None:
        found = [shape(word) for word in words]
        found = [word for word in found if not lies_in(word, free)]
        counts.words = len(found)
        counts.matched = matches(found, judged)
    return counts


def shape(corners: np.ndarray) -> Polygon:
    """A polygon without crossings."""
    polygon = Polygon(corners)
    return polygon if polygon.is_valid else polygon.convex_hull


def lies_in(line: Polygon, free: Any) -> bool:
    """Whether most of a line is in what is not judged."""
    return free is not None and line.intersection(free).area > 0.5 * line.area


def ends_of(line: np.ndarray, words: Sequence[Polygon]) -> list[float]:
    """By how many heights a line is longer than its words, before and behind them."""
    if not words:
        return []
    width, height = side_lengths(line)
    along = line[1] - line[0] if width >= height else line[2] - line[1]
    along = along / max(1e-6, np.linalg.norm(along))
    own = line @ along
    points = np.concatenate([np.array(word.exterior.coords) for word in words]) @ along
    high = max(1.0, min(width, height))
    before, behind = points.min() - own.min(), own.max() - points.max()
    return [float(before / high), float(behind / high)]


def matches(found: Sequence[Polygon], labels: Sequence[Polygon]) -> int:
    """Found words that are labels, one to one, the best overlaps first."""
    tree = STRtree(labels)
    pairs = []
    for k, word in enumerate(found):
        for j in tree.query(word, "intersects").tolist():
            both = word.intersection(labels[j]).area
            overlap = both / max(1e-6, word.area + labels[j].area - both)
            if overlap > OVERLAP:
                pairs.append((overlap, k, j))
    taken: set[tuple[str, int]] = set()
    for _, k, j in sorted(pairs, reverse=True):
        if ("found", k) not in taken and ("label", j) not in taken:
            taken |= {("found", k), ("label", j)}
    return len(taken) // 2


def look(detector: LineDetector, image: Image.Image, labels: Sequence[Label]) -> Counts:
    """What a detector finds on a picture."""
    words: list[np.ndarray] | None = None
    confidences: list[float] = []
    start = time.process_time()
    if isinstance(detector, FinderDetector):
        found = detector.find(image)
        seconds = time.process_time() - start
        lines = [line.quadrilateral for line in found]
        words = [polygon_of(word) for line in found for word in line.words]
        confidences = [line.confidence for line in found]
    else:
        lines = detector.lines(image)
        seconds = time.process_time() - start
    counts = compared(lines, words, labels, confidences)
    counts.seconds = seconds
    return counts


def perfect(record: PictureRecord, scale: float) -> tuple[Counts, float]:
    """What is found of true maps of a drawn picture at another scale, and its million pixels."""
    places = moved_places(record, scale)
    size = [ceil(side * scale / STEP) * STEP for side in record.image.size[::-1]]
    maps = true_maps(places, (size[0], size[1])).maps
    start = time.process_time()
    found = find_lines(maps)
    seconds = time.process_time() - start
    words = [polygon_of(word) for line in found for word in line.words]
    lines = [line.quadrilateral for line in found]
    counts = compared(lines, words, labels_of(places))
    counts.seconds = seconds
    return counts, size[0] * size[1] / 1e6


def moved_places(record: PictureRecord, scale: float) -> Places:
    """What is where on a drawn picture at another scale."""
    return places_of(record).moved(np.diag([scale, scale, 1.0]))


def labels_of(places: Places) -> list[Label]:
    """Words of a drawn picture; those too small to be found, or cut by its edge, are not judged."""
    labels = []
    for strip in places.strips:
        height = np.linalg.norm(strip[0, 1] - strip[0, 0])
        text = "word" if height >= SMALLEST else "###"
        labels.append(Label(polygon_of(strip), text))
    return labels + [Label(corners, "###") for corners in places.unclear]


def print_perfect(folder: Path) -> None:
    """A row for each scale of the pictures of a folder."""
    records = [
        r for path in picture_shards_of(folder) for r in read_picture_shard(path)
    ]
    rows = [["scale", "words", "recall", "precision", "ms a million pixels"]]
    for scale in (1.0, 0.75, 0.5):
        pages = [perfect(record, scale) for record in records]
        whole = sum((counts for counts, _ in pages), Counts())
        figures = whole.figures()
        pixels = sum(million for _, million in pages)
        shares = [f"{figures[key]:.1f}" for key in ("word recall", "word precision")]
        rows.append([f"{scale}", f"{whole.labels:,}", *shares])
        rows[-1].append(f"{1e3 * whole.seconds / pixels:.0f}")
    print(f"{folder.name}, true maps of {len(records)} pictures\n")
    print(table(rows), "\n")


def drawn_pictures(folder: Path) -> Iterator[tuple[Image.Image, list[Label]]]:
    """Drawn pictures and their words."""
    for path in picture_shards_of(folder):
        for record in read_picture_shard(path):
            yield record.image.convert("RGB"), labels_of(moved_places(record, 1.0))


def labelled_pictures(
    folder: Path, every: int
) -> Iterator[tuple[Image.Image, list[Label]]]:
    """Pictures of a folder and their labels."""
    for path, label_file in labeled_pictures(folder)[::every]:
        yield load_image(path), read_labels(label_file)


def confidence_table(sure: Sequence[tuple[float, bool]], parts: int = 10) -> str:
    """Confidence beside the share of lines that are right, and how far off it is in the mean."""
    ordered = np.array(sorted(sure), float).reshape(-1, 2)
    rows = [["lines", "confidence", "right, %"]]
    off = 0.0
    for part in np.array_split(ordered, min(parts, len(ordered))):
        told, right = part.mean(0)
        off += len(part) * abs(told - right) / len(ordered)
        rows.append([f"{len(part):,}", f"{told:.3f}", f"{100 * right:.1f}"])
    return f"{table(rows)}\n\noff by {100 * off:.1f} points in the mean"


def compare(
    name: str,
    pictures: Iterable[tuple[Image.Image, list[Label]]],
    detectors: Mapping[str, LineDetector],
) -> dict[str, Any]:
    """Let detectors look at pictures in turns, print a table, and return its figures."""
    pages: dict[str, list[Counts]] = {each: [] for each in detectors}
    for image, labels in tqdm(pictures, desc=name, leave=False):
        for each, detector in detectors.items():
            pages[each].append(look(detector, image, labels))
    head = ["detector", "recall", "precision", "words: recall", "precision"]
    head += ["ends, heights", "90 %", "CPU s a picture"]
    count = len(next(iter(pages.values())))
    print(f"{name}, {count} pictures\n")
    print(table([head, *(row(each, pages[each]) for each in detectors)]), "\n")
    results = {}
    for each, own in pages.items():
        whole = sum(own, Counts())
        results[each] = {"pictures": len(own), **whole.figures()}
        if whole.sure:
            print(f"confidence of {each}\n\n{confidence_table(whole.sure)}\n")
    return results


def interval(pages: Sequence[Counts], figure: Callable[[Counts], float]) -> list[float]:
    """95 % interval of a figure over pictures."""
    values = []
    for chosen in resamples(len(pages)):
        whole = sum((pages[k] for k in chosen.tolist()), Counts())
        values.append(figure(whole))
    return list(percentile_interval(np.array(values)))


def row(name: str, pages: Sequence[Counts]) -> list[str]:
    """The figures of a detector on one folder."""
    figures = sum(pages, Counts()).figures()
    cells = [name]
    for key in ("recall", "precision", "word recall", "word precision"):
        plain = [Counts(**{**vars(page), "ends": [], "sure": []}) for page in pages]
        low, high = interval(plain, lambda counts, key=key: counts.figures()[key])
        known = not np.isnan(figures[key])
        cells.append(f"{figures[key]:.1f} [{low:.1f}, {high:.1f}]" if known else "–")
    cells += [f"{figures['ends']:+.2f}", f"{figures['ends 90 %']:.2f}"]
    return [*cells, f"{figures['seconds'] / len(pages):.2f}"]


def main() -> None:
    """Compare detectors, or say in one line why that cannot be."""
    try:
        compare_all(parsed_options())
    except (OSError, ValueError) as error:
        raise SystemExit(f"finding.py: {error}") from None


def parsed_options() -> argparse.Namespace:
    """What the command line asks for."""
    parser = described_parser(__doc__)
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER")
    parser.add_argument(
        "--drawn",
        type=Path,
        metavar="FOLDER",
        help="of vit-str render --pages N --find",
    )
    parser.add_argument(
        "--detectors",
        nargs="+",
        default=["rapidocr"],
        metavar="NAME|FILE",
        help="as of vit-str read --page --detector: rapidocr, or files",
    )
    parser.add_argument("--every", type=int, default=1, help="picture (1)")
    add_json(parser)
    return parser.parse_args()


def compare_all(options: argparse.Namespace) -> None:
    """Compare detectors and print a table for each folder."""
    pin()
    print_machine()
    detectors = {name: open_detector(name) for name in options.detectors}
    results: dict[str, Any] = {}
    if options.drawn:
        print_perfect(options.drawn)
        pictures = drawn_pictures(options.drawn)
        results[options.drawn.name] = compare(options.drawn.name, pictures, detectors)
    for folder in options.folders:
        pictures = labelled_pictures(folder, options.every)
        results[folder.name] = compare(folder.name, pictures, detectors)
    write_json(options.json, results)


if __name__ == "__main__":
    main()
