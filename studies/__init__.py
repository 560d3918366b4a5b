"""The claims of the posts as experiments, one module each: ``python -m studies list``."""

from importlib import import_module
from types import ModuleType

from studies.study import Findings, Settings, Study, Table, Verdict

NAMES = (
    "rnn-gradient",
    "relu-rnn",
    "tanh-blur",
    "gates",
    "bidirectional",
    "bottleneck",
    "recency",
    "alignment",
    "path-length",
    "conv-far",
    "parallel",
    "scaling",
    "projections",
    "heads",
    "order",
    "sinusoid",
    "residual-norm",
    "worked-example",
    "cross-attention",
    "patches",
    "filters",
    "distance",
    "first-layer",
    "data-hunger",
    "translation",
)
"""Every study, in the order of the page; its module has underscores instead of dashes."""

__all__ = [
    "NAMES",
    "Findings",
    "Settings",
    "Study",
    "Table",
    "Verdict",
    "describe",
    "load_study",
]


def load_study(name: str) -> ModuleType:
    """The module of a study, which has ``STUDY`` and ``run``."""
    if name not in NAMES:
        raise ValueError(f"no study {name!r}; known are {', '.join(NAMES)}")
    return import_module(f"studies.{name.replace('-', '_')}")


def describe(name: str) -> Study:
    """What a study claims, expects and does."""
    study: Study = load_study(name).STUDY
    return study
