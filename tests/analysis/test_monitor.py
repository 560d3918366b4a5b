"""Callbacks that log attention while a model is trained."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from vit_str.analysis import attention_distance
from vit_str.analysis.monitor.summary import MONITORED, attention_summary
from vit_str.models import VisionTransformer

pytestmark = pytest.mark.filterwarnings("default")  # Lightning's own

IMAGES = torch.randn(3, 3, 16, 32, generator=torch.Generator().manual_seed(0))
LABELS = torch.tensor([0, 1, 0])


def make_encoder() -> VisionTransformer:
    torch.manual_seed(0)
    return VisionTransformer(
        dim=8, depth=2, heads=2, image_size=(16, 32), patch_size=(8, 8)
    )


def test_summary_is_the_means_of_layers() -> None:
    encoder = make_encoder()
    values = attention_summary(encoder, IMAGES)
    assert len(values) == 2 * len(MONITORED)
    rows = attention_distance(encoder, IMAGES).to_frame()
    rows = rows[rows["head"].isna() & (rows["layer"] == 2)]
    for metric, unit in (
        ("distance", "px"),
        ("entropy", "nats"),
        ("sink_mass", "share"),
        ("own_value_cosine", "1"),
    ):
        expected = rows[(rows["metric"] == metric) & (rows["unit"] == unit)][
            "mean"
        ].item()
        assert values[f"attention_{metric}/layer_02"] == pytest.approx(expected)


def test_modules_keep_their_modes() -> None:
    """A frozen part stays in evaluation while the rest is trained, and random numbers stay."""
    encoder = make_encoder().train()
    encoder.blocks[0].eval()
    before = {name: module.training for name, module in encoder.named_modules()}
    state = torch.get_rng_state()
    attention_summary(encoder, IMAGES)
    assert {name: module.training for name, module in encoder.named_modules()} == before
    assert torch.equal(torch.get_rng_state(), state)
    assert all(parameter.grad is None for parameter in encoder.parameters())


def make_lightning_module(model: nn.Module) -> nn.Module:
    pl = pytest.importorskip("lightning.pytorch")

    class Classifier(pl.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.model = model
            self.classify = nn.LazyLinear(2)

        def training_step(self, batch: tuple[Tensor, Tensor], _: int) -> Tensor:
            images, labels = batch
            features = self.model(images).flatten(1)
            return nn.functional.cross_entropy(self.classify(features), labels)

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=0.5)

    module = Classifier()
    module.classify(torch.zeros_like(model(IMAGES).flatten(1)))
    return module


def fit(trained: nn.Module, folder: Path, **options: Any) -> pd.DataFrame:
    """Train three epochs with the callback, and give what was logged."""
    pl = pytest.importorskip("lightning.pytorch")
    from lightning.pytorch.loggers import CSVLogger

    from vit_str.analysis.monitor.lightning import AttentionMonitor

    monitor = AttentionMonitor(**{"module": "model", "images": IMAGES} | options)
    logger = CSVLogger(folder, name="", version="")
    trainer = pl.Trainer(
        max_epochs=3,
        accelerator="cpu",
        logger=logger,
        callbacks=[monitor],
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        log_every_n_steps=1,
    )
    trainer.fit(trained, DataLoader(TensorDataset(IMAGES, LABELS), batch_size=3))
    return pd.read_csv(folder / "metrics.csv")


def test_lightning_logs_before_training_and_after_every_epoch(tmp_path: Path) -> None:
    encoder = make_encoder()
    before = attention_summary(encoder, IMAGES)
    logged = fit(make_lightning_module(encoder), tmp_path).dropna(
        subset="attention_entropy/layer_01"
    )
    assert len(logged) == 1 + 3
    after = attention_summary(encoder, IMAGES)
    for name, value in before.items():
        assert logged[name].iloc[0] == pytest.approx(value, rel=1e-4)
        assert logged[name].iloc[-1] == pytest.approx(after[name], rel=1e-4)
    assert before["attention_entropy/layer_01"] != pytest.approx(
        after["attention_entropy/layer_01"]
    )


def test_lightning_measures_every_so_many_epochs(tmp_path: Path) -> None:
    logged = fit(make_lightning_module(make_encoder()), tmp_path, every_n_epochs=2)
    assert len(logged.dropna(subset="attention_distance/layer_02")) == 1 + 1
    from vit_str.analysis.monitor.lightning import AttentionMonitor

    with pytest.raises(ValueError, match="every_n_epochs must be 1 or more"):
        AttentionMonitor("model", IMAGES, every_n_epochs=0)


@pytest.mark.parametrize("name", ["encoder", "device"])
def test_lightning_says_which_module_is_missing(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=f"Classifier has no module '{name}'"):
        fit(make_lightning_module(make_encoder()), tmp_path, module=name)


def test_lightning_with_a_model_of_timm(tmp_path: Path) -> None:
    """The smallest of timm, as the how-to of docs/attention.md has it."""
    timm = pytest.importorskip("timm")
    model = timm.create_model("test_vit", num_classes=0, img_size=(16, 32))
    logged = fit(make_lightning_module(model), tmp_path)
    assert len(logged.dropna(subset="attention_sink_mass/layer_01")) == 4


def test_trainer_of_transformers_logs_before_training_and_after_every_epoch(
    tmp_path: Path,
) -> None:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    from vit_str.analysis.monitor.transformers import AttentionMonitorCallback

    config = transformers.ViTConfig(
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=8,
        image_size=(16, 32),
        patch_size=8,
    )
    model = transformers.ViTForImageClassification(config)
    data = [{"pixel_values": image, "labels": 0} for image in IMAGES]
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path),
        num_train_epochs=2,
        learning_rate=0.1,
        report_to=[],
        use_cpu=True,
        save_strategy="no",
        disable_tqdm=True,
    )
    trainer = transformers.Trainer(model=model, args=arguments, train_dataset=data)
    trainer.add_callback(AttentionMonitorCallback(trainer, IMAGES))
    before = attention_summary(model, IMAGES)
    trainer.train()
    history = [
        entry
        for entry in trainer.state.log_history
        if "attention_entropy/layer_01" in entry
    ]
    assert [entry["epoch"] for entry in history] == [0, 1, 2]
    after = attention_summary(model, IMAGES)
    for name, value in before.items():
        assert history[0][name] == pytest.approx(value, rel=1e-4)
        assert history[-1][name] == pytest.approx(after[name], rel=1e-4)


def test_the_how_to_runs_as_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The smallest model of timm on words in a folder, from docs/attention.md."""
    pytest.importorskip("timm")
    pytest.importorskip("torchvision")
    page = Path(__file__).parents[2] / "docs" / "attention.md"
    blocks = re.findall(
        r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL
    )
    (program,) = [block for block in blocks if "AttentionMonitor(" in block]
    folder = tmp_path / "words" / "images"
    folder.mkdir(parents=True)
    names = ["one.png", "two.png"]
    for name in names:
        Image.new("RGB", (40, 20), "white").save(folder / name)
    (tmp_path / "words" / "labels.tsv").write_text(f"{names[0]}\tA1\n{names[1]}\tB\n")
    monkeypatch.chdir(tmp_path)
    exec(compile(program, str(page), "exec"), {"__name__": "how_to"})  # noqa: S102 - our own page
    logged = pd.read_csv(
        tmp_path / "runs" / "lightning_logs" / "version_0" / "metrics.csv"
    )
    assert len(logged.dropna(subset="attention_distance/layer_01")) == 1 + 5
