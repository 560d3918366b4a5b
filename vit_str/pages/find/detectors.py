"""Opens detectors of lines by their names."""

from pathlib import Path
from typing import TYPE_CHECKING

from vit_str.console import reason_of
from vit_str.engines.weights_contents import BUNDLED
from vit_str.machine import install_hint
from vit_str.pages.find.detection import LineDetector, RapidDetector, detector_file

if TYPE_CHECKING:
    from vit_str.pages.find.own_detector import FinderDetector

AUTO, RAPIDOCR, OURS = "auto", "rapidocr", "ours"
"""Names: both, each for its kind of pictures; the network of that package; that of this one."""


def open_detector(name: str = AUTO) -> LineDetector:
    """A detector of lines.

    Args:
        name: ``auto``, which takes ``ours`` for print and, where it is installed, ``rapidocr`` for
            photographs; ``ours`` or ``rapidocr`` for all pictures; or a file of a network that
            ``vit-str export`` wrote.

    Raises:
        ValueError: it is not installed, there is no such file, or it is another one.
    """
    if name == RAPIDOCR:
        return RapidDetector()
    finder = _open_finder(name)
    if name != AUTO:
        return finder
    from vit_str.pages.find.by_kind import DetectorByKind

    return DetectorByKind(finder, RapidDetector if detector_file() else None)


def _open_finder(name: str) -> "FinderDetector":
    path = finder_path(name)
    try:
        from vit_str.pages.find.own_detector import FinderDetector
    except ImportError as error:
        raise ValueError(
            f"finding text in pages needs OpenCV ({reason_of(error)}), run: "
            f"{install_hint('page')}"
        ) from None
    return FinderDetector(path)


def finder_path(name: str) -> Path:
    """The file of a network of ours: by its name, or that of the package.

    Raises:
        ValueError: there is none.
    """
    path = BUNDLED / "finder.onnx" if name in (OURS, AUTO) else Path(name)
    if not path.is_file():
        raise ValueError(
            f"--detector {name}: no such file; give {AUTO}, {OURS}, {RAPIDOCR}, or the file of "
            "a network that you trained with configs/find.yaml"
        )
    return path
