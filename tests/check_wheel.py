"""What a wheel holds: python tests/check_wheel.py dist/*.whl"""

import sys
import zipfile
from pathlib import Path

_LARGEST = 75_000_000  # bytes; package indexes take 100 million
_NEEDED = (
    "vit_str/py.typed",
    "vit_str/bundled/tiny.safetensors",
    "vit_str/bundled/base.safetensors",
    "vit_str/bundled/line.safetensors",
    "vit_str/bundled/arranger.onnx",
    "vit_str/bundled/finder.onnx",
    "vit_str/bundled/cyrillic-greek.safetensors",
    "vit_str/bundled/cyrillic-greek-line.safetensors",
    "vit_str/bundled/korean.safetensors",
    "vit_str/bundled/korean-line.safetensors",
    "vit_str/decoding/words.safetensors",
    "vit_str/synthesis/texts/korean.yaml",
    "vit_str/web/index.html",
    "vit_str/ocrmypdf.py",
)


def problems(path: Path) -> list[str]:
    """One line for everything that is wrong with a wheel."""
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
    found = [f"{name} is missing" for name in _NEEDED if name not in names]
    found += [
        f"{name} is missing beside the metadata"
        for name in ("LICENSE", "NOTICE")
        if not any(each.endswith(f".dist-info/licenses/{name}") for each in names)
    ]
    found += [
        f"{name} does not belong there"
        for name in names
        if not name.startswith("vit_str")
        or "/test_" in name.replace("/test_time_", "/")
        or name.endswith((".pyc", ".md"))
    ]
    if path.stat().st_size > _LARGEST:
        found.append(f"{path.stat().st_size:,} bytes, more than {_LARGEST:,}")
    return found


if __name__ == "__main__":
    complaints = [
        f"{path}: {each}" for path in sys.argv[1:] for each in problems(Path(path))
    ]
    sys.exit("\n".join(complaints) or None)
