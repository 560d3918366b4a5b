import math
import sys
from pathlib import Path

import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import distance_over_training
from distance_over_training import OPTIMIZERS, Training, compared, outcomes

from vit_str.characters.charset import CHARSETS, Charset
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.renderer import Renderer


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_run_goes_on_where_it_was_stopped(optimizer, one_font, tmp_path, monkeypatch):
    monkeypatch.setattr(distance_over_training, "_BATCH", 4)
    renderer = Renderer(one_font, Lexicon(Charset(CHARSETS["ascii"])), (32, 128))
    held_out = renderer.batch(4, 1, 0)
    whole = Training(optimizer, seed=0, steps=3)
    whole.train(3, renderer, held_out)
    first = Training(optimizer, seed=0, steps=3)
    first.train(2, renderer, held_out)
    first.save(tmp_path / "run.ckpt")
    resumed = Training(optimizer, seed=0, steps=3)
    resumed.load(tmp_path / "run.ckpt")
    resumed.train(3, renderer, held_out)
    pd.testing.assert_frame_equal(resumed.log(), whole.log())
    assert whole.log()["images"].tolist() == [0, 12]
    assert not whole.log().iloc[0].equals(whole.log().iloc[1])


def log_of(optimizer, seed, distances, read):
    """A run in which all layers look as far, measured after 0, 100, 200 images."""
    layers = range(1, 5)
    columns = {f"attention_distance/layer_{layer:02d}": distances for layer in layers}
    rows = {"images": [0, 100, 200], **columns, "accuracy": read}
    return pd.DataFrame(rows).assign(optimizer=optimizer, seed=seed)


def test_outcomes_of_runs_and_their_differences():
    """Near is less than 8 of 10 px."""
    log = pd.concat(
        [
            log_of("AdamW", 0, [10, 10, 6], [0, 0, 0.06]),
            log_of("Muon", 0, [10, 6, 5], [0, 0, 0.06]),
            log_of("AdamW", 1, [10, 9, 7], [0, 0, 0]),
            log_of("Muon", 1, [10, 6, 5], [0, 0.5, 0.5]),
        ]
    )
    found = outcomes(log, uniform=10.0)
    near = found[found["outcome"] == "images until layer 3 looks near"]
    assert near["value"].tolist() == pytest.approx([150, 150, 50, 50])
    table = compared(found).set_index("outcome")
    first = table.loc["images until layer 3 looks near"]
    assert (first["AdamW"], first["Muon"], first["seeds"]) == (150, 50, 2)
    assert (first["low"], first["difference"], first["high"]) == (-100, -100, -100)
    last = table.loc["px of layer 1 at the end"]
    # -1 and -2: 12.7 standard errors of 0.5 to either side
    assert last["difference"] == pytest.approx(-1.5)
    assert last["low"] == pytest.approx(-1.5 - 12.706 * 0.5, abs=1e-3)
    reading = table.loc["images until it reads"]
    assert reading["seeds"] == 1, "one run with AdamW never reads"
    assert math.isnan(reading["difference"])
    assert table.loc["% read at the end", "Muon"] == 28
