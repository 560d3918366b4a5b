"""What makes a token a sink: one property of it after another is made that of the other tokens.

If the sink goes with it, the property is what it takes; if it stays, others are enough.
"""

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from vit_str.analysis.probe import Keys, Queries

KEY_BIAS = "key bias"
KEY_NORM = "key norm"
MLP = "mlp before"
CAUSES = {
    KEY_BIAS: "what all queries give the token alike: the score of its key for the mean query",
    KEY_NORM: "the norm of its key",
    MLP: "what the MLP of the layer before adds to it",
}
"""What is set to the mean of the other patches. (The norm of the token itself decides nothing in
its layer: it is normalized before attention.)"""

# ViT and BEiT of transformers add the residual in `output`, behind the last linear layer
_MLPS = ("mlp", "feed_forward", "ffn", "output.dense")


def with_usual_bias(
    queries: Queries, keys: Keys, places: Int64[Tensor, " case"], special: int
) -> Keys:
    """Keys of which one of each case has the score of the others for the mean query of its head."""
    mean = queries[..., special:, :].mean(-2)
    scores = (keys * mean[:, :, None]).sum(-1)
    own, others = _own_and_others(scores, places, special)
    tiny = torch.finfo(mean.dtype).tiny
    steps = (others - own) / mean.square().sum(-1).clamp(min=tiny)
    return _replaced(keys, places, _at(keys, places) + steps[..., None] * mean)


def with_usual_norm(
    _queries: Queries, keys: Keys, places: Int64[Tensor, " case"], special: int
) -> Keys:
    """Keys of which one of each case has the mean norm of the others of its head."""
    norms = torch.linalg.vector_norm(keys, dim=-1)
    own, others = _own_and_others(norms, places, special)
    factors = others / own.clamp(min=torch.finfo(norms.dtype).tiny)
    return _replaced(keys, places, factors[..., None] * _at(keys, places))


def with_usual_output(
    output: Float[Tensor, "case token dim"],
    places: Int64[Tensor, " case"],
    special: int,
) -> Float[Tensor, "case token dim"]:
    """What an MLP puts out, where one token of each case has the mean of the other patches."""
    as_heads = output[:, None]
    by_dim = as_heads.movedim(-1, 1)[:, :, 0]
    _, others = _own_and_others(by_dim, places, special)
    return _replaced(as_heads, places, others[:, None])[:, 0]


def mlp_of(layer: nn.Module) -> nn.Module | None:
    """The MLP of a layer, whose output is added to the tokens; None if it is not known."""
    for name in _MLPS:
        try:
            return layer.get_submodule(name)
        except AttributeError:
            continue
    return None


def _at(
    keys: Float[Tensor, "case head key dim"], places: Int64[Tensor, " case"]
) -> Float[Tensor, "case head dim"]:
    return keys[torch.arange(len(keys)), :, places]


def _replaced(
    keys: Float[Tensor, "case head key dim"],
    places: Int64[Tensor, " case"],
    values: Float[Tensor, "case head dim"],
) -> Float[Tensor, "case head key dim"]:
    keys = keys.clone()
    keys[torch.arange(len(keys)), :, places] = values
    return keys


def _own_and_others(
    values: Float[Tensor, "case head key"], places: Int64[Tensor, " case"], special: int
) -> tuple[Float[Tensor, "case head"], Float[Tensor, "case head"]]:
    """The value of one token, and the mean of the other patches, special tokens left out."""
    own = values[torch.arange(len(values)), :, places]
    is_patch = (places >= special).to(values)[:, None]
    patches = values[..., special:]
    others = patches.sum(-1) - is_patch * own
    return own, others / (patches.shape[-1] - is_patch)
