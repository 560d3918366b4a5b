"""Builds a reader of batches from a model, a search and an effort."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vit_str.decoding.constraints import constraint_of
from vit_str.decoding.effort import decoding_options, rereading_options
from vit_str.decoding.rereading import Rereader, text_prior
from vit_str.decoding.text_decoding import TextDecoder
from vit_str.words.batch_reading import BatchReader

if TYPE_CHECKING:
    from vit_str.decoding.search import Search
    from vit_str.engines.interface import Engine


def batch_reader(
    engine: Engine, encode: Callable[..., Any], search: Search, effort: str | None
) -> BatchReader:
    """A reader of batches.

    Args:
        engine: of the model.
        encode: pixels of images to what the decoder reads.
        search: which readings to look for.
        effort: how much work a reading may take, see ``vit_str.load``.

    Raises:
        ValueError: the model cannot do what is asked for.
    """
    model = engine.model
    decoder = TextDecoder(
        scorer=engine,
        options=decoding_options(model, effort),
        n_best=search.n_best,
        beam_width=search.beam_width,
        constraint=constraint_of(
            model.charset,
            model.interface.maximum_length,
            search.lexicon,
            search.pattern,
            search.alphabet,
        ),
    )
    rereading = rereading_options(model, effort)
    prior = None
    if search.language or (rereading.doubtful and not search.is_constrained):
        trained_on = model.provenance.get("language")
        prior = text_prior(search.language, trained_on, model.charset)
    rereader = Rereader(rereading, encode, decoder, prior)
    return BatchReader(engine, encode, decoder, rereader)
