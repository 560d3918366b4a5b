"""One training step: losses, learning rates, average, decay and what is counted."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from vit_str.models import (
    CtcDecoder,
    LineTransformer,
    Recognizer,
    TransformerDecoder,
    VisionTransformer,
)
from vit_str.models.decoders.ctc import ctc_loss
from vit_str.training import module as training_module
from vit_str.training.module import MovingAverage, RecognizerTraining

pytestmark = pytest.mark.filterwarnings("default")


def training(**arguments: Any) -> RecognizerTraining:
    torch.manual_seed(0)
    encoder = VisionTransformer(
        16, 1, 2, patch_size=(16, 32), class_token=True, registers=1
    )
    decoder = TransformerDecoder(10, 16, 1, 2, maximum_length=5, draft_grid=(2, 4))
    return RecognizerTraining(Recognizer(encoder, decoder), "0123456789", **arguments)


@pytest.fixture
def batch() -> SimpleNamespace:
    class Batch(SimpleNamespace):
        def __len__(self) -> int:
            return 3

    generator = torch.Generator().manual_seed(1)
    return Batch(
        images=torch.randint(
            256, (3, 3, 32, 128), generator=generator, dtype=torch.uint8
        ),
        labels=torch.randint(10, (3, 4), generator=generator),
        token_characters=torch.randint(10, (3, 8), generator=generator),
    )


def test_auxiliary_losses_are_of_the_tokens_alone(batch):
    module = training(dense_weight=0.5, draft_weight=0.25)
    features = module.recognizer.encode(module.preprocessing.normalize(batch.images))
    _, auxiliary = module.losses(batch.images, batch.labels, batch.token_characters)
    dense = module.token_classifier.loss(features[:, 2:], batch.token_characters)
    decoder: Any = module.recognizer.decoder
    draft = ctc_loss(decoder.draft(features), batch.labels)
    torch.testing.assert_close(auxiliary, 0.5 * dense + 0.25 * draft)


def test_a_step_has_the_rates_and_the_fading_of_its_progress(batch, monkeypatch):
    module = training(muon_learning_rate=0.002, learning_rate=0.001)
    optimizer = module.configure_optimizers()
    trainer: Any = SimpleNamespace(
        optimizers=[optimizer], world_size=1, global_step=1000
    )
    monkeypatch.setattr(RecognizerTraining, "trainer", trainer)
    monkeypatch.setattr(RecognizerTraining, "global_step", 1000)
    monkeypatch.setattr(RecognizerTraining, "log_dict", lambda *_, **__: None)
    monkeypatch.setattr(training_module, "progress", lambda _: 0.85)
    module.on_train_batch_start(batch, 0)
    rates = [group["lr"] for group in optimizer.param_groups]
    assert rates == pytest.approx([0.001, 0.0005, 0.0005])
    loss, auxiliary = module.losses(batch.images, batch.labels, batch.token_characters)
    step = module.training_step(batch, 0)
    torch.testing.assert_close(step, loss + (1 - 0.9 * 0.85) * auxiliary)
    step.backward()
    module.configure_gradient_clipping(optimizer, 0.01)
    norm = torch.stack(
        [p.grad.norm() for p in module.parameters() if p.grad is not None]
    ).norm()
    assert norm.item() == pytest.approx(0.01, rel=1e-3)


def lines(**arguments: Any) -> RecognizerTraining:
    encoder = LineTransformer(
        16, 1, 2, image_size=(32, 320), stem_widths=(8, 8), stem_depths=(1, 1)
    )
    return RecognizerTraining(
        Recognizer(encoder, CtcDecoder(10, 16)), "0123456789", **arguments
    )


@pytest.mark.parametrize(
    ("make", "device", "wanted", "compiled"),
    [
        (training, "cuda", True, True),
        (training, "cuda", False, False),
        (training, "cpu", True, False),
        (lines, "cuda", True, False),
    ],
)
def test_losses_are_compiled_on_a_gpu_and_for_images_of_one_size(
    make, device, wanted, compiled, monkeypatch
):
    module = make(compile_model=wanted)
    strategy = SimpleNamespace(root_device=torch.device(device))
    monkeypatch.setattr(
        RecognizerTraining, "trainer", SimpleNamespace(strategy=strategy)
    )
    module.configure_model()
    assert (module._losses != module.losses) is compiled


def test_norms_biases_and_embeddings_do_not_decay():
    module = training(weight_decay=0.5)
    names = {id(parameter): name for name, parameter in module.named_parameters()}
    decayed, others = module.configure_optimizers().param_groups
    assert (decayed["weight_decay"], others["weight_decay"]) == (0.5, 0)
    assert all(parameter.ndim > 1 for parameter in decayed["params"])
    kept = {
        names[id(parameter)] for parameter in others["params"] if parameter.ndim > 1
    }
    embeddings = {
        name for name in names.values() if "embed_" in name and "average" not in name
    }
    assert kept == {name for name in embeddings if not name.endswith("bias")}


def test_the_average_copies_and_then_follows_the_model():
    model = nn.Linear(2, 1)
    average = MovingAverage(model, 0.9)
    values = []
    for value in (1.0, 2.0):
        nn.init.constant_(model.weight, value)
        average.update(model)
        values.append(average.module.weight[0, 0].item())
    assert values == pytest.approx([1.0, 1.1])
    resumed = MovingAverage(nn.Linear(2, 1), 0.9)
    resumed.load_state_dict(average.state_dict())
    resumed.update(model)
    assert resumed.module.weight[0, 0].item() == pytest.approx(1.19)
    assert not any(parameter.requires_grad for parameter in average.parameters())
