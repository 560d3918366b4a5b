"""Policies of augmentation: YAML files of transforms, checked before the first picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from vit_str.datasets.augmentation.allowed import ALLOWED, GROUPS, MOVING, why_refused
from vit_str.datasets.augmentation.library import library

POLICIES = ("none", "light", "strong")
"""Names of the policies that come with the package."""


@dataclass(frozen=True, slots=True)
class Step:
    """One transform of a policy, or a group of them.

    Attributes:
        name: its class in albumentations.
        arguments: of the class, those that are fixed included; without ``transforms``.
        steps: what a group holds.
    """

    name: str
    arguments: Mapping[str, Any]
    steps: tuple["Step", ...] = ()

    @property
    def moves(self) -> bool:
        """Whether pixels get to other places."""
        return self.name in MOVING or any(step.moves for step in self.steps)


@dataclass(frozen=True, slots=True)
class Policy:
    """What is done to every picture, in order.

    Attributes:
        name: of the policy, or the path of its file.
        steps: the transforms; each happens with its probability ``p``.
    """

    name: str
    steps: tuple[Step, ...]

    def parts(self) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
        """Steps up to the last that moves pixels, and those that change only how they look."""
        moving = [place for place, step in enumerate(self.steps, 1) if step.moves]
        last = max(moving, default=0)
        return self.steps[:last], self.steps[last:]


def load_policy(policy: str | Path) -> Policy:
    """Read and check a policy.

    Args:
        policy: one of ``POLICIES``, or the path of a YAML file: a list of transforms of
            albumentations, each with its arguments, as in ``vit_str/datasets/policies``.

    Raises:
        ValueError: there is no such policy, or it is not a list of transforms with arguments that
            they have, or it can make labels wrong.
    """
    name = str(policy)
    try:
        return Policy(name, _steps(_parsed(_text(name))))
    except ValueError as error:
        raise ValueError(f"augmentation policy {name}: {error}") from None


def _text(name: str) -> str:
    if name in POLICIES:
        return (files("vit_str.datasets") / "policies" / f"{name}.yaml").read_text("utf-8")
    if not Path(name).is_file():
        raise ValueError(f"no such file; give one of {', '.join(POLICIES)} or a YAML file")
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot be read as UTF-8 ({error})") from None


def _parsed(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"is not YAML: {' '.join(str(error).split())}") from None


def _steps(values: Any) -> tuple[Step, ...]:
    if values is None or values == []:
        return ()
    if not isinstance(values, list):
        raise ValueError(f"expected a list of transforms, found {_shortened(values)}")
    return tuple(_step(value) for value in values)


def _step(value: Any) -> Step:
    """One item of the list: a name, or a name with arguments."""
    if isinstance(value, str):
        value = {value: None}
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError(
            f"expected a transform and its arguments such as 'Affine: {{rotate: [-5, 5]}}', "
            f"found {_shortened(value)}"
        )
    ((name, arguments),) = value.items()
    arguments = {} if arguments is None else arguments
    if not isinstance(arguments, dict):
        raise ValueError(f"{name} needs arguments by name, found {_shortened(arguments)}")
    _check_chance(str(name), arguments)
    return _group(name, arguments) if name in GROUPS else _transform(str(name), arguments)


def _check_chance(name: str, arguments: Mapping[str, Any]) -> None:
    chance = arguments.get("p", 0.5)
    if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0 <= chance <= 1:
        raise ValueError(f"p of {name} is a probability from 0 to 1, found {chance!r}")


def _group(name: str, arguments: Mapping[str, Any]) -> Step:
    others = {key: value for key, value in arguments.items() if key != "transforms"}
    unknown = [key for key in others if key not in ("p", *GROUPS[name])]
    if unknown:
        raise ValueError(f"{name} has no argument {unknown[0]!r}; it takes transforms and p")
    steps = _steps(arguments.get("transforms"))
    if not steps:
        raise ValueError(f"{name} needs a list named transforms")
    count = others.get("n", 1)
    if not isinstance(count, int) or not 1 <= count <= len(steps):
        raise ValueError(f"n of {name} must be from 1 to {len(steps)}, found {count!r}")
    return Step(name, others, steps)


def _transform(name: str, arguments: Mapping[str, Any]) -> Step:
    if name not in ALLOWED:
        if hasattr(library(), name):
            raise ValueError(f"{name} {why_refused(name)}; use another transform")
        raise ValueError(f"no transform {name!r}; use {', '.join([*GROUPS, *ALLOWED])}")
    allowed, defaults = ALLOWED[name], _defaults(name)
    _check_names(name, arguments, tuple(defaults))
    for key, value in allowed.fixed.items():
        if arguments.get(key, value) != value:
            raise ValueError(
                f"{key} of {name} is always {value!r}, so that labels stay true; leave it out"
            )
    for key, limit in allowed.limits.items():
        value = arguments.get(key, defaults[key])
        trouble = limit.trouble(value)
        if trouble:
            given = "found" if key in arguments else "and is by default"
            raise ValueError(f"{key} of {name} {trouble}, {given} {_shortened(value)}")
    step = Step(name, _tuples({**arguments, **allowed.fixed}))
    build(step)
    return step


def _check_names(name: str, arguments: Mapping[str, Any], known: Sequence[str]) -> None:
    """The library would only warn about a name that it does not know."""
    unknown = [key for key in arguments if key not in known]
    if unknown:
        raise ValueError(f"{name} has no argument {unknown[0]!r}; it takes {', '.join(known)}")


@cache
def _defaults(name: str) -> dict[str, Any]:
    """Arguments of a transform and what they are if not given."""
    parameters = signature(getattr(library(), name).__init__).parameters
    return {
        key: parameter.default
        for key, parameter in parameters.items()
        if parameter.default is not Parameter.empty
    }


def build(step: Step) -> Any:
    """The transform of the library.

    Raises:
        ValueError: a value is not one that the transform takes.
    """
    found = library()
    if step.steps:
        return getattr(found, step.name)([build(each) for each in step.steps], **step.arguments)
    arguments = dict(step.arguments)
    try:
        if not ALLOWED[step.name].padded:
            return getattr(found, step.name)(**arguments)
        chance = arguments.pop("p", 0.5)
        transform = getattr(found, step.name)(**arguments, p=1)
        around = {name: arguments[name] for name in ("border_mode", "fill") if name in arguments}
        border = found.Pad(padding=_MARGIN, **around, p=1)
        return found.Sequential([border, transform], p=chance)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{step.name}: {_one_line(error)}") from None


_MARGIN = 8
"""Pixels around a picture 64 high: farther than an allowed elastic transform moves anything."""


def _one_line(error: Exception) -> str:
    """What a checker of many lines has against the first value that it does not like."""
    reasons = getattr(error.__cause__, "errors", None)
    if reasons is None:
        return " ".join(str(error).split())
    first = reasons()[0]
    name = next((str(part) for part in first["loc"]), "")
    return f"{name}: {first['msg']}, found {_shortened(first['input'])}"


def _tuples(value: Any) -> Any:
    """Lists of YAML as the tuples that the library asks for."""
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
