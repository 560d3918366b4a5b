"""Which tests the changed files reach: ``pytest --changed --base main``.

A file reaches what imports it, and what imports that. Where Python finds a file otherwise, names
tell: commands of ``vit-str`` that a test runs, fixtures that it asks for, and files that a string
names. What only a computation could tell is not seen, so that all tests run before a release.
"""

import ast
import subprocess
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

_PACKAGES = ("vit_str", "studies")
_COMMANDS = "vit_str/cli.py"  # with the table of commands
_EVERYTHING = ("pyproject.toml",)  # which every test depends on


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--changed`` and what goes with it."""
    parser.addoption(
        "--changed",
        action="store_true",
        help="run what files reach that differ from where this branch left that of --base",
    )
    parser.addoption(
        "--near",
        action="store_true",
        help="with --changed: only what is at most one import away",
    )
    parser.addoption("--base", default="main", metavar="BRANCH", help="default: main")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Find out what is reached."""
    config = session.config
    if config.getoption("changed") and not hasattr(config, "workerinput"):
        try:
            changed = changed_files(config.rootpath, config.getoption("base"))
        except ValueError as error:
            raise pytest.UsageError(str(error)) from error
        reached = reached_tests(config.rootpath, changed)
        if config.getoption("near"):
            reached = {path: count for path, count in reached.items() if count <= 1}
        config.option.reached = reached


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist what is reached."""
    node.workerinput["reached"] = _reached(node.config)


def _reached(config: pytest.Config) -> dict[str, int] | None:
    """What is reached; None without ``--changed``."""
    known = getattr(config, "workerinput", vars(config.option))
    reached: dict[str, int] | None = known.get("reached")
    return reached


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files of tests that no changed file reaches."""
    reached = _reached(config)
    if reached is None or not collection_path.name.startswith("test_"):
        return None
    is_reached = _name_of(collection_path, config) in reached
    return None if is_reached else True


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Run what is nearest to the changed files first."""
    reached = _reached(config)
    if reached is not None:
        items.sort(key=lambda item: reached[_name_of(item.path, config)])


def _name_of(path: Path, config: pytest.Config) -> str:
    return path.relative_to(config.rootpath).as_posix()


def changed_files(root: Path, base: str) -> list[str]:
    """Files that differ from where this branch left ``base``, also those git does not know yet.

    Raises:
        ValueError: this is no repository, or has no such base.
    """
    fork = _git(root, "merge-base", base, "HEAD").strip()
    names = _git(root, "diff", "--name-only", "--no-renames", fork)
    names += _git(root, "ls-files", "--others", "--exclude-standard")
    return sorted(set(names.splitlines()))


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ValueError(f"--changed: git: {done.stderr.strip()}")
    return done.stdout


def reached_tests(root: Path, changed: Iterable[str]) -> dict[str, int]:
    """Files of tests that changed files reach, and over how many imports.

    Args:
        root: of the repository.
        changed: files, relative to it.
    """
    sources = Sources(root)
    tests = [path for path in sources.files if Path(path).name.startswith("test_")]
    changed = list(changed)
    if any(path in _EVERYTHING for path in changed):
        return dict.fromkeys(tests, 0)
    distances = _distances(_users(sources), sources.beginnings(changed))
    return {path: distances[path] for path in tests if path in distances}


def _users(sources: "Sources") -> dict[str, set[str]]:
    """By file: the files that use it."""
    users: dict[str, set[str]] = defaultdict(set)
    for path in sources.files:
        for used in sources.used_by(path):
            users[used].add(path)
    return users


def _distances(
    users: Mapping[str, set[str]], beginnings: Iterable[str]
) -> dict[str, int]:
    """How far every file is from the nearest of some, over those that use it."""
    distances = dict.fromkeys(beginnings, 0)
    waiting = deque(distances)
    while waiting:
        path = waiting.popleft()
        for user in users.get(path, ()):
            if user not in distances:
                distances[user] = distances[path] + 1
                waiting.append(user)
    return distances


class Source:
    """What a file in Python says.

    Attributes:
        path: from the root of the repository.
        tree: its statements.
        strings: in it.
        names: of variables and arguments.
        imports: modules with the name that is taken of each, or nothing; attributes of names too.
        offers: the same of what is imported for type checkers only, and by packages at first use.
    """

    def __init__(self, path: str, tree: ast.AST) -> None:
        self.path = path
        self.tree = tree
        self.strings: set[str] = set()
        self.names: set[str] = set()
        self.imports: set[tuple[str, str]] = set()
        self.offers: set[tuple[str, str]] = set()
        self._walk(tree, self.imports)

    def _walk(self, node: ast.AST, imports: set[tuple[str, str]]) -> None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.strings.add(node.value)
        elif isinstance(node, ast.Name):
            self.names.add(node.id)
        elif isinstance(node, ast.arg):
            self.names.add(node.arg)
        elif isinstance(node, ast.Import):
            imports.update((each.name, "") for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imports.update((node.module, each.name) for each in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            imports.add((node.value.id, node.attr))
        is_for_types = isinstance(node, ast.If) and _is_type_checking(node.test)
        for child in ast.iter_child_nodes(node):
            self._walk(child, self.offers if is_for_types else imports)


def _is_type_checking(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "TYPE_CHECKING"


class Sources:
    """The files in Python of a repository, and which of them each one uses."""

    def __init__(self, root: Path) -> None:
        names = _git(root, "ls-files", "-co", "--exclude-standard", "*.py").splitlines()
        self.files: dict[str, Source] = {}
        for name in names:
            if (root / name).is_file():
                tree = ast.parse((root / name).read_text(encoding="utf-8"))
                self.files[name] = Source(name, tree)

    @cached_property
    def commands(self) -> dict[str, str]:
        """Commands of ``vit-str``, and the file of each."""
        found: dict[str, str] = {}
        if _COMMANDS not in self.files:
            return found
        for node in ast.walk(self.files[_COMMANDS].tree):
            if (
                isinstance(node, ast.Assign)
                and ast.unparse(node.targets[0]) == "COMMANDS"
            ):
                assert isinstance(node.value, ast.Dict)
                for key, value in zip(node.value.keys, node.value.values, strict=True):
                    command = ast.literal_eval(key) if key else ""
                    module = ast.literal_eval(value.args[1])  # type: ignore[attr-defined]
                    found[command] = self._file_of(f"vit_str.{module}") or ""
        return found

    @cached_property
    def _scripts(self) -> list[str]:
        """Programs that tests start, or import by their names alone."""
        folders = ("benchmarks", "data", "examples")
        return [path for path in self.files if path.split("/")[0] in folders]

    def used_by(self, path: str) -> set[str]:
        """Files in Python that a file uses."""
        source = self.files[path]
        used = self._imported(source, source.imports)
        if _is_dynamic(source):
            used |= self._named_modules(source)
        if path.startswith("tests/"):
            for conftest in self._conftests(path):
                used |= self._of_fixtures(conftest, source)
            used |= {
                self.commands[each] for each in source.strings & set(self.commands)
            }
            named = {PurePosixPath(text).name for text in source.strings if text}
            used |= {each for each in self._scripts if named & set(_last_names(each))}
        return used - {path}

    def beginnings(self, changed: Iterable[str]) -> set[str]:
        """Changed files in Python, and those that name changed files of other kinds."""
        found = set(changed)
        for path in changed:
            name = PurePosixPath(path).name
            if name == "conftest.py":
                found.update(each for each in self.files if _is_below(each, path))
            elif not name.endswith(".py"):
                found |= self._that_name(path)
        return found

    def _that_name(self, path: str) -> set[str]:
        """Files that name one which is not in Python; else those that name its folder.

        In the library a name without its ending will do for what is in a folder below.
        """
        name, folder = _last_names(path)
        stem = PurePosixPath(path).stem
        found: set[str] = set()
        for is_test in (True, False):
            direct: set[str] = set()
            of_folder: set[str] = set()
            for user, source in self.files.items():
                if user.startswith("tests/") != is_test:
                    continue
                named = {PurePosixPath(text).name for text in source.strings if text}
                is_above = not is_test and _is_below(path, user)
                if name in named or (is_above and stem in named):
                    direct.add(user)
                elif folder in named:
                    of_folder.add(user)
            found |= direct or of_folder
        return found

    def _file_of(self, module: str) -> str | None:
        """The file of a module; None of one of another library."""
        base = module.replace(".", "/")
        for path in (f"{base}.py", f"{base}/__init__.py"):
            if path in self.files:
                return path
        return None

    def _imported(self, source: Source, imports: Iterable[tuple[str, str]]) -> set[str]:
        """Files of some imports, and those of the packages that they are in."""
        used: set[str] = set()
        for module, name in imports:
            if module.split(".")[0] not in (*_PACKAGES, "tests"):
                beside = PurePosixPath(source.path).with_name(f"{module}.py")
                script = f"benchmarks/{module}.py"
                used |= {each for each in (str(beside), script) if each in self.files}
                continue
            found = self._file_of(f"{module}.{name}") or self._offered(module, name)
            used |= {found} if found else set()
            parts = module.split(".")
            for count in range(1, len(parts)):
                package = self._file_of(".".join(parts[:count]))
                used |= {package} if package else set()
        return used

    def _offered(self, module: str, name: str) -> str | None:
        """The file that a name of a module comes from, which its package may fetch at first use."""
        path = self._file_of(module)
        if path is None or not path.endswith("__init__.py"):
            return path
        for origin, offered in self.files[path].offers:
            if offered == name:
                found = self._file_of(f"{origin}.{name}")
                return found or self._offered(origin, name)
        return path

    def _named_modules(self, source: Source) -> set[str]:
        """Modules that a file names in strings, from its own package or from the first."""
        package = str(PurePosixPath(source.path).parent).replace("/", ".")
        found = set()
        for text in source.strings:
            if text.replace(".", "").replace("_", "").isalnum():
                found |= {
                    self._file_of(f"{package}.{text}"),
                    self._file_of(f"vit_str.{text}"),
                }
        return {each for each in found if each}

    def _conftests(self, path: str) -> list[Source]:
        """Files of fixtures for a file of tests."""
        folders = PurePosixPath(path).parents
        names = [str(folder / "conftest.py") for folder in folders]
        return [self.files[name] for name in names if name in self.files]

    def _of_fixtures(self, conftest: Source, test: Source) -> set[str]:
        """Files that the fixtures use which a file of tests asks for."""
        parts = {
            node.name: Source(conftest.path, node)
            for node in ast.iter_child_nodes(conftest.tree)
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
        }
        wanted = [name for name in parts if name in test.names | test.strings]
        for name, part in parts.items():
            if _is_always_used(part.tree):
                wanted.append(name)
        asked: set[str] = set()
        names: set[str] = set()
        while wanted:
            name = wanted.pop()
            asked.add(name)
            names |= parts[name].names
            wanted += [each for each in parts if each in names and each not in asked]
        bound = {name: (module, name) for module, name in conftest.imports if name}
        return self._imported(
            conftest, [bound[each] for each in names if each in bound]
        )


def _is_dynamic(source: Source) -> bool:
    """Whether a file imports modules whose names are strings; packages offer names in this way."""
    name = PurePosixPath(source.path).name
    is_other = source.path == _COMMANDS or name == "__init__.py"
    return "import_module" in source.names and not is_other


def _is_always_used(node: ast.AST) -> bool:
    """Whether it is a fixture that no test needs to ask for."""
    decorators = getattr(node, "decorator_list", [])
    return any("autouse" in ast.unparse(each) for each in decorators)


def _last_names(path: str) -> tuple[str, str]:
    """The name of a file, and that of its folder."""
    named = PurePosixPath(path)
    return named.name, named.parent.name


def _is_below(path: str, other: str) -> bool:
    """Whether a file is in the folder of another one, or below it."""
    return path.startswith(f"{PurePosixPath(other).parent}/")
