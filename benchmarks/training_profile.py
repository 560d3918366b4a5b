"""Where the time of a training step goes, by kind of operation; see training_speed.py.

The parts of a step (data, forward and back, clipping, optimizer, average) are waited for one by
one, so that whatever runs on the device between two marks belongs to the part between them. What
runs in forward and back is sorted by the names of operations, on a GPU by those of kernels.
"""

import json
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from measuring import synchronize
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils.flop_counter import FlopCounterMode
from training_worker import (
    Measurement,
    Step,
    asked,
    build,
    endless_batches,
    peak_flops,
    prepare,
)

_MARK = "part of the step: "
_MODEL = "forward and back"
ELEMENTWISE = "elementwise, reductions, copies"
REST = "rest: launches, Python, idle"

# The first that matches counts. Convolutions come before products, whose kernels they may use.
_CPU_KINDS = {
    "convolutions": r"conv",
    "attention": r"scaled_dot_product|flash|aten::(bmm|baddbmm|_?softmax|_softmax_backward)",
    "matrix products": r"aten::(mm|addmm|linear|matmul|_addmm)|mkldnn_linear|mkl_linear",
    "normalization": r"norm",
}
# Kernels that torch.compile has fused are named after all that is in them, and before it.
_NOT_FUSED = r"^(?!triton_(poi|red|per)_).*"
_GPU_KINDS = {
    "attention": _NOT_FUSED + r"(flash|fmha|attention|sdpa)",
    "convolutions": _NOT_FUSED + r"(conv(?!ert)|fprop|dgrad|wgrad|implicit)",
    "matrix products": _NOT_FUSED + r"(gemm|nvjet|cutlass|cublas|splitk|triton_tem)",
    "normalization": r"layer_?norm",
}
_FLOPS = {
    "convolutions": r"conv",
    "attention": r"bmm|attention",
    "matrix products": r"mm",
}


@dataclass(frozen=True, slots=True)
class Profile:
    """Time of a step.

    Attributes:
        milliseconds: of a step, by kind of operation; they add up to the whole step.
        flops: operations of a step in products, by kind.
        images: in a step.
        peak_flops: per second in one large product in the same number format.
    """

    milliseconds: dict[str, float]
    flops: dict[str, float]
    images: int
    peak_flops: float


def measure(wanted: Measurement) -> Profile:
    """Build the model and the words, warm up, look at some steps."""
    prepare(wanted)
    module, drawer, batch_size = build(wanted)
    size = wanted.batch_size or batch_size
    batches = endless_batches(drawer, size, wanted.rendering)
    step = Step(module, wanted)
    with FlopCounterMode(display=False) as counter:
        step.differentiate(next(batches))
    step.speed_up()
    for _ in range(wanted.warm_up):
        step(next(batches))
    kinds = _profile(step, lambda: next(batches), wanted)
    flops: defaultdict[str, float] = defaultdict(float)
    for operation, count in counter.get_flop_counts()["Global"].items():
        flops[kind_of(str(operation), _FLOPS)] += count
    return Profile(kinds, dict(flops), size, peak_flops(wanted))


def _profile(
    step: Step,
    fetch: Callable[[], Any],
    wanted: Measurement,
) -> dict[str, float]:
    """Milliseconds of a step by kind.

    The whole is what a step takes without being watched on a GPU, where kernels take no longer
    when they are watched but their launches do; on a CPU the whole is the watched time.
    """

    def run(part: Callable[[str, Callable[[], Any]], Any]) -> None:
        step.optimizer.zero_grad()
        batch = part("data", fetch)
        part(_MODEL, lambda: step.differentiate(batch))
        part("clipping", step.clip)
        part("optimizer", step.optimizer.step)
        part("average of weights", step.average)

    def marked(name: str, work: Callable[[], Any]) -> Any:
        with record_function(_MARK + name):
            result = work()
            synchronize(wanted.device)
        return result

    whole = _seconds(lambda: run(lambda _, work: work()), wanted)
    activities = [ProfilerActivity.CPU]
    if wanted.device == "cuda":
        activities.append(ProfilerActivity.CUDA)
    run(marked)
    with profile(activities=activities) as profiler:
        watched = _seconds(lambda: run(marked), wanted)
    kinds = sort_events(profiler.events(), wanted.device)
    milliseconds = {
        kind: 1e-3 * time_us / wanted.steps for kind, time_us in kinds.items()
    }
    whole = 1e3 * (whole if wanted.device == "cuda" else watched) / wanted.steps
    return milliseconds | {REST: whole - sum(milliseconds.values())}


def _seconds(run: Callable[[], None], wanted: Measurement) -> float:
    synchronize(wanted.device)
    started = time.perf_counter()
    for _ in range(wanted.steps):
        run()
    synchronize(wanted.device)
    return time.perf_counter() - started


def sort_events(events: Iterable[Any], device: str) -> dict[str, float]:
    """Microseconds by kind, of what the profiler of torch has seen.

    Args:
        events: with marks of the parts of a step among them.
        device: ``cpu``, where operations count by themselves, or ``cuda``, where kernels do.
    """
    events = list(events)
    parts = sorted(
        (event.time_range.start, event.time_range.end, event.name.removeprefix(_MARK))
        for event in events
        if event.name.startswith(_MARK) and event.device_type == DeviceType.CPU
    )
    names = _GPU_KINDS if device == "cuda" else _CPU_KINDS
    spent: defaultdict[str, float] = defaultdict(float)
    of_gpu = device == "cuda"
    for event in events:
        ran_on_gpu = event.device_type != DeviceType.CPU
        if event.is_user_annotation or ran_on_gpu != of_gpu:
            continue
        length = event.self_cpu_time_total
        if of_gpu:
            length = event.time_range.elapsed_us()
        part = next(
            (name for a, b, name in parts if a <= event.time_range.start < b), None
        )
        if part == _MODEL:
            spent[kind_of(event.name, names)] += length
        elif part is not None:
            spent[part] += length
    return dict(spent)


def kind_of(name: str, kinds: dict[str, str]) -> str:
    """The first kind whose pattern is in the name of an operation or kernel."""
    matching = (
        kind
        for kind, pattern in kinds.items()
        if re.search(pattern, name, re.IGNORECASE)
    )
    return next(matching, ELEMENTWISE)


if __name__ == "__main__":
    print(json.dumps(asdict(measure(asked(__doc__)))))
