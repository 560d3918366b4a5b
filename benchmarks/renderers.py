"""Renderers to compare: that of this project, and others as processes of their own."""

import json
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self, cast

from PIL import Image

from vit_str.synthesis.renderer import Renderer

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn in a round.

    Attributes:
        images: number of pictures.
        seconds: that they took.
        cpu_seconds: those in which the CPU was at work on them, and not on what others do there.
    """

    images: int
    seconds: float
    cpu_seconds: float


class VitStr:
    """The renderer of this project, in this process.

    Args:
        renderer: what draws, everything on.
        words: to draw, again and again.
        batch_size: words in a batch.
    """

    def __init__(self, renderer: Renderer, words: list[str], batch_size: int) -> None:
        self.renderer = renderer
        self.words = words
        self.batch_size = batch_size
        self.index = 0
        self._draw_batch()  # warm: memory, kernels

    def draw(self, seconds: float) -> Drawn:
        """Batches that take at least so long."""
        started = time.perf_counter()
        computing = time.process_time()
        images = 0
        spent = 0.0
        while spent < seconds:
            images += self._draw_batch()
            spent = time.perf_counter() - started
        return Drawn(images, spent, time.process_time() - computing)

    def _draw_batch(self) -> int:
        start = self.index * self.batch_size
        places = range(start, start + self.batch_size)
        batch = [self.words[place % len(self.words)] for place in places]
        self.renderer.render(batch, seed=self.index)
        self.index += 1
        return len(batch)

    def pictures(self, count: int) -> list[Image.Image]:
        """Of the first words."""
        images = self.renderer.render(self.words[:count], seed=1).images
        return [Image.fromarray(image.permute(1, 2, 0).numpy()) for image in images]


class Peer:
    """Another renderer, in a process that stays from ``with`` to its end."""

    def __init__(self, python: str, worker: str, task: Path) -> None:
        self._command = [python, str(_FOLDER / worker), str(task)]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def draw(self, seconds: float) -> Drawn:
        """Words that take at least so long, as the process measured it."""
        return Drawn(**self._ask({"seconds": seconds}))

    def pictures(self, count: int) -> list[Image.Image]:
        """Of the first words."""
        with tempfile.TemporaryDirectory() as folder:
            self._ask({"folder": folder, "count": count})
            return [
                Image.open(path).convert("RGB")
                for path in sorted(Path(folder).iterdir())
            ]

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        process = self._process
        requests = cast("IO[str]", process.stdin)
        answers = cast("IO[str]", process.stdout)
        requests.write(json.dumps(request) + "\n")
        requests.flush()
        line = answers.readline()
        if not line:
            name = Path(self._command[1]).name
            raise RuntimeError(
                f"{name} ended with exit code {process.wait()}, see above"
            )
        answer: dict[str, Any] = json.loads(line)
        return answer
