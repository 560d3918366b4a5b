"""A reader and labeled images -> how well it reads them, with 95 % intervals.

Images come from `vit_str.datasets`; ``words`` has what was read in them, ``report`` scores it;
``breakdown``, ``confusions`` and ``mistakes`` say where it goes wrong, ``tables`` and ``markdown``
write that down; ``comparison`` is about two models, ``calibration`` and ``temperature`` are about
what a confidence means.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vit_str.evaluation.report import Report
    from vit_str.evaluation.run import evaluate, read_sets
    from vit_str.evaluation.tables import aligned, percent
    from vit_str.evaluation.words import ReadWords, together

__all__ = ["ReadWords", "Report", "aligned", "evaluate", "percent", "read_sets", "together"]

_MODULES = {
    "Report": "report",
    **dict.fromkeys(("evaluate", "read_sets"), "run"),
    **dict.fromkeys(("aligned", "percent"), "tables"),
    **dict.fromkeys(("ReadWords", "together"), "words"),
}


def __getattr__(name: str) -> object:
    """Import torch at the first use only, so that the command line answers mistakes at once."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"vit_str.evaluation.{_MODULES[name]}"), name)
