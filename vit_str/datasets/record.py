"""What a data set was made with: a small JSON file that a later run is compared to."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from vit_str.files import write_atomically

_FORMAT = "vit-str render"


def begin_or_resume(
    path: Path, made_with: Mapping[str, Any], count: int, made_by: str
) -> dict[str, tuple[Any, Any]]:
    """Write down how the words of a data set are made, or compare it with what is written.

    Args:
        path: of the JSON file.
        made_with: everything that decides which words it holds and how they look, plain values.
        count: how many words it shall have.
        made_by: the program.

    Returns:
        What differs: name -> values in the file and here, as JSON has them. Then nothing is
        written.

    Raises:
        ValueError: the file is something else.
    """
    values = {"format": _FORMAT, "made_by": made_by, "count": count, "made_with": dict(made_with)}
    text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
    found = differences(path, made_with) if path.exists() else {}
    if not found and not (path.exists() and _load(path)[1] == count):
        with write_atomically(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return found


def differences(
    path: Path, made_with: Mapping[str, Any], ignored: Collection[str] = ()
) -> dict[str, tuple[Any, Any]]:
    """What differs from a record: name -> values in the file and here, as JSON has them.

    Args:
        path: of the JSON file.
        made_with: see `begin_or_resume`.
        ignored: names that are not compared.

    Raises:
        ValueError: the file is something else.
    """
    old, _ = _load(path)
    new = json.loads(json.dumps(dict(made_with)))
    pairs = {name: (old.get(name), new.get(name)) for name in {**old, **new}}
    return {
        name: pair for name, pair in pairs.items() if pair[0] != pair[1] and name not in ignored
    }


def shown(value: object) -> str:
    """A value of what a data set is made with, for a message."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, dict):
        return ",".join(f"{name}={strength:g}" for name, strength in value.items()) or "all at 1"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return "none" if value is None else text if len(text) < 80 else f"{text[:77]}..."


def _load(path: Path) -> tuple[dict[str, Any], int]:
    """What was made with, and the count."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values["format"] != _FORMAT:
            raise ValueError
        return dict(values["made_with"]), values["count"]
    except (ValueError, TypeError, KeyError):
        raise ValueError(
            f"{path} does not describe a data set of vit-str; write elsewhere"
        ) from None
