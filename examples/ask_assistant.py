"""Ask vit-str mcp what an assistant would ask it.

    python examples/ask_assistant.py FOLDER

It lists the files in a folder, and reads the newest as Markdown.
"""

import asyncio
import sys

from mcp import Client, StdioServerParameters


async def main(folder: str) -> int:
    """Print what the tools answer; returns the exit code."""
    server = StdioServerParameters(command="vit-str", args=["mcp", folder])
    async with Client(server) as client:
        listed = await client.call_tool("list_files")
        files: list[str] = (listed.structured_content or {}).get("result", [])
        if not files:
            print(f"{folder}: no pictures or documents", file=sys.stderr)
            return 1
        read = await client.call_tool("read_document", {"path": files[0]})
        answer = read.structured_content or {}
        print(files[0], answer.get("result", read.content), sep="\n\n")
        return 1 if read.is_error else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/ask_assistant.py FOLDER")
    sys.exit(asyncio.run(main(sys.argv[1])))
