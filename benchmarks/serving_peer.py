"""What ``vit-str serve`` is compared with, each in a process of its own.

python serving_peer.py batch LIST_FILE    reads what the list names for every line of input
python serving_peer.py rapidocr           RapidOCR's recognizer behind FastAPI, unbatched
"""

import argparse
import json
import socket
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path


def main() -> None:
    """Be one of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = parser.add_subparsers(dest="kind", required=True)
    kinds.add_parser("batch").add_argument("list", type=Path, metavar="LIST_FILE")
    kinds.add_parser("rapidocr")
    options = parser.parse_args()
    if options.kind == "batch":
        read_in_batches(options.list.read_text(encoding="utf-8").splitlines())
    else:
        serve_rapidocr()


def read_in_batches(files: list[str]) -> None:
    """Print seconds, and seconds of CPU, of reading all files in batches of 32."""
    import vit_str

    reader = vit_str.load("tiny", "cpu", backend="onnx")
    reader.read(files[:32])
    print("ready", flush=True)
    for _ in sys.stdin:
        started = time.perf_counter()
        used = time.process_time()
        for _ in reader.stream(files, 32, workers=1):
            pass
        seconds = time.perf_counter() - started, time.process_time() - used
        print(json.dumps(seconds), flush=True)


def serve_rapidocr() -> None:
    """As its users put it behind FastAPI: a model for all requests, one picture at a time."""
    import uvicorn
    from fastapi import FastAPI, Request
    from rapidocr_worker import start
    from starlette.concurrency import run_in_threadpool

    with redirect_stdout(sys.stderr):
        engine = start(1)
    app = FastAPI()

    def read(body: bytes) -> dict[str, object]:
        found = engine(body, use_det=False, use_cls=False, use_rec=True)
        return {
            "texts": list(found.txts or ()),
            "scores": [float(s) for s in found.scores or ()],
        }

    @app.post("/read")
    async def answer(request: Request) -> dict[str, object]:
        return await run_in_threadpool(read, await request.body())

    listener = socket.create_server(("127.0.0.1", 0), backlog=1000)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(app, http="h11", log_level="error", access_log=False)
    uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    main()
