"""Ray speaks of its own affairs on the terminal; here it does not."""

import io
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress

ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",  # it would report to its makers over the network
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what Ray prints away; ``sys.stderr`` still goes where it went.

    Messages of Ray's own processes come to standard output from a thread, those of its native
    part to file descriptor 2; neither has a switch.
    """
    os.environ.update({name: os.environ.get(name, value) for name, value in ENVIRONMENT.items()})
    with warnings.catch_warnings(), open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        warnings.filterwarnings("ignore", module=r"ray(\.|$)")
        with _native_errors_to(nowhere.fileno()):
            yield


def quiet_loggers() -> None:
    """Take Ray's loggers from the terminal; to be called after ``import ray.data``."""
    for name in ("ray", "ray.data"):
        logger = logging.getLogger(name)
        for handler in logger.handlers[:]:
            if isinstance(handler, logging.StreamHandler):
                logger.removeHandler(handler)


@contextmanager
def _native_errors_to(descriptor: int) -> Iterator[None]:
    try:
        saved = os.dup(2)
    except OSError:  # standard error is closed
        yield
        return
    before, own = sys.stderr, None
    with suppress(OSError, ValueError, AttributeError):
        if before.fileno() == 2:
            own = os.fdopen(os.dup(saved), "w", buffering=1, encoding=before.encoding)
            own.reconfigure(errors=before.errors)
    sys.stderr = own or before
    os.dup2(descriptor, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        sys.stderr = before
        if isinstance(own, io.TextIOWrapper):
            own.close()
