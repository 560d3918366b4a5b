"""Memory and processors of this machine, and how many threads compute.

Every command begins here: what is slow to import waits until it is asked for.
"""

import json
import math
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

CPU_DTYPE = "VIT_STR_CPU_DTYPE"
"""In the environment, the number format to compute in on a CPU, one of ``CPU_DTYPES``."""
CPU_DTYPES = ("float32", "bfloat16", "int8")
_BUSY = 1.5  # what is running, over the number of processors
_WAIT_POLICY = "OMP_WAIT_POLICY"  # of threads for each other, as OpenMP has it
_CHECKOUT = Path(__file__).parents[1]  # the folder of the package, if it lies in one
THREADS = "OMP_NUM_THREADS"
"""Environment variable with their number, which torch and processes that are started know too."""
MOST_THREADS = 1024
"""More than any machine has processors to use."""

_PACKAGES = (
    "onnxruntime",
    "torch",
    "numpy",
    "pillow",
    "safetensors",
    "einops",
    "lightning",
    "albumentations",
)


def software() -> dict[str, str]:
    """Name -> version of Python, the system and the packages that are installed."""
    versions = {"vit-str": _version("vit-str") or "not installed"}
    versions["Python"] = platform.python_version()
    versions["system"] = f"{platform.system()} {platform.machine()}"
    found = {name: _version(name) for name in _PACKAGES}
    return versions | {name: number for name, number in found.items() if number}


def install_hint(extra: str) -> str:
    """The command that installs an extra of this package from where the package came from."""
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:  # PEP 610; packages from an index have no such file
        origin = json.loads(
            distribution("vit-str").read_text("direct_url.json") or "{}"
        )
    except (PackageNotFoundError, ValueError):
        origin = {}
    url = origin.get("url")
    if not url and (_CHECKOUT / "pyproject.toml").is_file():  # that was never installed
        url = _CHECKOUT.as_uri()
        origin = {"dir_info": {"editable": True}}
    package = f"vit-str[{extra}]"
    if url and origin.get("dir_info", {}).get("editable"):
        return f'pip install -e "{url2pathname(urlsplit(url).path)}[{extra}]"'
    if url and "vcs_info" in origin:
        url = f"{origin['vcs_info']['vcs']}+{url}"
    return f'pip install "{package} @ {url}"' if url else f'pip install "{package}"'


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def processor() -> str:
    """The name of the processor."""
    named = _cpu_info("model name") or platform.processor()
    return named or platform.machine() or "unknown"


def has_fast_int8() -> bool:
    """Whether products of 8-bit integers are much faster than of floats.

    ``VIT_STR_CPU_DTYPE`` in the environment decides, if it is set. Otherwise they are on x86, and
    on ARM with instructions for dot products.

    Raises:
        ValueError: if the variable holds another name.
    """
    name = os.environ.get(CPU_DTYPE)
    if name:
        if name not in CPU_DTYPES:
            raise ValueError(
                f"{CPU_DTYPE} must be one of {', '.join(CPU_DTYPES)}, found {name!r}"
            )
        return name == "int8"
    return _is_x86() or _has_dot_products()


def has_static_int8() -> bool:
    """Whether graphs in 8 bits throughout are known to be fast: on x86."""
    return _is_x86() and has_fast_int8()


def largest_int8_weight() -> int:
    """The largest weight in 8 bits with which no sum of products is too large for the processor.

    Without VNNI, x86 adds two products of a weight and a number up to 255 in 16 bits.
    """
    return 127 if _has_dot_products() or not _is_x86() else 64


def _is_x86() -> bool:
    return platform.machine().lower() in ("x86_64", "amd64")


def _has_dot_products() -> bool:
    """Whether the processor is known to sum four products of 8 bits in 32 bits.

    That is VNNI of x86 on Linux, and the dot products that all ARM processors of Apple have.
    """
    if platform.system() == "Darwin":
        return platform.machine() == "arm64"
    flags = (_cpu_info("flags") or _cpu_info("Features")).split()
    return not {"avx512_vnni", "avx_vnni", "asimddp"}.isdisjoint(flags)


