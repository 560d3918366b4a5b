"""What the sources of images hand out."""

from dataclasses import dataclass
from typing import NamedTuple


class Item(NamedTuple):
    """One image to read.

    Attributes:
        name: what the output calls it: its path, or archive/member, or file.parquet/row.
        source: the path of its file, or the bytes of one; empty if there are none.
        trouble: why there is no source; empty if there is one.
    """

    name: str
    source: str | bytes
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Images of an archive that follow each other.

    Attributes:
        start: where they begin: bytes in a tar archive, rows in a Parquet file.
        stop: where they end.
        count: how many they are.
    """

    start: int
    stop: int
    count: int
