"""Weights of networks that read no words: one safetensors file with its description."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

from vit_str.files import write_atomically
from vit_str.models.arranger import RELATIONS, PageArranger
from vit_str.models.finder import Finder

N = TypeVar("N", bound=nn.Module)


class NetworkFile(NamedTuple, Generic[N]):
    """A network, what its outputs are called, and where it comes from."""

    network: N
    names: Sequence[str]
    provenance: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NetworkFormat(Generic[N]):
    """Files of one class of networks, whose instances keep their ``arguments``.

    Attributes:
        version: of the format, which its files name.
        kind: of network, for messages.
        network: the class.
        names: key of the names of outputs.
        fixed: other names, which a file must have just so.
    """

    version: str
    kind: str
    network: type[N]
    names: str
    fixed: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def save(
        self,
        path: Path,
        network: N,
        names: Sequence[str],
        provenance: Mapping[str, Any],
    ) -> None:
        """Write weights with what is needed to use them."""
        about = {
            "arguments": network.arguments,
            self.names: list(names),
            **{key: list(fixed) for key, fixed in self.fixed.items()},
            "provenance": dict(provenance),
        }
        metadata = {"format": self.version, "about": json.dumps(about)}
        tensors = {
            name: value.detach().cpu().contiguous()
            for name, value in network.state_dict().items()
        }
        with write_atomically(path) as temporary:
            save_file(tensors, temporary, metadata)

    def describes(self, path: Path) -> bool:
        """Whether a file says that it is one of these."""
        try:
            with safe_open(path, "pt") as file:
                return (file.metadata() or {}).get("format") == self.version
        except (OSError, SafetensorError):
            return False

    def load(self, path: Path) -> NetworkFile[N]:
        """Read weights.

        Raises:
            ValueError: for another file, or a damaged one; one line that names it.
        """
        try:
            return self._load(path)
        except (
            OSError,
            SafetensorError,
            KeyError,
            TypeError,
            RuntimeError,
            ValueError,
        ) as error:
            # Errors of safetensors name the file themselves, in other places than those of Python
            reason = getattr(error, "strerror", None) or str(error)
            reason = " ".join(reason.removesuffix(f": {path}").split())[:200]
            raise ValueError(f"{path}: {reason}") from None

    def _load(self, path: Path) -> NetworkFile[N]:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != self.version:
                raise ValueError(f"not weights of {self.kind}")
            about = json.loads(metadata["about"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        for key, names in self.fixed.items():
            if about[key] != list(names):
                raise ValueError(f"other {key} than {', '.join(names)}")
        with torch.device("meta"):
            network = self.network(**about["arguments"])
        network.load_state_dict(tensors, assign=True)
        return NetworkFile(network.eval(), about[self.names], about["provenance"])


ARRANGER = NetworkFormat(
    version="vit-str arranger 1",
    kind="a network that arranges pages",
    network=PageArranger,
    names="roles",
    fixed={"relations": RELATIONS},
)
"""Of networks that arrange pages; their outputs are named by the roles of pieces of text."""
FINDER = NetworkFormat(
    version="vit-str finder 1",
    kind="a network that finds",
    network=Finder,
    names="maps",
)
"""Of networks that find lines, whose outputs are maps."""
