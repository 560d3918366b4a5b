"""Give a release the addresses of its repository: python tests/give_addresses.py URL TAG

The repository names none, and its README links to files beside it, which lead nowhere on the page
of a package index. This changes README.md and pyproject.toml in the folder one is in, before a
wheel is made.
"""

import re
import sys
from pathlib import Path

# A link or picture in Markdown, to a file beside the README
_LINK = re.compile(
    r"(?P<picture>!?)\[(?P<text>[^]]*)\]\((?P<path>(?![a-z]+:|#)[^)]+)\)"
)
_PROJECT = "[project.optional-dependencies]"


def readme_with_addresses(text: str, url: str, tag: str) -> str:
    """The README with whole addresses of a tag of the repository at ``url``."""

    def whole(found: re.Match[str]) -> str:
        kind = "raw" if found["picture"] else "blob"
        address = f"{url}/{kind}/{tag}/{found['path']}"
        return f"{found['picture']}[{found['text']}]({address})"

    return _LINK.sub(whole, text)


def project_with_addresses(text: str, url: str, tag: str) -> str:
    """The description of the project with the addresses of its repository."""
    pages = {
        "Homepage": url,
        "Documentation": f"{url}/tree/{tag}/docs",
        "Changelog": f"{url}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{url}/issues",
    }
    lines = "".join(f'{name} = "{page}"\n' for name, page in pages.items())
    before, section, after = text.partition(_PROJECT)
    if not section or "[project.urls]" in text:
        sys.exit(f"pyproject.toml: expected {_PROJECT}, and no addresses before")
    return f"{before}[project.urls]\n{lines}\n{section}{after}"


def main(url: str, tag: str) -> None:
    """Change both files in the folder one is in."""
    for name, change in {
        "README.md": readme_with_addresses,
        "pyproject.toml": project_with_addresses,
    }.items():
        path = Path(name)
        text = path.read_text(encoding="utf-8")
        path.write_text(change(text, url.rstrip("/"), tag), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
