r"""Ask a server for a document, with types.

    python examples/ask_service.py scan.pdf

Start the server, and make the client, a folder ``reading_client``, once:

    vit-str serve &
    openapi-python-client generate --url http://127.0.0.1:8000/openapi.json --meta none \
        --output-path reading_client

A client of another language is made of the same description.
"""

import sys
from io import BytesIO
from pathlib import Path

from httpx import Timeout
from reading_client import Client
from reading_client.api.default import read_document
from reading_client.models import DocumentRecord, Error, ReadDocumentFilesBody
from reading_client.types import File


def main(path: str, url: str = "http://127.0.0.1:8000") -> int:
    """Print headings and tables of a document; returns the exit code."""
    content = Path(path).read_bytes()
    upload = File(payload=BytesIO(content), file_name=Path(path).name)
    body = ReadDocumentFilesBody(files=[upload])
    with Client(base_url=url, timeout=Timeout(120)) as client:
        found = read_document.sync(client=client, body=body)
    if not isinstance(found, DocumentRecord):
        reason = found.error if isinstance(found, Error) else "see the server's log"
        print(reason, file=sys.stderr)
        return 1
    failures = 0
    for page in found.pages:
        if page.error:
            failures += 1
            print(f"page {page.page}: {page.error}", file=sys.stderr)
        for block in page.structure:
            if block.role in ("heading", "table"):
                print(f"{page.page}\t{block.role}\t{block.text}")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python examples/ask_service.py FILE [URL]")
    sys.exit(main(*sys.argv[1:]))
