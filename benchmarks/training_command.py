"""One measurement of ``vit-str train``, in a process of its own; see training_speed.py."""

import json
from dataclasses import asdict
from tempfile import TemporaryDirectory

from measuring import described_parser
from training_meter import CommandResult, Measured

from vit_str.training.cli import main


def measure(arguments: list[str], seconds: float) -> CommandResult:
    """Train as the arguments say, without validation, until the time is over.

    Raises:
        SystemExit: the command ended before.
    """
    meter = {"class_path": "training_meter.Meter", "init_args": {"seconds": seconds}}
    with TemporaryDirectory() as folder:
        command = [
            *arguments,
            f"--folder={folder}",
            "--trainer.limit_val_batches=0",
            f"--trainer.callbacks+={json.dumps(meter)}",
        ]
        try:
            code = main(command)
        except Measured as measured:
            result: CommandResult = measured.args[0]
            return result
    raise SystemExit(code or "the run ended before the time was over")


if __name__ == "__main__":
    parser = described_parser(__doc__)
    parser.add_argument("seconds", type=float)
    parser.add_argument("arguments", help="of ``vit-str train``, a list in JSON")
    given = parser.parse_args()
    print(json.dumps(asdict(measure(json.loads(given.arguments), given.seconds))))
