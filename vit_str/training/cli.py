"""``vit-str train``: Lightning's command line over the parts of this project."""

import logging
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, cast

import torch
import yaml
from jsonargparse import ActionConfigFile  # type: ignore[attr-defined]
from lightning.fabric.plugins import TorchCheckpointIO
from lightning.pytorch import Callback, LightningDataModule
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.cli import LightningArgumentParser, LightningCLI
from lightning.pytorch.utilities import rank_zero_info

from vit_str.charset import CHARSETS, charset_of
from vit_str.devices import choose_device, fastest_dtype
from vit_str.training.allocator import keep_freed_memory
from vit_str.training.callbacks import StopCleanly
from vit_str.training.module import RecognizerTraining
from vit_str.training.resuming import AtomicFiles, CannotStart
from vit_str.training.starting import StartFromWeights

_STOPPED = 130  # saved, and to be resumed, whichever signal asked for it
_PLACES = ("dirpath", "path", "folder", "save_dir")


class OneLineParser(LightningArgumentParser):
    """Says what is wrong in one line, without the list of all options."""

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        """Leave with exit code 2."""
        # Where several types would do, the reason of each is an item; the first is ours.
        reasons = [line[4:] for line in message.splitlines() if line.startswith("  - ")]
        reason = " ".join((reasons or [message])[0].split())
        sys.stderr.write(f"vit-str train: {reason}; see vit-str train --help\n")
        raise SystemExit(2)


class TrainingCLI(LightningCLI):
    """Ties what model and data must agree on, so that a configuration says it once."""

    def init_parser(self, **kwargs: Any) -> LightningArgumentParser:
        """A parser for the command, and one for each subcommand."""
        parser = OneLineParser(**kwargs)
        parser.add_argument(
            "-c", "--config", action=ActionConfigFile, help="configuration file in YAML"
        )
        return parser

    def add_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
        """Options of this project, and the data linked to the model."""
        parser.add_argument(
            "--init",
            type=str | None,
            metavar="NAME|FILE",
            help="start from these weights: of the package, or a .safetensors file",
        )
        parser.add_argument(
            "--charset",
            type=str | None,
            metavar="NAME|FILE|CHARACTERS",
            help=f"characters to read, instead of those of the configuration: "
            f"{', '.join(CHARSETS)}, several joined by +, a text file that holds them, or the "
            "characters themselves",
        )
        parser.add_argument(
            "--folder",
            type=Path | None,
            help="where the run is kept: paths of callbacks and loggers are relative to it",
        )
        parser.add_argument(
            "--recipe",
            type=str | None,
            help="in a configuration: the file with what it leaves out, relative to it",
        )
        parser.link_arguments("model.charset", "data.init_args.charset")
        for name in ("image_size", "grid", "maximum_length"):
            parser.link_arguments(f"model.{name}", f"data.init_args.{name}", apply_on="instantiate")

    def before_instantiate_classes(self) -> None:
        """Let the rest of the configuration follow the options of this project."""
        config = self.config.fit
        if config.get("weights_only", True) is None:
            config.weights_only = True  # a checkpoint is data: nothing in it is run
        if _emulates_bfloat16(config.trainer):
            config.trainer.precision = "32-true"
            rank_zero_info("This CPU has no bfloat16 instructions: training in float32")
        try:
            if config.charset is not None:
                _write(config, charset_of(config.charset).characters)
            if config.folder is not None:
                _move(config.trainer, config.folder)
        except ValueError as error:
            self.parser.error(str(error))

    def instantiate_classes(self) -> None:
        """Build model, data and trainer; a mistake in the configuration is one line."""
        try:
            super().instantiate_classes()
            if type(self.trainer.strategy.checkpoint_io) is TorchCheckpointIO:
                self.trainer.strategy.checkpoint_io = AtomicFiles()
            self._add_start()
        except ValueError as error:
            self.parser.error(str(error))

    def _add_start(self) -> None:
        """Make a run start from weights; look at them at once, not after fonts are drawn."""
        config = self.config.fit
        if config.init is None:
            return
        start = StartFromWeights(config.init)
        if config.ckpt_path is None or (config.ckpt_path == "last" and not any(_last(self))):
            start.load(self.model)
        callbacks(self).insert(0, start)


def _emulates_bfloat16(trainer: Any) -> bool:
    """Whether the configuration asks a CPU for bfloat16 that would be slower than float32."""
    on_cpu = trainer.accelerator == "cpu" or (
        trainer.accelerator == "auto" and choose_device().type == "cpu"
    )
    cpu = torch.device("cpu")
    return trainer.precision == "bf16-mixed" and on_cpu and fastest_dtype(cpu) == torch.float32


