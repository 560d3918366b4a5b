"""Memory of CPU training."""

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_MAX = -1, -2, -4


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
    settings = ((_M_MMAP_MAX, 0), (_M_TRIM_THRESHOLD, 2**31 - 1), (_M_TOP_PAD, 512 * 2**20))
    outcomes = [mallopt(name, value) for name, value in settings]
    return all(outcome == 1 for outcome in outcomes)
