"""The network that arranges pages, run by onnxruntime."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from vit_str.engines.forks import PerProcess
from vit_str.engines.opened_once import OpenedOnce
from vit_str.machine import thread_count
from vit_str.pages.arrange.scores import RELATIONS, Scores

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

    from vit_str.pages.arrange.features import Tokens

BUNDLED = Path(__file__).parents[2] / "bundled" / "arranger.onnx"
"""The network of the package."""
ABOUT = "vit-str arranger"
"""Key of the metadata of a graph: its roles and relations, and where it comes from, as JSON."""


class ArrangerNetwork:
    """Says of the pieces of a page what they are and how they belong together.

    Args:
        path: a graph, as ``vit-str export`` writes it.
        threads: that compute; None for as many as the process may use.

    Raises:
        ValueError: it cannot be used; one line that names it.
    """

    def __init__(self, path: Path, threads: int | None = None) -> None:
        if not path.is_file():
            raise ValueError(
                f"{path}: no such file; give a network that vit-str export has written"
            )
        open_graph = partial(_opened, path, threads or thread_count())
        self._session = PerProcess(open_graph(), open_graph)
        self.roles = _roles(self._session.value, path)

    def scores(self, tokens: Tokens) -> Scores:
        """Scores of the network for a page, as logits."""
        inputs = {
            "features": tokens.features,
            "places": tokens.places,
            "ngrams": tokens.ngrams,
        }
        names = ["roles", "levels", "relations"]
        roles, levels, relations = self._session.value.run(names, inputs)
        count = tokens.pieces
        return Scores(
            roles=roles[:count],
            levels=levels[:count],
            relations=relations[:, :count, :count],
            names=self.roles,
        )


def _opened(path: Path, threads: int) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(
            path, options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # of types of its own
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{path}: no network that arranges pages ({reason})") from None


def _roles(session: InferenceSession, path: Path) -> Sequence[str]:
    """The names of the roles of a graph."""
    try:
        about = json.loads(session.get_modelmeta().custom_metadata_map[ABOUT])
        if about["relations"] != list(RELATIONS):
            raise ValueError("it knows other relations")
        return list(about["roles"])
    except (KeyError, TypeError, ValueError):
        raise ValueError(
            f"{path}: no network that arranges pages, or one of another version; "
            "make it by vit-str export"
        ) from None


open_bundled: OpenedOnce[ArrangerNetwork] = OpenedOnce(lambda: ArrangerNetwork(BUNDLED))
"""Opens the network of the package, once."""
