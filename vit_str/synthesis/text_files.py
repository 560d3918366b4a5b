"""The files of `texts/`: how things are written, in YAML, for whoever knows a language."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).with_name("texts")


@cache
def contents(name: str) -> Mapping[str, Any]:
    """Contents of a file of `texts/`, such as ``korean``."""
    import yaml  # slow

    text = (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    data: Mapping[str, Any] = yaml.safe_load(text)
    return data


def entries_of(text: str, space: str = "|") -> list[str]:
    """Entries between white space, with spaces in place of ``space`` within them."""
    return [entry.replace(space, " ") for entry in text.split()]


def lines_of(text: str) -> list[str]:
    """Lines that are not empty; tabs in them stay."""
    return [line for line in text.split("\n") if line.strip(" ")]
