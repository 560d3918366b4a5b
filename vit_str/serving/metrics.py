"""Numbers for Prometheus."""

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable: where processes that serve together keep their numbers."""

_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)


class Metrics:
    """What a server counts."""

    def __init__(self) -> None:
        self._registry = own = CollectorRegistry()
        self.requests = Counter(
            "vit_str_requests", "Requests by outcome.", ["path", "status"], registry=own
        )
        self.seconds = Histogram(
            *("vit_str_request_seconds", "Time from request to answer.", ["path"]),
            buckets=_SECONDS,
            registry=own,
        )
        self.pictures = Counter(
            "vit_str_pictures", "Pictures by outcome.", ["outcome"], registry=own
        )
        self.queue = Gauge(
            *("vit_str_queue", "Pictures in progress: waiting, being decoded or read.", ["lane"]),
            multiprocess_mode="livesum",
            registry=own,
        )
        self.batches = Histogram(
            *("vit_str_batch_pictures", "Pictures that the model read at once."),
            buckets=(1, 2, 4, 8, 16, 32),
            registry=own,
        )

    def text(self) -> bytes:
        """In the format of Prometheus, of all processes together."""
        if FOLDER not in os.environ:
            return generate_latest(self._registry)
        from prometheus_client.multiprocess import MultiProcessCollector

        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)
