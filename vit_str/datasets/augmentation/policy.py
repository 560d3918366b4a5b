"""Policies of augmentation: pipelines as albumentations saves them, checked before use."""

import os
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from vit_str.datasets.augmentation.allowed import ALLOWED, GROUPS, MOVING, why_refused

POLICIES = ("none", "light", "strong")
"""Names of the policies that come with the package."""

Step = Mapping[str, Any]
"""A transform as `albumentations.to_dict` gives it."""

_CLASS = "__class_fullname__"


@cache
def library() -> Any:
    """The module albumentations.

    It does not look for a newer release of itself over the network, and the library below it works
    in the thread that calls it: a loader has a process for every core already.

    Raises:
        ValueError: it is not installed.
    """
    os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # read once, when it is imported
    try:
        found = import_module("albumentations")
        import_module("cv2").setNumThreads(1)
    except ImportError as error:
        raise ValueError(
            f"needs albumentations ({error}): pip install 'vit-str[train]', or use none"
        ) from None
    return found


def load_policy(policy: str | Path) -> tuple[Step, ...]:
    """Read and check a policy: what is done to every picture, in order.

    Args:
        policy: one of ``POLICIES``, or the path of a YAML file as ``albumentations.save`` writes
            it: a ``Compose`` of the transforms. Arguments that are left out have the defaults of
            the library.

    Raises:
        ValueError: there is no such policy, or it is no pipeline, or it can make labels wrong.
    """
    try:
        return _steps(_parsed(str(policy)))
    except ValueError as error:
        raise ValueError(f"augmentation policy {policy}: {error}") from None


def split(steps: Sequence[Step]) -> tuple[Sequence[Step], Sequence[Step]]:
    """Steps up to the last that moves pixels, and those that change only how they look."""
    last = max((number for number, step in enumerate(steps, 1) if _moves(step)), default=0)
    return steps[:last], steps[last:]


def build(step: Step) -> Any:
    """The transform of the library.

    Raises:
        ValueError: an argument or a value that the transform does not take.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # of arguments that do not exist
        try:
            return library().from_dict({"transform": _complete(step)})
        except Exception as error:  # whatever it makes of wrong values
            raise ValueError(f"{step[_CLASS]}: {_one_line(error)}") from None


def _parsed(name: str) -> Any:
    import yaml

    path = Path(name)
    if name in POLICIES:
        path = Path(str(files("vit_str.datasets") / "policies" / f"{name}.yaml"))
    if not path.is_file():
        raise ValueError(f"no such file; give one of {', '.join(POLICIES)} or a YAML file")
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot be read as UTF-8 ({error})") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"is not YAML: {' '.join(str(error).split())}") from None


def _steps(values: Any) -> tuple[Step, ...]:
    """The transforms of a saved pipeline."""
    pipeline = values.get("transform") if isinstance(values, dict) else None
    if not isinstance(pipeline, dict) or pipeline.get(_CLASS) != "Compose":
        raise ValueError(
            "expected what albumentations.save writes: transform, with __class_fullname__ Compose "
            f"and transforms, found {_shortened(values)}"
        )
    if pipeline.get("p", 1) != 1:
        raise ValueError("p of the whole pipeline must be 1; give each transform its own")
    return () if pipeline.get("transforms") == [] else _checked(pipeline)


def _checked(group: Step) -> tuple[Step, ...]:
    """The steps of a group, all of them allowed."""
    steps = group.get("transforms")
    if not isinstance(steps, list) or not steps:
        raise ValueError(
            f"{group[_CLASS]} needs a list named transforms, found {_shortened(steps)}"
        )
    before: Step = {}
    for step in steps:
        name = step.get(_CLASS) if isinstance(step, dict) else None
        if not isinstance(name, str):
            raise ValueError(f"expected a transform with its {_CLASS}, found {_shortened(step)}")
        if name in GROUPS:
            _checked(step)
            build(step)
        else:
            _check(name, step, before)
        before = step
    return tuple(steps)


def _check(name: str, step: Step, before: Step) -> None:
    """Refuse a transform that can make labels wrong; all its arguments are looked at."""
    if name not in ALLOWED:
        if hasattr(library(), name):
            raise ValueError(f"{name} {why_refused(name)}; use another transform")
        raise ValueError(f"no transform {name!r}; use {', '.join([*GROUPS, *ALLOWED])}")
    allowed, arguments = ALLOWED[name], library().to_dict(build(step))["transform"]
    violations = {
        **{
            key: f"must be {value!r}, so that labels stay true"
            for key, value in allowed.fixed.items()
            if arguments[key] != value
        },
        **{key: limit.violation(arguments[key]) for key, limit in allowed.limits.items()},
    }
    for key, violation in violations.items():
        if violation:
            given = "found" if key in step else "and is by default"
            raise ValueError(f"{key} of {name} {violation}, {given} {_shortened(arguments[key])}")
    if allowed.padded and not (before.get(_CLASS) == "Pad" and before.get("p") == 1):
        raise ValueError(f"{name} needs a Pad with p 1 right before it, in a Sequential")


def _complete(step: Step) -> dict[str, Any]:
    """With a probability, and ranges as tuples: of lists the library makes fractions."""
    values = {key: _tuples(value) for key, value in step.items() if key != "transforms"}
    if "transforms" in step:
        values["transforms"] = [_complete(each) for each in step["transforms"]]
    return {"p": 0.5, **values}


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _moves(step: Step) -> bool:
    return step[_CLASS] in MOVING or any(map(_moves, step.get("transforms", ())))


def _one_line(error: Exception) -> str:
    """What a checker of many lines has against the first value that it does not like."""
    reasons = getattr(error.__cause__, "errors", None)
    if reasons is None:
        return " ".join(str(error).split())
    first = reasons()[0]
    name = next((str(part) for part in first["loc"]), "")
    return f"{name}: {first['msg']}, found {_shortened(first['input'])}"


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
