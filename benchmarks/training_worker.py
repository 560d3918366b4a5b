"""One measurement of training, in a process of its own; see training_speed.py."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import count, cycle

import torch
import torch.nn.functional as F
from measuring import described_parser, pin, synchronize
from plain_transformer import plain
from torch import Tensor
from torch.nn.utils import clip_grad_norm_
from torch.utils.flop_counter import FlopCounterMode

from vit_str import configuration
from vit_str.models.attention import ScaledDotProductAttention
from vit_str.synthesis.printed_lines import TextLineRenderer
from vit_str.synthesis.renderer import RenderedBatch, Renderer
from vit_str.training.ahead import made_ahead
from vit_str.training.data import RenderedWords
from vit_str.training.module import MovingAverage, RecognizerTraining
from vit_str.training.parts import build_parts
from vit_str.training.process import keep_freed_memory

_RENDERED_BEFORE = 4

Drawer = Renderer | TextLineRenderer


@dataclass(frozen=True, slots=True)
class Measurement:
    """What to measure: a configuration, and which measures for speed are taken.

    Attributes:
        config: YAML file of the model and its data, as for ``vit-str train``.
        device: ``cpu`` or ``cuda``.
        threads: of a CPU.
        batch_size: words in a step; the configuration's if None.
        steps: to take the time of, after ``warm_up`` others.
        warm_up: steps before those.
        bfloat16: autocast instead of float32.
        explicit_attention: softmax(QK) V on a CPU, where the fused kernel goes back slowly.
        kept_memory: freed memory is not given back to the system.
        fused_optimizer: AdamW as one kernel.
        compiled: losses through ``torch.compile``.
        rendering: words are rendered in every step, on a GPU ahead of it, instead of a few batches
            before.
        plain: the same architecture in the layers that come with torch.
    """

    config: str
    device: str = "cpu"
    threads: int = 1
    batch_size: int | None = None
    steps: int = 8
    warm_up: int = 2
    bfloat16: bool = False
    explicit_attention: bool = False
    kept_memory: bool = False
    fused_optimizer: bool = False
    compiled: bool = False
    rendering: bool = False
    plain: bool = False

    @property
    def dtype(self) -> torch.dtype:
        """Number format of the products."""
        return torch.bfloat16 if self.bfloat16 else torch.float32


@dataclass(frozen=True, slots=True)
class Result:
    """What came of it.

    Attributes:
        images_per_second: of all steps together.
        flops_per_image: additions and multiplications in matrix products, forward and back.
        peak_flops: per second in one large product in the same number format.
        memory: most bytes in use on a GPU during the steps.
        parameters: of the recognizer.
        loss: of the decoder before the first step, on the first batch.
    """

    images_per_second: float
    flops_per_image: float
    peak_flops: float
    memory: int | None
    parameters: int
    loss: float


def measure(wanted: Measurement) -> Result:
    """Build the model and the words, warm up, take the time."""
    prepare(wanted)
    module, drawer, batch_size = build(wanted)
    batches = endless_batches(drawer, wanted.batch_size or batch_size, wanted.rendering)
    if wanted.rendering:
        batches = made_ahead(batches, drawer.device)
    step = Step(module, wanted)
    with FlopCounterMode(display=False) as counter:
        first = next(batches)
        loss = step.differentiate(first)
    step.speed_up()
    _run(step, batches, wanted.warm_up, wanted.device)
    if wanted.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    seconds = _run(step, batches, wanted.steps, wanted.device)
    memory = torch.cuda.max_memory_allocated() if wanted.device == "cuda" else None
    return Result(
        len(first) * wanted.steps / seconds,
        counter.get_total_flops() / len(first),
        peak_flops(wanted),
        memory,
        sum(parameter.numel() for parameter in module.recognizer.parameters()),
        loss.item(),
    )


def prepare(wanted: Measurement) -> None:
    """What has to be set for the process, before anything is built."""
    if wanted.device == "cpu":
        pin(wanted.threads)
    if wanted.kept_memory:
        keep_freed_memory()
    if wanted.bfloat16:
        torch.set_float32_matmul_precision("medium")  # as ``vit-str train`` does
    torch.manual_seed(0)


class Step:
    """A step as Lightning takes it, without Lightning."""

    def __init__(self, module: RecognizerTraining, wanted: Measurement) -> None:
        self.module = module
        self.wanted = wanted
        self.optimizer = module.configure_optimizers()
        for group in self.optimizer.param_groups:
            group["fused"] = wanted.fused_optimizer
        self._losses: Callable[..., tuple[Tensor, Tensor]] = module.losses

    def speed_up(self) -> None:
        """Take the measures that the counter of operations could not look through."""
        if self.wanted.device == "cpu" and not self.wanted.explicit_attention:
            setattr(ScaledDotProductAttention, "forward", _fused_attention)  # noqa: B010 - for mypy
        if self.wanted.compiled:
            self._losses = torch.compile(self.module.losses)

    def differentiate(self, batch: RenderedBatch) -> Tensor:
        """All losses together, and back; returns that of the decoder."""
        text, auxiliary = self.losses(batch)
        self.backward(text + auxiliary)
        return text.detach()

    def losses(self, batch: RenderedBatch) -> tuple[Tensor, Tensor]:
        """That of the decoder, and the auxiliary ones."""
        with torch.autocast(
            self.wanted.device, torch.bfloat16, enabled=self.wanted.bfloat16
        ):
            return self._losses(batch.images, batch.labels, batch.token_characters)

    def backward(self, loss: Tensor) -> None:
        """Gradients of a loss."""
        torch.autograd.backward(loss)

    def clip(self) -> None:
        """Gradients to a norm of 1."""
        clip_grad_norm_(self.module.parameters(), 1.0)

    def average(self) -> None:
        """Move the average."""
        self.module.average.update(self.module.recognizer)

    def __call__(self, batch: RenderedBatch) -> None:
        """Forward, back, and one move of the weights."""
        self.optimizer.zero_grad()
        self.differentiate(batch)
        self.clip()
        self.optimizer.step()
        self.average()


def build(wanted: Measurement) -> tuple[RecognizerTraining, Drawer, int]:
    """The model of the configuration, what draws its words, and its batch size."""
    try:
        settings = configuration.load(wanted.config)
    except (OSError, ValueError) as error:
        raise SystemExit(str(error)) from None
    parts = build_parts(settings)
    if not isinstance(parts.data, RenderedWords):
        raise SystemExit(
            f"{wanted.config}: expected data that is rendered, found "
            f"{type(parts.data).__name__}; give another --config"
        )
    if wanted.plain:
        recognizer = plain(parts.training.recognizer)
        parts.training.recognizer = recognizer
        parts.training.average = MovingAverage(recognizer, parts.training.average.decay)
    parts.data.prepare_data()
    parts.data.setup("fit")
    drawer = parts.data.training_renderer(wanted.device)
    return parts.training.to(wanted.device).train(), drawer, parts.data.batch_size


def endless_batches(
    drawer: Drawer,
    size: int,
    rendering: bool,
) -> Iterator[RenderedBatch]:
    """New ones, or a few again and again."""
    if rendering:
        return (drawer.batch(size, 1, index) for index in count())
    return cycle([drawer.batch(size, 1, index) for index in range(_RENDERED_BEFORE)])


def _run(
    step: Step, batches: Iterator[RenderedBatch], steps: int, device: str
) -> float:
    """Seconds that so many steps take."""
    synchronize(device)
    started = time.perf_counter()
    for _ in range(steps):
        step(next(batches))
    synchronize(device)
    return time.perf_counter() - started


def _fused_attention(
    _: ScaledDotProductAttention,
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None = None,
) -> Tensor:
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)


def peak_flops(wanted: Measurement, rounds: int = 5) -> float:
    """Multiplications and additions per second of one large product, the best of some rounds."""
    size = 2048 if wanted.device == "cpu" else 8192
    matrix = torch.randn(size, size, device=wanted.device).to(wanted.dtype)
    seconds = []
    for _ in range(rounds + 1):
        synchronize(wanted.device)
        started = time.perf_counter()
        matrix @ matrix
        synchronize(wanted.device)
        seconds.append(time.perf_counter() - started)
    return 2.0 * size**3 / min(seconds)


def asked(description: str | None) -> Measurement:
    """What the command line of a worker asks for."""
    parser = described_parser(description)
    parser.add_argument(
        "measurement",
        help="a Measurement of training_worker.py, as JSON",
    )
    return Measurement(**json.loads(parser.parse_args().measurement))


if __name__ == "__main__":
    print(json.dumps(asdict(measure(asked(__doc__)))))
