"""A static page that reads in the browser: the model, onnxruntime-web and the files of the page."""

import base64
import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from vit_str.decoding.prior import TABLE
from vit_str.engines.weights_contents import resolve
from vit_str.export.folder import write_exported
from vit_str.files import folder_to_fill
from vit_str.pages.arrange.network import BUNDLED, ArrangerNetwork
from vit_str.pages.arrange.scores import RELATIONS
from vit_str.pages.find.detection import detector_file
from vit_str.scripts.registry import choose_weights, languages_of, lines_of
from vit_str.torch_runtime.weights_file import WeightsFile, load_weights

PAGE = Path(__file__).parents[1] / "web"
RUNTIME = "onnxruntime-web@1.30.0"
RUNTIME_FILES = ("ort.wasm.bundle.min.mjs", "ort-wasm-simd-threaded.wasm")
_DIGEST = "q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ=="
# Of the page; another index.html is written
_OF_THE_SERVER = ("index.html", "server.js")
_HINT = (
    f"give the folder with {' and '.join(RUNTIME_FILES)} as --runtime, such as "
    "node_modules/onnxruntime-web/dist"
)


def write_page(
    weights: WeightsFile,
    out: Path,
    int8: bool = False,
    runtime: Path | None = None,
    detector: Sequence[Path] = (),
    model: str | Path | None = None,
) -> None:
    """Write a page that reads with a model, for any server of static files.

    Args:
        weights: the model.
        out: the folder to make.
        int8: see `write_exported`.
        runtime: the folder with onnxruntime-web; from npm if None.
        detector: files of `detector_files`, with which the page reads whole pictures.
        model: the name or path of the weights, which may stand for weights of other scripts too;
            the page gets them when one of their languages is asked for.
    """
    with folder_to_fill(out, "--web"):
        _write_page(weights, out, int8, _runtime(runtime), detector, model)


def _write_page(
    weights: WeightsFile,
    out: Path,
    int8: bool,
    runtime: Mapping[str, bytes],
    detector: Sequence[Path],
    model: str | Path | None,
) -> None:
    write_exported(weights, out / "model", int8)
    shutil.copy(TABLE, out / "model")
    (out / "runtime").mkdir()
    for name, content in runtime.items():
        (out / "runtime" / name).write_bytes(content)
    _copy_page(out / "web")
    if detector:
        _add_pages(weights, out, int8, detector)
    others = choose_weights(model).others if model is not None else ()
    for other in others:
        _add_other_scripts(other, out, int8, has_pages=bool(detector))
    reader = "pages" if detector else "browser"
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    named = f'name="reader" content="{reader}"'
    page = page.replace('name="reader" content="server"', named)
    codes = [f"{code}:{each.stem}" for each in others for code in languages_of(each)]
    languages = f'name="other-languages" content="{" ".join(codes)}"'
    page = page.replace('name="other-languages" content=""', languages)
    (out / "index.html").write_text(page, encoding="utf-8")


def _copy_page(folder: Path) -> None:
    """The files of the page but those that need a server."""
    for file in PAGE.rglob("*"):
        target = folder / file.relative_to(PAGE)
        if file.is_file() and file.name not in _OF_THE_SERVER:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)


def _add_pages(
    weights: WeightsFile,
    out: Path,
    int8: bool,
    detector: Sequence[Path],
) -> None:
    """What finds and arranges lines, and a reader of them if the model of the page is none."""
    (out / "detector").mkdir()
    for file in detector:
        shutil.copy(file, out / "detector")
    (out / "arranger").mkdir()
    shutil.copy(BUNDLED, out / "arranger")
    # onnxruntime-web does not say what metadata a graph has
    about = {"roles": ArrangerNetwork(BUNDLED, threads=1).roles, "relations": RELATIONS}
    (out / "arranger" / "arranger.json").write_text(json.dumps(about))
    if not weights.preprocessing.width_step:
        write_exported(load_weights(resolve("line")), out / "lines", int8)


def _add_other_scripts(other: Path, out: Path, int8: bool, has_pages: bool) -> None:
    """Weights of other scripts, and what reads their lines on pages."""
    folder = out / "other" / other.stem
    weights = load_weights(other)
    write_exported(weights, folder / "model", int8)
    if has_pages and not weights.preprocessing.width_step:
        lines = load_weights(resolve(lines_of(other)))
        write_exported(lines, folder / "lines", int8)


def detector_files() -> list[Path]:
    """The network of the installed ``rapidocr`` that finds lines, and its licenses; else none."""
    network = detector_file()
    if network is None:
        return []
    try:
        package = distribution("rapidocr")
    except PackageNotFoundError:  # without licenses it is not to be given away
        return []
    files = [Path(str(package.locate_file(file))) for file in package.files or ()]
    return [network, *(file for file in files if "LICENSE" in file.name)]


def _runtime(folder: Path | None) -> dict[str, bytes]:
    """The files of onnxruntime-web."""
    if folder is not None:
        missing = [name for name in RUNTIME_FILES if not (folder / name).is_file()]
        if missing:
            raise ValueError(f"--runtime {folder}: has no {missing[0]}; {_HINT}")
        return {name: (folder / name).read_bytes() for name in RUNTIME_FILES}
    with tempfile.TemporaryDirectory() as temporary, _open(Path(temporary)) as archive:
        found = {
            name: archive.extractfile(f"package/dist/{name}") for name in RUNTIME_FILES
        }
        return {name: file.read() for name, file in found.items() if file}


def _open(folder: Path) -> tarfile.TarFile:
    """The package from npm, whose content is checked."""
    npm = shutil.which("npm")
    if npm is None:
        raise ValueError(
            f"--web takes {RUNTIME} from npm, which is not installed; or {_HINT}"
        )
    command = [npm, "pack", "--loglevel=error", "--pack-destination", str(folder)]
    command += ["--fetch-retries=1", RUNTIME]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    package = next(folder.glob("*.tgz"), None)
    if done.returncode or package is None:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        reason = said[0].strip() if said else f"exit code {done.returncode}"
        raise ValueError(f"npm cannot get {RUNTIME} ({reason}); or {_HINT}")
    digest = base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode()
    if digest != _DIGEST:
        raise ValueError(
            f"npm gave another {RUNTIME} than this version of vit-str knows; {_HINT}"
        )
    return tarfile.open(package)
