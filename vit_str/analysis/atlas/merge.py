"""Atlases of several people on one page: ``vit-str analyze atlas merge ATLAS... --out DIR``."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vit_str.analysis.atlas.measure import FORMAT, VERSION, Record

_OF_MODEL = ("model", "architecture", "parameters", "trained", "image_size", "data")


def merged(names: Sequence[str]) -> dict[str, Any]:
    """The union of some atlases, each a file or the folder that has ``atlas.json``.

    A model that several have is there once if its weights, settings and images are the same; else
    each has the name of its atlas as ``source``.

    Raises:
        ValueError: fewer than two atlases, or a file that is not one of a version that is known.
    """
    if len(names) < 2:
        raise ValueError(
            "merge takes two atlases or more: files atlas.json, or their folders"
        )
    models: dict[tuple[str, str], Record] = {}
    refused: dict[str, str] = {}
    sources = []
    for path in map(_file, names):
        atlas = read_atlas(path)
        source = path.parent.name or path.stem
        sources.append({"source": source, "settings": atlas.get("settings")})
        for record in atlas["models"]:
            models.setdefault(_identity(record), {"source": source, **record})
        refused |= atlas["refused"]
    measured = {record["model"] for record in models.values()}
    return {
        "format": FORMAT,
        "version": VERSION,
        "merged": sources,
        "models": list(models.values()),
        "refused": {
            name: reason for name, reason in refused.items() if name not in measured
        },
    }


def read_atlas(path: Path) -> dict[str, Any]:
    """An atlas as it is in its file.

    Raises:
        ValueError: no such file, not an atlas, or of a later version.
    """
    try:
        atlas = json.loads(path.read_text(encoding="utf-8"))
        version = atlas.get("version", 1)  # the first had none
        if version != VERSION or atlas.get("format", FORMAT) != FORMAT:
            raise ValueError(
                f"{path}: an atlas of version {version}, this vit-str reads {VERSION}"
            )
        _check(atlas)
        return dict(atlas)
    except FileNotFoundError:
        raise ValueError(
            f"{path}: no such file; give what vit-str analyze atlas writes"
        ) from None
    except json.JSONDecodeError:
        raise ValueError(f"{path} is not an atlas: not JSON") from None
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is not an atlas: {error} is missing") from None


def is_merged(path: Path) -> bool:
    """Whether a file is an atlas that was put together from others."""
    try:
        return "merged" in read_atlas(path)
    except ValueError:  # none yet, or damaged: whoever reads it says so
        return False


def _check(atlas: dict[str, Any]) -> None:
    """Ask for what the page shows; see docs/atlas.schema.json for all that there is."""
    dict(atlas["refused"])
    for record in atlas["models"]:
        _ = [record[name] for name in (*_OF_MODEL, "versions")]
        for layer in record["layers"]:
            _ = [layer[name] for name in ("layer", "rows", "columns", "windows")]
            _ = [float(line["distance"]) for line in layer["chance"].values()]
            distance = layer["metrics"]["distance"]
            _ = [float(distance[end]) for end in ("mean", "low", "high")]
            _ = [float(head["mean"]) for head in distance["heads"]]


def _identity(record: Record) -> tuple[str, str]:
    """The key by which two records are the same measurement."""
    settings = dict(record.get("settings") or {})
    if "images" in settings:  # what they are, wherever the folder was
        del settings["data"]
    same = [record.get("weights"), record["image_size"], settings]
    return record["model"], json.dumps(same, sort_keys=True)


def _file(name: str) -> Path:
    path = Path(name)
    return path / "atlas.json" if path.is_dir() else path
