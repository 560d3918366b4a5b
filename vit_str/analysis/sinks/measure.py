"""How far the most attended token of a layer stands out, with and without what may be its cause."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pandas as pd
import torch
from einops import reduce
from jaxtyping import Float, Float64, Int64
from torch import Tensor, nn

from vit_str.analysis.geometry import windows_of
from vit_str.analysis.libraries.encoder import probe_layers
from vit_str.analysis.probe import Keys, Queries, in_evaluation
from vit_str.analysis.results import means_table
from vit_str.analysis.sinks.calls import LayerCalls
from vit_str.analysis.sinks.causes import (
    CAUSES,
    KEY_BIAS,
    KEY_NORM,
    MLP,
    Scores,
    mlp_of,
    with_usual_output,
)
from vit_str.evaluation.statistics import wilson_interval
from vit_str.models import Encoder

PATCH = "patch"
SPECIAL = "special"
RATIO = "ratio"
SHARE = "share"
SINKS = "sinks"
LEAST = 3.0
"""Times the median patch, from which on a token is a sink; by eye."""

_BY_SCORES = {KEY_BIAS: Scores.with_usual_bias, KEY_NORM: Scores.with_usual_norm}


class SinkAnatomy:
    """The most attended patch and special token of every layer, image by image.

    ``ratio`` is what the token gets over what the median patch gets, by the patches as queries and
    as the mean of all heads; ``share`` is what it gets of all. In layers with windows every window
    has a token of its own, and an image the mean over its windows.

    Args:
        model: its name.
        encoder: with the attention.
    """

    def __init__(self, model: str, encoder: Encoder) -> None:
        self.model = model
        self.encoder = encoder
        self.special = encoder.special_tokens
        self.special_names = list(encoder.special_names)
        self.images = 0
        self._values: dict[tuple[int, str, str], list[Tensor]] = defaultdict(list)

    @property
    def kinds(self) -> list[str]:
        """``patch``, and ``special`` if there are such tokens."""
        return [PATCH, SPECIAL] if self.special else [PATCH]

    @property
    def layers(self) -> int:
        """How many were measured."""
        return max(layer for layer, _, _ in self._values)

    @torch.no_grad()
    def update(self, images: Float[Tensor, "batch channel height width"]) -> None:
        """Add normalized images, on the encoder's device."""
        places: dict[tuple[int, str], Tensor] = {}
        layer = 0

        def measure(_: str, queries: Tensor, keys: Tensor, mask: Tensor | None) -> None:
            nonlocal layer
            layer += 1
            scores = _scores(queries, keys, mask, self.special)
            received = torch.stack([each.received() for each in scores])
            for kind in self.kinds:
                at = self._most(received, kind)
                places[layer, kind] = at
                self._add(layer, kind, "", received, at)
                for cause, changed in _BY_SCORES.items():
                    cases = zip(scores, at.tolist(), strict=True)
                    others = [
                        changed(each, place, self.special) for each, place in cases
                    ]
                    known = [other.received() for other in others if other is not None]
                    if known:
                        after = torch.stack(known)
                        self._add(layer, kind, f" without {cause}", after, at)

        calls = LayerCalls(self.encoder.layer_modules)
        with in_evaluation(self.encoder):
            with probe_layers(self.encoder, measure), calls.recorded():
                self.encoder(images)
            if not windows_of(self.encoder):
                self._without_mlps(images, calls, places)
        self.images += len(images)

    def to_frame(self) -> pd.DataFrame:
        """Means over images with 95 % intervals, a row for each layer, token and metric.

        ``ratio`` and ``ratio without ...`` are geometric means. ``sinks`` is the share of images
        whose token is a sink, and ``gone without ...`` that of these sinks, ``n`` of them, that are
        none any more (Wilson's intervals).
        """
        tables = []
        for layer in range(1, self.layers + 1):
            for kind in self.kinds:
                tables += self._tables(layer, kind)
        return pd.concat(tables, ignore_index=True)

    def _tables(self, layer: int, kind: str) -> list[pd.DataFrame]:
        of_token = {"model": self.model, "layer": layer, "token": kind}
        logs = self._of(layer, kind, RATIO)
        is_sink = logs >= np.log(LEAST)
        tables = [
            _geometric(logs, **of_token, metric=RATIO),
            means_table(self._of(layer, kind, SHARE), **of_token, metric=[SHARE]),
            _share(is_sink, **of_token, metric=SINKS),
        ]
        for cause in CAUSES:
            name = f"{RATIO} without {cause}"
            if (layer, kind, name) not in self._values:
                continue
            after = self._of(layer, kind, name)
            tables.append(_geometric(after, **of_token, metric=name))
            if is_sink.any():
                gone = after[is_sink] < np.log(LEAST)
                tables.append(_share(gone, **of_token, metric=f"gone without {cause}"))
        return tables

    def _of(self, layer: int, kind: str, name: str) -> Float64[Tensor, " image"]:
        return torch.cat(self._values[layer, kind, name])

    def _most(
        self, received: Float64[Tensor, "case key"], kind: str
    ) -> Int64[Tensor, " case"]:
        if kind == SPECIAL:
            return received[:, : self.special].argmax(-1)
        return received[:, self.special :].argmax(-1) + self.special

    def _add(
        self,
        layer: int,
        kind: str,
        changed: str,
        received: Float64[Tensor, "case key"],
        places: Int64[Tensor, " case"],
    ) -> None:
        """Keep the logarithm of the ratio; the share too where nothing was changed."""
        tiny = torch.finfo(torch.float64).tiny
        share = received.gather(-1, places[:, None])[:, 0]
        median = received[:, self.special :].quantile(0.5, -1)
        ratio = (share.clamp(min=tiny) / median.clamp(min=tiny)).log()
        values = {f"{RATIO}{changed}": ratio}
        if not changed:
            values[SHARE] = share
        for name, of_cases in values.items():
            windows = list(windows_of(self.encoder).values())
            count = len(windows[layer - 1].allowed) if windows else 1
            of_images = reduce(of_cases, "(b w) -> b", "mean", w=count)
            self._values[layer, kind, name].append(of_images)

    def _without_mlps(
        self, images: Tensor, calls: LayerCalls, places: dict[tuple[int, str], Tensor]
    ) -> None:
        """Run each layer, and the one before it with its MLP changed at the token of the layer."""
        for (layer, kind), at in places.items():
            mlp = mlp_of(self.encoder.layer_modules[layer - 2]) if layer > 1 else None
            if mlp is not None:
                with _changed(mlp, at.to(images.device), self.special):
                    found = self._received_by(layer, images, calls)
                self._add(layer, kind, f" without {MLP}", found, at)

    def _received_by(
        self, layer: int, images: Tensor, calls: LayerCalls
    ) -> Float64[Tensor, "case key"]:
        """Attention that tokens get in a layer; as few other layers are run as can be."""
        can_repeat = calls.follow(layer - 1)
        to_pass = 2 if can_repeat else layer
        found: list[Tensor] = []

        def measure(_: str, queries: Tensor, keys: Tensor, mask: Tensor | None) -> None:
            nonlocal to_pass
            to_pass -= 1
            if not to_pass:
                scores = _scores(queries, keys, mask, self.special)
                found.append(torch.stack([each.received() for each in scores]))
                raise _Enough

        with suppress(_Enough), probe_layers(self.encoder, measure):
            if can_repeat:
                calls.repeat(layer - 1)
            else:
                self.encoder(images)
        return found[0]