def _cpu_info(key: str) -> str:
    """A line about the first processor, as Linux has it; nothing elsewhere."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as file:
            line = next((line for line in file if line.startswith(key)), "")
    except OSError:
        return ""
    return line.partition(":")[2].strip()


def use_threads(count: int) -> None:
    """Compute with so many threads, here and in the processes that are started from here.

    Raises:
        ValueError: see `check_threads`.
    """
    check_threads(count)
    os.environ[THREADS] = str(count)
    if "torch" in sys.modules:  # which has read the variable
        sys.modules["torch"].set_num_threads(count)


def check_threads(count: int) -> None:
    """Refuse numbers of threads that no machine has: some libraries would begin to make them.

    Raises:
        ValueError: less than 1, or more than `MOST_THREADS`.
    """
    if not 1 <= count <= MOST_THREADS:
        raise ValueError(f"threads must be 1 to {MOST_THREADS:,}, found {count:,}")


def threads_for_load() -> int | None:
    """Threads to compute with on a machine that is busy; None if it is not, or the user has said.

    On one with half as much work again as processors, threads that share a product wait for the
    one that is not running.
    """
    crowd = _crowd()
    if os.environ.get(THREADS) or crowd < _BUSY or cpu_count() == 1:
        return None
    return max(1, int(cpu_count() / crowd))


def has_to_share() -> bool:
    """Whether a thread that waits in a loop takes time that something else could use.

    So it is on a machine that is busy, and where the limit of a container counts what its threads
    use, whatever for. ``OMP_WAIT_POLICY=ACTIVE`` says that it never is.
    """
    if os.environ.get(_WAIT_POLICY, "").upper() == "ACTIVE":
        return False
    return _crowd() >= 1 or any(_quotas(Path("/")))


def _crowd() -> float:
    """The load of each processor: what runs or waits to; 0 where the system does not say."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except (AttributeError, OSError):  # Windows
        return 0.0


def wait_passively() -> None:
    """Let threads of torch sleep while they wait for each other, if it is not imported yet."""
    os.environ.setdefault(_WAIT_POLICY, "PASSIVE")


def thread_count() -> int:
    """Threads to compute with: of `use_threads`, of ``OMP_NUM_THREADS``, or one per processor.

    At most `MOST_THREADS`.
    """
    asked = os.environ.get(THREADS, "")
    if not asked.isdecimal():
        return cpu_count()
    is_long = len(asked) > len(str(MOST_THREADS))
    return MOST_THREADS if is_long else min(MOST_THREADS, max(1, int(asked)))


def cpu_count(root: Path = Path("/")) -> int:
    """Processors that this process may use: in a container fewer than the machine has."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux
    there = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, math.ceil(min([there, *_quotas(root)])))


def _quotas(root: Path) -> Iterator[float]:
    """Processors that the control groups of this process allow (Linux, both versions)."""
    with suppress(OSError):
        for line in (
            (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
        ):
            _, controllers, path = line.split(":", 2)
            if controllers and "cpu" not in controllers.split(","):
                continue
            group = Path(path.lstrip("/"))
            for folder in (group, *group.parents):  # a limit holds for all below it
                yield from _quota(root / "sys/fs/cgroup" / controllers / folder)


def _quota(folder: Path) -> Iterator[float]:
    """The limit of one group: microseconds of computing in a period, over its length."""
    with suppress(OSError, ValueError, ZeroDivisionError):
        try:
            used, period = (folder / "cpu.max").read_text(encoding="utf-8").split()
        except FileNotFoundError:
            names = "cpu.cfs_quota_us", "cpu.cfs_period_us"
            used, period = (
                (folder / name).read_text(encoding="utf-8") for name in names
            )
        if int(used) > 0:  # "max", which is no number, and -1 are no limit
            yield int(used) / int(period)
