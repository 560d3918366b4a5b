"""Texts that graphs write with onnxruntime, character by character."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vit_str.engines.interface import Steps

if TYPE_CHECKING:
    from jaxtyping import Float, Int64
    from onnxruntime import InferenceSession

    Arrays = dict[str, Float[np.ndarray, "batch ..."]]

_PAST = "past_key_values"
_PRESENT = "present"
# In the names of keys and values that stay while a text is written
_OF_IMAGE = ".encoder."


class Graph:
    """A session, and the names of what it takes and gives: asking for them at every run is slow."""

    def __init__(self, session: InferenceSession) -> None:
        self.session = session
        self.outputs = [value.name for value in session.get_outputs()]
        self.past_shapes = {
            value.name: value.shape
            for value in session.get_inputs()
            if value.name.startswith(_PAST)
        }

    def run(self, inputs: Mapping[str, np.ndarray]) -> Arrays:
        """The outputs of the graph, by name."""
        values = self.session.run(self.outputs, inputs)
        return dict(zip(self.outputs, values, strict=True))


def rows_of(arrays: Arrays, rows: Sequence[int] | np.ndarray) -> Arrays:
    """Some rows of all arrays."""
    return {name: values[rows] for name, values in arrays.items()}


def as_past(arrays: Arrays) -> Arrays:
    """The outputs of one call as inputs of the next, under the names that it takes."""
    return {
        _PAST + name.removeprefix(_PRESENT): values
        for name, values in arrays.items()
        if name.startswith(_PRESENT)
    }


class OnnxSteps(Steps):
    """Texts that the step graph writes; see `Steps`.

    The graph broadcasts the keys and values of a single image over its beams. Those of several
    are copied for every row, but only when rows get other images.
    """

    def __init__(self, graph: Graph, encoded: Arrays) -> None:
        self._graph = graph
        state = as_past(encoded)
        self._image: Arrays = {}
        self._written: Arrays = {}
        for name, values in state.items():
            kept = self._image if _OF_IMAGE in name else self._written
            kept[name] = values
        batch = len(next(iter(encoded.values())))
        self._images = np.arange(batch)
        self._of_rows = self._image
        for name, (_, heads, _, head_dim) in graph.past_shapes.items():
            if name not in state:
                self._written[name] = np.zeros((batch, heads, 0, head_dim), np.float32)
        self.attention: list[Float[np.ndarray, "row token"]] = []

    def step(
        self, symbols: Int64[np.ndarray, " row"], position: int
    ) -> Float[np.ndarray, "row symbol"]:
        inputs = {"input_ids": symbols[:, None], **self._of_rows, **self._written}
        found = self._graph.run(inputs)
        self._written |= as_past(found)
        if "cross_attentions" in found:
            self.attention.append(found["cross_attentions"])
        return found["logits"][:, -1]

    def keep(self, rows: Int64[np.ndarray, " row"]) -> None:
        images = self._images[rows]
        if not np.array_equal(images, self._images):
            is_shared = (images == images[0]).all()
            self._of_rows = rows_of(self._image, images[:1] if is_shared else images)
        self._images = images
        self._written = rows_of(self._written, rows)


class GroupedSteps(OnnxSteps):
    """The same, of a graph that takes equally many rows for each image, one image after another.

    Images with fewer texts have rows that nobody reads; keys and values of images are not copied.
    """

    def __init__(self, graph: Graph, encoded: Arrays) -> None:
        super().__init__(graph, encoded)
        count = len(self._images)
        self._kept = np.arange(count)  # the images that have rows
        self._places = np.arange(count)  # of the rows, among those of the graph
        self._size = count  # rows of the graph

    def step(
        self, symbols: Int64[np.ndarray, " row"], position: int
    ) -> Float[np.ndarray, "row symbol"]:
        every = np.zeros(self._size, np.int64)
        every[self._places] = symbols
        scores = super().step(every, position)[self._places]
        self.attention[-1] = self.attention[-1][self._places]
        return scores

    def keep(self, rows: Int64[np.ndarray, " row"]) -> None:
        parents = self._places[rows]
        self._images = self._images[rows]
        kept, members = np.unique(self._images, return_inverse=True)
        counts = np.bincount(members)
        width = int(counts.max())
        order = np.argsort(members, kind="stable")
        firsts = np.cumsum(counts) - counts
        ranks = np.empty(len(rows), np.int64)
        ranks[order] = np.arange(len(rows)) - firsts[members[order]]
        self._places = members * width + ranks
        self._size = len(kept) * width
        # Of rows that nobody reads: any of the image
        sources = parents[order[firsts]].repeat(width)
        sources[self._places] = parents
        self._written = rows_of(self._written, sources)
        if not np.array_equal(kept, self._kept):
            self._of_rows = rows_of(self._image, kept)
        self._kept = kept
