"""From a configuration to arguments: recipes, durations, folders, charsets."""

import json
import re
from collections.abc import Collection, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch

from vit_str import configuration
from vit_str.engines.weights_contents import resolve
from vit_str.models import describe
from vit_str.torch_runtime.devices import choose_device, fastest_dtype
from vit_str.torch_runtime.weights_file import load_weights
from vit_str.training.checkpoints import CannotStart

_PATH_ARGUMENTS = ("dirpath", "path", "folder", "save_dir")
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_DURATION = re.compile(r"\d+:\d\d:\d\d:\d\d|(\d+[dhms]\s*)+")


def duration(text: str) -> str:
    """``3h`` or ``1d 90m`` in the form of Lightning, days:hours:minutes:seconds.

    Raises:
        ValueError: for another form, or more time than can be counted.
    """
    if not _DURATION.fullmatch(text.strip()):
        raise ValueError(
            f"expected --trainer.max_time as in 3h, 90m or 1d 12h, or as "
            f"days:hours:minutes:seconds, found {text!r}"
        )
    if ":" in text:
        parts = list(zip(text.strip().split(":"), _UNITS, strict=True))
    else:
        parts = re.findall(r"(\d+)(\w)", text)
    given = {_UNITS[unit]: int(count) for count, unit in parts}
    try:
        time = timedelta(**given)
    except OverflowError:
        raise ValueError(
            f"--trainer.max_time {text} is longer than time is counted; without an end it is null"
        ) from None
    minutes, seconds = divmod(time.seconds, 60)
    return f"{time.days:02}:{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"


def emulates_bfloat16(trainer: Any) -> bool:
    """Whether the configuration asks a CPU for bfloat16 that would be slower than float32."""
    if trainer.precision != "bf16-mixed":
        return False
    accelerator = trainer.accelerator
    if accelerator == "auto":
        accelerator = choose_device().type
    return accelerator == "cpu" and fastest_dtype(torch.device("cpu")) == torch.float32


def move(trainer: Any, folder: Path) -> None:
    """Put everything that is kept into a folder."""
    logger = trainer.logger
    loggers = logger if isinstance(logger, list) else [logger]
    for part in [*(trainer.callbacks or []), *loggers]:
        given = getattr(part, "init_args", None) or {}
        for name in _PATH_ARGUMENTS:
            if given.get(name):
                given[name] = type(given[name])(folder / given[name])


def completed(arguments: Sequence[str]) -> list[str]:
    """The arguments, each configuration behind the recipe that it names.

    Where none says what the model is, it is that of the weights to start from (``--init``).
    """
    expanded: list[str] = []
    settings: configuration.Settings = {}
    for index, argument in enumerate(arguments):
        option, equals, value = argument.partition("=")
        value = value if equals else "".join(arguments[index + 1 : index + 2])
        if option in ("-c", "--config"):
            recipes, given = _read(Path(value))
            expanded += [f"--config={recipe}" for recipe in recipes]
            settings = configuration.merge(settings, given)
        elif option == "--init":
            settings["init"] = value
        elif option.startswith("--model.recognizer"):
            settings["model"] = {"recognizer": value}
        expanded.append(argument)
    model = settings.get("model")
    has_recognizer = isinstance(model, dict) and "recognizer" in model
    if settings.get("init") and not has_recognizer:
        return [f"--model.recognizer={_model_of(settings['init'])}", *expanded]
    return expanded


def network_of(arguments: Sequence[str], kinds: Collection[str]) -> str | None:
    """Which kind of network a configuration, or an option, is of; None for a recognizer."""
    for index, argument in enumerate(arguments):
        option, equals, value = argument.partition("=")
        value = value if equals else "".join(arguments[index + 1 : index + 2])
        for kind in kinds:
            if option.startswith(f"--model.{kind}"):
                return kind
        if option in ("-c", "--config"):
            _, settings = _read(Path(value))
            for kind in kinds:
                if kind in (settings.get("model") or {}):
                    return kind
    return None


def _read(path: Path) -> tuple[list[Path], configuration.Settings]:
    """The recipes of a configuration and all that it says; of a missing file the parser tells."""
    recipes: list[Path] = []
    try:
        *recipes, _ = configuration.files(path)
        return recipes, configuration.load(path)
    except ValueError as error:
        raise CannotStart(str(error)) from None
    except OSError:
        return recipes, {}


def _model_of(source: str) -> str:
    """The model of a weights file, as a configuration has it."""
    try:
        parts = describe(load_weights(resolve(source)).recognizer)
    except ValueError as error:
        raise CannotStart(str(error)) from None
    arguments = {name: _configured(part) for name, part in parts.items()}
    return json.dumps(
        {"class_path": "vit_str.models.Recognizer", "init_args": arguments}
    )


def _configured(value: Any) -> Any:
    """A part of a description and those within it, with their class paths."""
    if not (isinstance(value, dict) and {*value} == {"class", "arguments"}):
        return value
    arguments = {name: _configured(part) for name, part in value["arguments"].items()}
    return {"class_path": f"vit_str.models.{value['class']}", "init_args": arguments}
