"""Whether the code of a study is still that which made a result."""

import ast
import hashlib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import vit_str

_PACKAGE = Path(vit_str.__file__).parent

# Changing how studies are run, drawn and told does not change what they found.
_FRAME = {
    *("vit_str", "vit_str.studies"),
    *(
        f"vit_str.studies.{name}"
        for name in ("drawing", "result", "runner", "sources", "study", "worker")
    ),
}
_TELLING = ("vit_str.cli", "vit_str.analysis.figures", "vit_str.analysis.report")
# A study may say its claim, its experiment and its correction better afterwards without a new run.
# Its expectation is not among them: what was expected is said before the run or not at all.
_TEXTS = {"posts", "claim", "experiment", "correction", "revised"}
_WEIGHTS = "vit_str.weights"


def used_files() -> tuple[str, ...]:
    """Files of this package that this process has loaded and that numbers depend on.

    Their paths are relative to the package. Where weights were loaded, those that come with the
    package are among them.
    """
    names = sorted(name for name in sys.modules if name.partition(".")[0] == "vit_str")
    files = [
        Path(str(sys.modules[name].__file__))
        for name in names
        if name not in _FRAME and not name.startswith(_TELLING)
    ]
    if _WEIGHTS in sys.modules:
        files += sorted((_PACKAGE / "bundled").glob("*.safetensors"))
    # Tests run studies that are not in the package.
    return tuple(path.relative_to(_PACKAGE).as_posix() for path in files if _is_ours(path))


def digest(files: Sequence[str]) -> str:
    """What files of the package say, as a short number; comments and docstrings are left out.

    A file that is gone counts as changed.
    """
    found = hashlib.sha256()
    for name in files:
        path = _PACKAGE / name
        data = path.read_bytes() if path.exists() else b"gone"
        found.update(_code(data) if path.suffix == ".py" else data)
    return found.hexdigest()[:16]


def _is_ours(path: Path) -> bool:
    return path.is_relative_to(_PACKAGE)


def _code(source: bytes) -> bytes:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = list(_without_words(node.body, isinstance(node, ast.ClassDef)))
    return ast.dump(tree).encode()


def _without_words(body: Iterable[ast.stmt], is_class: bool) -> Iterable[ast.stmt]:
    for statement in body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not is_text and not (is_class and _names(statement) & _TEXTS):
            yield statement


def _names(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.AnnAssign):
        targets: list[ast.expr] = [statement.target]
    else:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}
