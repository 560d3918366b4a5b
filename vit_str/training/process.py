"""Settings of a process before it trains: warnings, number format, memory."""

import ctypes
import logging
import os
import sys
import warnings

import torch

from vit_str.files import default_cache

_IGNORED_WARNINGS = (
    "The '.*_dataloader' does not have many workers",
    "GPU available but not used",
    "LightningCLI's args parameter",
    "The dirpath has changed",  # a run whose folder was moved
    ".*LeafSpec.* is deprecated",  # Lightning's use of torch
)
_SWITCH_INTERVAL = 0.0002  # seconds, a twenty-fifth of the usual
# Names of settings of mallopt(3), with what keeps freed memory.
_M_TRIM_THRESHOLD = -1
_M_TOP_PAD = -2
_M_MMAP_MAX = -4
_MALLOC_SETTINGS = {
    _M_MMAP_MAX: 0,
    _M_TRIM_THRESHOLD: 2**31 - 1,  # bytes, the most that fit
    _M_TOP_PAD: 512 * 2**20,  # bytes
}


def prepare_process() -> None:
    """Set all of this for the process, as ``vit-str train`` does."""
    keep_freed_memory()
    if torch.cuda.is_available():
        # On a CPU it would hold for all that this process does later.
        torch.set_float32_matmul_precision("medium")
        # The thread that draws words gives way sooner to the one that trains, which asks for its
        # turn after every operation that it gives to the GPU.
        sys.setswitchinterval(_SWITCH_INTERVAL)
        keep_compiled()
    for message in _IGNORED_WARNINGS:
        warnings.filterwarnings("ignore", message)
    quiet_lightning()


def keep_compiled() -> None:
    """Let torch keep what it compiles beside drawn fonts: a folder for temporary files is emptied.

    A folder that ``TORCHINDUCTOR_CACHE_DIR`` in the environment names stays.
    """
    if "TORCHINDUCTOR_CACHE_DIR" in os.environ:
        return
    try:
        folder = default_cache() / "compiled"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError):
        return
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder)


def quiet_lightning() -> None:
    """Print only warnings of Lightning; what matters of the rest is said here."""
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.WARNING)


def keep_freed_memory() -> bool:
    """Let glibc keep freed memory instead of giving it back to the system.

    Every step takes and frees the same large tensors; fresh pages for each of them cost page
    faults, on a busy machine more than the arithmetic. Returns whether it could be set: only
    glibc knows these settings (mallopt(3)).
    """
    if sys.platform != "linux":
        return False
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return False
    outcomes = [mallopt(name, value) for name, value in _MALLOC_SETTINGS.items()]
    return all(outcome == 1 for outcome in outcomes)
