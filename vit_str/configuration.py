"""Configurations in YAML: what they say, over the recipe that they name."""

import os
import re
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from vit_str.console import one_line, reason_of
from vit_str.files import read_text

Settings = dict[str, Any]

IMPORTS = "VIT_STR_IMPORTS"
"""Environment variable: further packages whose classes configurations may name, with commas."""
_PACKAGES = ("vit_str", "lightning", "torch")
_SUFFIXES = (".yaml", ".yml", ".json")
_CLASS = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\.[A-Z]\w*")


def load(path: Path | str) -> Settings:
    """All that a configuration says, over what its ``recipe`` says, as ``vit-str train`` takes it.

    Raises:
        OSError: a file that cannot be read, the recipe among them.
        ValueError: a file that is no configuration; one line that names it.
    """
    merged: Settings = {}
    for file in files(path):
        merged = merge(merged, _read(file))
    return merged


def files(path: Path | str) -> list[Path]:
    """The files that a configuration is made of, each over those before it: its recipe, itself."""
    path = Path(path)
    recipe = _read(path).get("recipe")
    if not isinstance(recipe, str):
        return [path]
    below = path.parent / recipe
    if below.exists() and below.samefile(path):
        raise ValueError(
            f"configuration {one_line(str(path))}: names itself as its recipe"
        )
    return [below, path]


def merge(below: Settings, above: Settings) -> Settings:
    """Settings over others, section by section and part by part.

    Lists, and arguments that are mappings such as shares by name, are replaced as a whole;
    ``name+`` adds to the list ``name``. A part of another class than below keeps those of the
    arguments that its class takes too.
    """
    merged = dict(below)
    for name, value in above.items():
        old = merged.get(name)
        if name.endswith("+"):
            added = value if isinstance(value, list) else [value]
            merged[name[:-1]] = [*(merged.get(name[:-1]) or []), *added]
        elif name == "init_args" and isinstance(value, dict):
            merged[name] = _merge_arguments(old or {}, value)
        elif isinstance(old, dict) and isinstance(value, dict):
            merged[name] = merge(_fitting(old, value.get("class_path")), value)
        else:
            merged[name] = value
    return merged


def _merge_arguments(below: Settings, above: Settings) -> Settings:
    merged = below | above
    for name, old in below.items():
        is_part = isinstance(old, dict) and "class_path" in old
        if is_part and name in above:
            merged |= merge({name: old}, {name: above[name]})
    return merged


def _read(path: Path) -> Settings:
    import yaml  # not part of the base installation

    try:
        settings = yaml.safe_load(read_text(path)) or {}
    except UnicodeDecodeError:
        reason = "not UTF-8 text; save it as UTF-8"
    except yaml.YAMLError as error:
        reason = f"not YAML ({reason_of(error)})"
    else:
        if isinstance(settings, dict):
            _check_classes(settings, path)
            return settings
        reason = f"expected settings by name, as in configs/, found {one_line(repr(settings))}"
    raise ValueError(f"configuration {one_line(str(path))}: {reason}")


def _check_classes(value: Any, path: Path, name: str = "") -> None:
    """Refuse classes of other packages, whose import would run what a file from elsewhere names."""
    if isinstance(value, dict):
        for key, below in value.items():
            _check_classes(below, path, key)
    elif isinstance(value, list):
        for below in value:
            _check_classes(below, path)
    elif isinstance(value, str) and value.lower().endswith(_SUFFIXES):
        for folder in dict.fromkeys((path.parent, Path())):
            part = folder / value  # a part may be in a file of its own
            if part.is_file() and not part.samefile(path):
                _read(part)
    elif isinstance(value, str) and (name == "class_path" or _CLASS.fullmatch(value)):
        package, dot, _ = value.partition(".")
        asked = os.environ.get(IMPORTS, "").split(",")
        if dot and package not in (*_PACKAGES, *map(str.strip, asked)):
            raise ValueError(
                f"configuration {one_line(str(path))}: names {one_line(value)}; only classes of "
                f"{', '.join(_PACKAGES)} are imported; if you trust it, set {IMPORTS}={package}"
            )


def _fitting(part: Settings, class_path: Any) -> Settings:
    """A part with those arguments that another class takes too."""
    if class_path in (None, part.get("class_path")) or "init_args" not in part:
        return part
    try:
        module, _, name = class_path.rpartition(".")
        parameters = signature(getattr(import_module(module), name)).parameters.values()
    # Whoever builds it says what is wrong
    except (ImportError, AttributeError, ValueError):
        return part
    if any(each.kind is Parameter.VAR_KEYWORD for each in parameters):
        return part
    names = {each.name for each in parameters}
    kept = {name: value for name, value in part["init_args"].items() if name in names}
    return part | {"init_args": kept}
