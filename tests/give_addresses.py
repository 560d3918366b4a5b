"""Give a release the addresses of its repository: python tests/give_addresses.py URL TAG

The repository names none, and its README links to files beside it, which lead nowhere on the page
of a package index. This changes README.md, pyproject.toml and CITATION.cff in the folder one is in,
before a wheel is made.
"""

import re
import sys
from pathlib import Path

# A link or picture in Markdown, to a file beside the README
_LINK = re.compile(
    r"(?P<picture>!?)\[(?P<text>[^]]*)\]\((?P<path>(?![a-z]+:|#)[^)]+)\)"
)
_CLONE = "`git clone ADDRESS`, with the address of the page that shows it,"
_PROJECT = "[project.optional-dependencies]"
_KEYWORDS = "keywords: "  # of the citation


def readme_with_addresses(text: str, url: str, tag: str) -> str:
    """The README with whole addresses of a tag of the repository at ``url``."""

    def whole(found: re.Match[str]) -> str:
        kind = "raw" if found["picture"] else "blob"
        address = f"{url}/{kind}/{tag}/{found['path']}"
        return f"{found['picture']}[{found['text']}]({address})"

    if _CLONE not in " ".join(text.split()):
        sys.exit(f"README.md: expected {_CLONE}")
    clone = re.compile(r"\s+".join(map(re.escape, _CLONE.split())))
    return _LINK.sub(whole, clone.sub(f"`git clone {url}`,", text))


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


def citation_with_address(text: str, url: str, tag: str) -> str:
    """The citation with the address of the repository, and of this version of it."""
    before, keywords, after = text.partition(_KEYWORDS)
    if not keywords or "repository-code" in text:
        sys.exit(f"CITATION.cff: expected {_KEYWORDS}, and no address before")
    lines = f'repository-code: "{url}"\nurl: "{url}/tree/{tag}"\n'
    return f"{before}{lines}{keywords}{after}"


def main(url: str, tag: str) -> None:
    """Change the files in the folder one is in."""
    for name, change in {
        "README.md": readme_with_addresses,
        "pyproject.toml": project_with_addresses,
        "CITATION.cff": citation_with_address,
    }.items():
        path = Path(name)
        text = path.read_text(encoding="utf-8")
        path.write_text(change(text, url.rstrip("/"), tag), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
