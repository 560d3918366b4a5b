"""What the command makes of a configuration: recipes, durations, folders, charsets."""

import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import yaml

from vit_str.devices import choose_device, fastest_dtype
from vit_str.files import one_line
from vit_str.training.checkpoints import CannotStart

_PATH_ARGUMENTS = ("dirpath", "path", "folder", "save_dir")
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_DURATION = re.compile(r"\d+:\d\d:\d\d:\d\d|(\d+[dhms]\s*)+")


def duration(text: str) -> str:
    """``3h`` or ``1d 90m`` in the form of Lightning, days:hours:minutes:seconds.

    Raises:
        ValueError: it is neither.
    """
    if not _DURATION.fullmatch(text.strip()):
        raise ValueError(
            f"expected --trainer.max_time as in 3h, 90m or 1d 12h, or as "
            f"days:hours:minutes:seconds, found {text!r}"
        )
    if ":" in text:
        return text
    time = timedelta(**{_UNITS[unit]: int(count) for count, unit in re.findall(r"(\d+)(\w)", text)})
    minutes, seconds = divmod(time.seconds, 60)
    return f"{time.days:02}:{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"


def emulates_bfloat16(trainer: Any) -> bool:
    """Whether the configuration asks a CPU for bfloat16 that would be slower than float32."""
    on_cpu = trainer.accelerator == "cpu" or (
        trainer.accelerator == "auto" and choose_device().type == "cpu"
    )
    cpu = torch.device("cpu")
    return trainer.precision == "bf16-mixed" and on_cpu and fastest_dtype(cpu) == torch.float32


def move(trainer: Any, folder: Path) -> None:
    """Put everything that is kept into a folder."""
    logger = trainer.logger
    loggers = logger if isinstance(logger, list) else [logger]
    for part in [*(trainer.callbacks or []), *loggers]:
        given = getattr(part, "init_args", None) or {}
        for name in _PATH_ARGUMENTS:
            if given.get(name):
                given[name] = type(given[name])(folder / given[name])


def with_recipes(arguments: Sequence[str]) -> list[str]:
    """The arguments, each configuration behind the recipe that it names."""
    expanded: list[str] = []
    for index, argument in enumerate(arguments):
        option, equals, value = argument.partition("=")
        if option in ("-c", "--config"):
            recipe = _recipe(Path(value if equals else "".join(arguments[index + 1 : index + 2])))
            if recipe:
                _recipe(recipe)
                expanded.append(f"--config={recipe}")
        expanded.append(argument)
    return expanded


def _recipe(path: Path) -> Path | None:
    """The recipe that a configuration names.

    Raises:
        CannotStart: the configuration is not UTF-8.
    """
    try:
        given = yaml.safe_load(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        reason = f"configuration {one_line(str(path))}: not UTF-8 text; save it as UTF-8"
        raise CannotStart(reason) from None
    except (OSError, yaml.YAMLError):
        return None  # the parser says what is wrong
    recipe = given.get("recipe") if isinstance(given, dict) else None
    return path.parent / recipe if isinstance(recipe, str) else None