class _Enough(Exception):  # noqa: N818 - no error: it ends a forward pass early
    """All that is asked for is known."""


@contextmanager
def _changed(
    mlp: nn.Module, places: Int64[Tensor, " case"], special: int
) -> Iterator[None]:
    def hook(_: nn.Module, __: Any, output: Tensor) -> Tensor:
        return with_usual_output(output, places, special)

    with mlp.register_forward_hook(hook):
        yield


def _scores(
    queries: Queries, keys: Keys, mask: Tensor | None, special: int
) -> list[Scores]:
    """Image by image, or window by window."""
    cases = range(len(keys))
    return [Scores.of(queries, keys, mask, case, special) for case in cases]


def _geometric(logs: Float64[Tensor, " image"], **columns: Any) -> pd.DataFrame:
    """A geometric mean with its interval, from logarithms."""
    table = means_table(logs, **{**columns, "metric": [columns["metric"]]})
    ends = ["mean", "low", "high"]
    table[ends] = np.exp(table[ends])
    return table


def _share(holds: Tensor, **columns: Any) -> pd.DataFrame:
    """In which share of the images something is so."""
    low, high = wilson_interval(int(holds.sum()), len(holds))
    ends = {"low": round(low, 9), "high": round(high, 9)}
    numbers = {"mean": float(holds.double().mean()), **ends}
    return pd.DataFrame([{**columns, **numbers, "n": len(holds)}])
