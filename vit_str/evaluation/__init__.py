"""A reader and labeled images -> how well it reads them, with 95 % intervals.

Images come from `vit_str.datasets`; ``words`` has what was read in them, ``report`` scores it;
``breakdown``, ``confusions`` and ``mistakes`` say where it goes wrong, ``tables`` and ``markdown``
write that down.
"""

from vit_str.evaluation.report import Report
from vit_str.evaluation.run import evaluate, read_sets
from vit_str.evaluation.tables import aligned, percent
from vit_str.evaluation.words import ReadWords, together

__all__ = [
    "ReadWords",
    "Report",
    "aligned",
    "evaluate",
    "percent",
    "read_sets",
    "together",
]
