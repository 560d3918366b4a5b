"""Causes of sinks: one property of a token after another is set to that of the other tokens.

If the sink goes with it, the property is what it takes; if it stays, others are enough.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor, nn

from vit_str.analysis.probe import Keys, Queries

KEY_BIAS = "key bias"
KEY_NORM = "key norm"
MLP = "mlp before"
CAUSES = {
    KEY_BIAS: "what all queries give the token alike: its score as a mean over queries",
    KEY_NORM: "the norm of its key",
    MLP: "what the MLP of the layer before adds to it",
}
"""Properties that are set to the mean of the other patches. (The norm of the token decides nothing
in its layer: it is normalized before attention.)"""

# ViT and BEiT of transformers add the residual in `output`, behind the last linear layer
_MLPS = ("mlp", "feed_forward", "ffn", "output.dense")
_BLOCKED = 60.0  # below the highest score of a row: what a mask takes away, not a bias


class Scores(NamedTuple):
    """Scores of one image, or window of one, before the softmax: the patches as queries."""

    products: Float[Tensor, "head query key"]  # of queries and keys
    bias: Float[Tensor, "#head #query key"]  # what is added to them, and masks
    norms: Float[Tensor, "head key"] | None  # of keys; None of a softmax by hand

    @classmethod
    def of(
        cls, queries: Queries, keys: Keys, mask: Tensor | None, case: int, special: int
    ) -> "Scores":
        """From what `probe` passes on of a batch."""
        of_patches = queries[case, :, special:]
        of_case = keys[case]
        of_case = of_case.float() if of_case.itemsize < 4 else of_case
        of_patches = of_patches.to(of_case.dtype)
        scale = of_patches.shape[-1] ** -0.5
        products = of_patches @ of_case.mT * scale
        bias = products.new_zeros(1, 1, products.shape[-1])
        if mask is not None:
            bias = mask[case if len(mask) > 1 else 0]
            bias = bias[:, -len(products[0]) :] if bias.shape[1] > 1 else bias
        if bias.dtype == torch.bool:
            bias = torch.zeros_like(bias, dtype=products.dtype).masked_fill(
                ~bias, -torch.inf
            )
        # A softmax by hand shows its scores, no queries and keys
        known = bool(queries.any())
        norms = torch.linalg.vector_norm(of_case, dim=-1) if known else None
        return cls(products, bias, norms)

    @property
    def whole(self) -> Float[Tensor, "head query key"]:
        """Products and bias."""
        return self.products + self.bias

    def received(self) -> Float64[Tensor, " key"]:
        """Attention that every token gets, special ones first: mean over queries and heads."""
        return self.whole.softmax(-1).cpu().double().mean((0, 1))

    def with_usual_bias(self, place: int, special: int) -> "Scores":
        """One key has the mean score of the other patches, head by head."""
        whole = self.whole
        hidden = whole < whole.amax(-1, keepdim=True) - _BLOCKED
        means = whole.masked_fill(hidden, torch.nan).nanmean(1).nan_to_num()
        own, others = _own_and_others(means[None], place, special)
        products = self.products.clone()
        products[:, :, place] += (others - own)[0][:, None]
        return self._replace(products=products)

    def with_usual_norm(self, place: int, special: int) -> "Scores | None":
        """One key has the mean norm of the other patches, head by head; None if not known."""
        if self.norms is None:
            return None
        own, others = _own_and_others(self.norms[None], place, special)
        factors = others / own.clamp(min=torch.finfo(own.dtype).tiny)
        products = self.products.clone()
        products[:, :, place] *= factors[0][:, None]
        return self._replace(products=products)


def with_usual_output(
    output: Float[Tensor, "case token dim"],
    places: Int64[Tensor, " case"],
    special: int,
) -> Float[Tensor, "case token dim"]:
    """The output of an MLP, where one token of each case has the mean of the other patches."""
    changed = output.clone()
    for case, place in enumerate(places.tolist()):
        _, others = _own_and_others(output[case : case + 1].mT, place, special)
        changed[case, place] = others[0]
    return changed


def mlp_of(layer: nn.Module) -> nn.Module | None:
    """The MLP of a layer, whose output is added to the tokens; None if it is not known."""
    for name in _MLPS:
        try:
            return layer.get_submodule(name)
        except AttributeError:
            continue
    return None


def _own_and_others(
    values: Float[Tensor, "case head key"], place: int, special: int
) -> tuple[Float[Tensor, "case head"], Float[Tensor, "case head"]]:
    """The value of one token, and the mean of the other patches, special tokens left out."""
    own = values[..., place]
    patches = values[..., special:]
    if place < special:
        return own, patches.mean(-1)
    return own, (patches.sum(-1) - own) / (patches.shape[-1] - 1)