def _means_something(record: logging.LogRecord) -> bool:
    """Whether a message is for users: not the one about an argument that only Lightning can set."""
    return "`weights_only` was not set" not in record.getMessage()


def _write(config: Any, characters: str) -> None:
    """Make model and data write these characters."""
    config.model.charset = config.data.init_args.charset = characters
    config.model.recognizer.init_args.decoder.init_args.charset_size = len(characters)


def _move(trainer: Any, folder: Path) -> None:
    """Put everything that is kept into a folder."""
    for part in [*(trainer.callbacks or []), *_loggers(trainer)]:
        given = part.get("init_args") or {}
        for name in _PLACES:
            if given.get(name):
                given[name] = type(given[name])(folder / given[name])


def _loggers(trainer: Any) -> list[Any]:
    logger = trainer.logger
    return logger if isinstance(logger, list) else [logger] if hasattr(logger, "init_args") else []


def _last(cli: LightningCLI) -> Iterator[Path]:
    """Checkpoints that ``ckpt_path: last`` would go on from."""
    for callback in callbacks(cli):
        if isinstance(callback, ModelCheckpoint) and callback.dirpath:
            name = callback.CHECKPOINT_NAME_LAST
            yield from Path(callback.dirpath).glob(f"{name}*{callback.FILE_EXTENSION}")


def _with_recipes(arguments: Sequence[str]) -> list[str]:
    """The arguments, each configuration behind the recipe that it names."""
    expanded: list[str] = []
    for index, argument in enumerate(arguments):
        option, equals, value = argument.partition("=")
        if option in ("-c", "--config"):
            recipe = _recipe(Path(value if equals else "".join(arguments[index + 1 : index + 2])))
            expanded += [f"--config={recipe}"] if recipe else []
        expanded.append(argument)
    return expanded


def _recipe(path: Path) -> Path | None:
    try:
        given = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return None  # the parser says what is wrong
    recipe = given.get("recipe") if isinstance(given, dict) else None
    return path.parent / recipe if isinstance(recipe, str) else None


def main(arguments: Sequence[str]) -> int:
    """Train as the arguments say; returns the exit code."""
    keep_freed_memory()
    torch.set_float32_matmul_precision("medium")
    warnings.filterwarnings("ignore", "The '.*_dataloader' does not have many workers")
    warnings.filterwarnings("ignore", "GPU available but not used")
    warnings.filterwarnings("ignore", "LightningCLI's args parameter")
    warnings.filterwarnings("ignore", ".*LeafSpec.* is deprecated")  # Lightning's use of torch
    logging.getLogger("lightning.pytorch").setLevel(logging.INFO)
    connector = logging.getLogger("lightning.pytorch.trainer.connectors.checkpoint_connector")
    connector.addFilter(_means_something)
    try:
        with _signals_before_training():
            cli = TrainingCLI(
                RecognizerTraining,
                LightningDataModule,
                subclass_mode_data=True,
                save_config_kwargs={"overwrite": True},
                args=["fit", *_with_recipes(arguments)],
                parser_kwargs={"prog": "vit-str train"},
                seed_everything_default=1,
            )
    except CannotStart as error:
        sys.stderr.write(f"vit-str train: {error}\n")
        return 2
    return _ending(cli)


@contextmanager
def _signals_before_training() -> Iterator[None]:
    """Stop at once on a signal: nothing has been trained, and Lightning would call it a success."""

    def stop(number: int, frame: object) -> NoReturn:
        sys.stderr.write("vit-str train: stopped; the same command starts again or resumes\n")
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _ending(cli: TrainingCLI) -> int:
    """Say how the run ended; returns the exit code."""
    step = cli.trainer.global_step
    signals = [one.signal for one in callbacks(cli) if isinstance(one, StopCleanly) and one.signal]
    line = ""
    if signals:
        # Who leaves first with this code makes launchers end the others, whatever they still write.
        cli.trainer.strategy.barrier("stopped")
        line = f"stopped at step {step:,}; the same command resumes"
    elif step and step == cli.model.resumed_at:
        line = (
            f"already finished at step {step:,}; for more, raise --trainer.max_time or "
            "--trainer.max_steps"
        )
    if line and cli.trainer.is_global_zero:
        sys.stderr.write(f"vit-str train: {line}\n")
    return _STOPPED if signals else 0


def callbacks(cli: LightningCLI) -> list[Callback]:
    """Those of the trainer."""
    return cast(list[Callback], getattr(cli.trainer, "callbacks", []))
