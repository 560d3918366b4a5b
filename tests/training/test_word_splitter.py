"""The word splitter is trained on rendered lines and written as a graph."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from lightning.pytorch import Trainer, seed_everything

from vit_str.models.word_splitter import WordSplitter
from vit_str.training.muon import MuonAdamW
from vit_str.training.word_splitter import ExportSplitter, RenderedLines, SplitterTraining

pytestmark = pytest.mark.filterwarnings("default")  # Lightning's own


def test_steps_change_all_weights_and_the_graph_agrees(
    two_fonts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIT_STR_CACHE", str(two_fonts.parent))
    seed_everything(0)
    splitter = WordSplitter(dim=16, depth=1, heads=2, widths=(4, 8, 8))
    before = {name: value.clone() for name, value in splitter.named_parameters()}
    module = SplitterTraining(splitter)
    graph = tmp_path / "word_splitter.onnx"
    trainer = Trainer(
        max_steps=2,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        limit_val_batches=0,
        default_root_dir=tmp_path,
        callbacks=[ExportSplitter(graph)],
    )
    trainer.fit(module, RenderedLines(batch_size=4, language="en", fonts=[two_fonts]))

    assert isinstance(trainer.optimizers[0], MuonAdamW)
    for name, value in splitter.named_parameters():
        assert not torch.equal(value, before[name]), name
    lines = torch.rand(3, 3, 32, 100) * 2 - 1
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    (columns,) = session.run(None, {"lines": lines.numpy()})
    with torch.no_grad():
        np.testing.assert_allclose(columns, splitter.eval()(lines).numpy(), atol=1e-4)
    model = onnx.load(graph)
    assert {each.key: each.value for each in model.metadata_props}["steps"] == "2"
    assert str(Path(torch.__file__).parent) not in str(model)  # where the code was
