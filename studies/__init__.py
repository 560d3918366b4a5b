"""The claims of the posts as experiments, one module each: ``python -m studies list``."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

from studies.study import Findings, Settings, Study, Table, Verdict

NAMES = (
    *("rnn-gradient", "relu-rnn", "tanh-blur", "gates", "bidirectional", "bottleneck"),
    *("alignment", "path-length", "parallel", "scaling", "projections", "heads", "order"),
    *("sinusoid", "residual-norm", "worked-example", "cross-attention", "patches", "filters"),
    *("distance", "first-layer", "data-hunger", "translation"),
)
"""Every study, in the order of the page; its module has underscores instead of dashes."""

__all__ = ["NAMES", "Findings", "Settings", "Study", "Table", "Verdict", "describe", "load_study"]

PAGES = Path(__file__).parents[1] / "docs" / "claims"
"""Where every study has a page: its claim, what to expect and how it is tried are written there
by hand, before the first run; `studies.page` adds what came out."""


def load_study(name: str) -> ModuleType:
    """The module of a study, which has ``run``."""
    if name not in NAMES:
        raise ValueError(f"no study {name!r}; known are {', '.join(NAMES)}")
    return import_module(f"studies.{name.replace('-', '_')}")


def describe(name: str) -> Study:
    """What a study claims, expects and does."""
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    return Study.parse(str(load_study(name).__doc__), page)
