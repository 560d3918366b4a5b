"""How the C library treats the memory that a training run takes and frees in every step."""

import ctypes
import sys

# Names of settings of mallopt(3), with what keeps freed memory.
_M_TRIM_THRESHOLD = -1
_M_TOP_PAD = -2
_M_MMAP_MAX = -4
_MALLOC_SETTINGS = {
    _M_MMAP_MAX: 0,
    _M_TRIM_THRESHOLD: 2**31 - 1,  # bytes, the most that fit
    _M_TOP_PAD: 512 * 2**20,  # bytes
}


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
