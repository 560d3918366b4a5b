"""A step of training never waits for the device: nothing in it reads a number that is there."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest
import torch
from lightning.pytorch.trainer.connectors.logger_connector import _LoggerConnector
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from vit_str.models.decoders import ctc
from vit_str.training import RecognizerTraining
from vit_str.training.cli import main

pytestmark = pytest.mark.filterwarnings("default")

READS = {
    "item",
    "tolist",
    "numpy",
    "cpu",
    "__bool__",
    "__float__",
    "__int__",
    "__index__",
    "__array__",
    "nonzero",
    "masked_select",
    "ctc_loss",  # of lengths on a GPU
}
"""Functions and methods of torch that wait for a GPU."""
READING_OPERATIONS = {
    "aten::_local_scalar_dense",
    "aten::item",
    "aten::is_nonzero",
    "aten::equal",
    "aten::nonzero",
    "aten::masked_select",
    "aten::_ctc_loss",
    "aten::_unique2",
    "aten::repeat_interleave",
}
"""The same below the names that Python knows."""
MAKERS = {torch.tensor, torch.as_tensor, torch.asarray}


class FunctionsThatWait(TorchFunctionMode):
    """Counts calls of `READS`, and tensors made of numbers on the device that trains."""

    def __init__(self, found: Counter[str]) -> None:
        super().__init__()
        self.found = found

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if name in READS:
            self.found[name] += 1
        if function in MAKERS and (kwargs or {}).get("device") is not None:
            self.found["made of numbers"] += 1
        return function(*args, **(kwargs or {}))


class OperationsThatWait(TorchDispatchMode):
    """Counts `READING_OPERATIONS`, and masks as indices."""

    def __init__(self, found: Counter[str]) -> None:
        super().__init__()
        self.found = found

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        name = operation._schema.name
        if name in READING_OPERATIONS:
            self.found[name] += 1
        if name.startswith(("aten::index", "aten::_index_put")):
            indices = [each for each in _tensors(args[1:2]) if each.dtype == torch.bool]
            self.found[name] += len(indices)
        return operation(*args, **(kwargs or {}))


def _tensors(values: Any) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)


class Waiting:
    """What would wait for a GPU within the block, by name: the CPU stands for one."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()
        self._modes = (FunctionsThatWait(self.found), OperationsThatWait(self.found))

    def __enter__(self) -> Counter[str]:
        for mode in self._modes:
            mode.__enter__()
        return self.found

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for mode in reversed(self._modes):
            mode.__exit__(kind, error, trace)


MASK = torch.tensor([True, False])
VALUES = torch.tensor([1.0, 2.0])


@pytest.mark.parametrize(
    "wait",
    [
        lambda: VALUES[0].item(),
        lambda: float(VALUES[0]),
        lambda: bool(MASK[0]),
        lambda: int(VALUES[1]),
        lambda: VALUES.tolist(),
        lambda: VALUES.cpu(),
        lambda: VALUES[MASK],
        lambda: MASK.nonzero(),
        lambda: torch.tensor(1.0, device=VALUES.device),
        lambda: torch.masked_select(VALUES, MASK),
        lambda: VALUES.clone().index_put_((MASK,), torch.tensor(0.0)),
        lambda: f"{VALUES[0]:.3f}",
    ],
)
def test_what_waits_is_found(wait: Callable[[], Any]):
    with Waiting() as found:
        wait()
    assert found.total()


def test_what_does_not_wait_is_not_found():
    with Waiting() as found:
        values = VALUES.where(MASK, 0.0).sum().clamp(min=1)
        torch._foreach_mul_([values], 0.5)
        torch.full((), 0.5, device=values.device)
        torch.tensor(0.5)
    assert not found.total()


class Steps:
    """Counts what waits in steps of training, from a batch that is drawn to numbers to be logged.

    Lightning's own doings within a step are watched too.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.found: list[Counter[str]] = []
        self._waiting: Waiting | None = None
        begin = _LoggerConnector.on_batch_start
        end = _LoggerConnector.update_train_step_metrics

        def begun(connector: Any, *batch: Any, **numbers: Any) -> None:
            self._waiting = Waiting()
            self._waiting.__enter__()
            begin(connector, *batch, **numbers)

        def ended(connector: Any) -> None:
            end(connector)
            assert self._waiting is not None
            self._waiting.__exit__(None, None, None)
            self.found.append(self._waiting.found)

        monkeypatch.setattr(_LoggerConnector, "on_batch_start", begun)
        monkeypatch.setattr(_LoggerConnector, "update_train_step_metrics", ended)


@pytest.fixture
def arguments_of_a_run(arguments: list[str], monkeypatch) -> list[str]:
    """Of one that neither logs, saves nor validates in its six steps, as most steps do not."""
    monkeypatch.setattr(ctc, "_is_on_gpu", lambda _: True)
    path = Path(arguments[-1])
    text = path.read_text().replace("every_n_train_steps: 1", "every_n_train_steps: 99")
    path.write_text(text)
    decoder = "--model.recognizer.init_args.decoder.init_args"
    return [
        *arguments,
        *("--trainer.log_every_n_steps", "99"),
        *("--trainer.limit_val_batches", "0"),
        *(f"{decoder}.draft_grid", "[4, 16]"),
    ]


@pytest.mark.parametrize(
    ("accumulate", "number_format"),
    [("1", "float32"), ("2", "bfloat16")],
    indirect=["number_format"],
)
def test_no_step_waits(accumulate, number_format, arguments_of_a_run, monkeypatch):
    steps = Steps(monkeypatch)
    more = ["--trainer.accumulate_grad_batches", accumulate]
    assert main([*arguments_of_a_run, *more]) == 0
    assert len(steps.found) == 6 * int(accumulate)
    # The first step looks at the counter of the average.
    assert not sum(steps.found[int(accumulate) :], Counter())


def waits_by_bar(module: RecognizerTraining, loss: Tensor) -> None:
    module.log("late", loss.detach(), prog_bar=True)


def waits_by_number(module: RecognizerTraining, loss: Tensor) -> None:
    module.log("late", 1.0)


def waits_by_reading(module: RecognizerTraining, loss: Tensor) -> None:
    assert loss > 0


@pytest.mark.parametrize("wait", [waits_by_bar, waits_by_number, waits_by_reading])
def test_a_step_that_waits_is_found(wait, arguments_of_a_run, monkeypatch):
    step = RecognizerTraining.training_step

    def waiting(self: RecognizerTraining, *batch: Any) -> Tensor:
        loss = step(self, *batch)
        wait(self, loss)
        return loss

    monkeypatch.setattr(RecognizerTraining, "training_step", waiting)
    steps = Steps(monkeypatch)
    assert main(arguments_of_a_run) == 0
    assert all(found.total() for found in steps.found)
