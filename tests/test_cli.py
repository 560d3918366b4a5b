import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from vit_str import cli
from vit_str.cli import main
from vit_str.reading import Reader
from vit_str.reading.inputs import find_inputs

BAD = {
    "empty.png": b"",
    "text.png": b"hello\n",
    "cut.jpg": b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0",
}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def vit_str(*arguments: str | Path, **options: object) -> "subprocess.CompletedProcess[bytes]":
    """Run the command as a user does, in a process of its own."""
    command = [sys.executable, "-m", "vit_str", *map(os.fspath, arguments)]
    return subprocess.run(command, capture_output=True, check=False, timeout=60, **options)


@pytest.fixture
def model(weights_path: Path) -> list[str]:
    return ["--model", str(weights_path), "--device", "cpu"]


def test_imports_stay_light() -> None:
    heavy = ["torch", "torchvision", "lightning", "albumentations", "matplotlib", "numpy", "PIL"]
    program = f"""
import sys, os
import vit_str, vit_str.cli
from vit_str.cli import main
try:
    main(["--help"])
except SystemExit:
    pass
print([name for name in {heavy} if name in sys.modules], os.environ["NO_ALBUMENTATIONS_UPDATE"])
assert main(["--version"]) == 0
vit_str.load, vit_str.Reader, vit_str.Reading
print([name for name in {heavy[1:5]} if name in sys.modules])
"""
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    lines = output.stdout.decode().splitlines()
    assert lines[0].startswith("usage: vit-str")
    assert lines[-3:-1] == ["[] 1", lines[-2]]
    assert lines[-2].startswith("vit-str ")
    assert lines[-1] == "[]"


def test_text_format(
    model: list[str], words: Path, reader: Reader, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(words), *model]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    rows = [line.split("\t") for line in captured.out.splitlines()]
    files = ["a.png", "b.jpg", "c.webp", "d.tiff", os.path.join("more", "e.bmp")]
    assert [row[0] for row in rows] == [str(words / file) for file in files]
    assert all(len(row) == 3 and 0 <= float(row[2]) <= 1 for row in rows)


def test_jsonl_format(model: list[str], words: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(words), "--format", "jsonl", "--batch-size", "2", *model]) == 0
    readings = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(readings) == 5
    for reading in readings:
        assert list(reading) == ["path", "text", "confidence", "characters"]
        assert "".join(each["character"] for each in reading["characters"]) == reading["text"]
        assert all(0 <= each["confidence"] <= 1 for each in reading["characters"])


def test_boxes_in_jsonl(
    model: list[str], words: Path, reader: Reader, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(words), "--format", "jsonl", *model]) == 0
    plain = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert main(["read", str(words), "--format", "jsonl", "--boxes", *model]) == 0
    readings = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for reading in readings:
        for each in reading["characters"]:
            left, top, right, bottom = each.pop("box")
            assert 0 <= left < right <= 90
            assert 0 <= top < bottom <= 30
    assert readings == plain


@pytest.mark.parametrize("kind", [[], ["--format", "text"], ["--format", "csv"]])
def test_boxes_have_a_place_in_jsonl_only(
    kind: list[str], words: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(words), "--boxes", *kind]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("vit-str read: --boxes needs --format jsonl")
    assert len(captured.err.splitlines()) == 1


def test_csv_format(
    model: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    word_image: Callable[..., Image.Image],
) -> None:
    path = tmp_path / 'with, comma and "quotes".png'
    word_image("x").save(path)
    assert main(["read", str(path), "--format", "csv", *model]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows[0] == ["path", "text", "confidence"]
    assert rows[1][0] == str(path)
    assert 0 <= float(rows[1][2]) <= 1


def test_all_formats_read_the_same(
    model: list[str], words: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = []
    for kind in ("text", "jsonl", "csv"):
        main(["read", str(words), "--format", kind, *model])
        lines = capsys.readouterr().out.splitlines()
        if kind == "text":
            texts.append([line.split("\t")[1] for line in lines])
        elif kind == "jsonl":
            texts.append([json.loads(line)["text"] for line in lines])
        else:
            texts.append([row[1] for row in csv.reader(lines[1:])])
    assert texts[0] == texts[1] == texts[2]


def test_bad_images_are_named_and_the_others_read(
    model: list[str], words: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file, data in BAD.items():
        (words / file).write_bytes(data)
    missing = words / "missing.png"
    assert main(["read", str(words), str(missing), "zz*.png", *model]) == 1
    captured = capsys.readouterr()
    assert len(captured.out.splitlines()) == 5
    lines = captured.err.splitlines()
    assert len(lines) == 5
    assert lines[0] == f"vit-str: {missing}: no such file; check the path"
    assert lines[1] == "vit-str: zz*.png: matches no file; check the pattern"
    for file in BAD:
        assert sum(line.startswith(f"vit-str: {words / file}: ") for line in lines) == 1


@pytest.mark.parametrize("argument", ["missing.png", "*.nothing", "empty folder"])
def test_nothing_to_read(
    argument: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty folder").mkdir()
    assert main(["read", argument]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert captured.err.startswith(f"vit-str: {argument}: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["reed"],
        ["read"],
        ["read", "x.png", "--batch-size", "0"],
        ["read", "x.png", "--workers", "two"],
        ["read", "x.png", "--format", "xml"],
        ["read", "x.png", "--form", "csv"],
        ["evaluate"],
        ["evaluate", "x", "--format", "csv"],
    ],
)
def test_wrong_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_no_command_shows_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    captured = capsys.readouterr()
    assert "COMMAND" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize("command", ["read", "evaluate"])
@pytest.mark.parametrize(
    ("options", "trouble"),
    [
        (["--model", "huge"], "no model 'huge'"),
        (["--model", "missing.safetensors"], "no such file"),
        (["--model", "cut.safetensors"], "cut short, 9,000 of"),
        (["--model", "png.safetensors"], "not a safetensors file"),
        (["--model", "whole.safetensors", "--device", "cuda:99"], "is not there"),
        (["--model", "whole.safetensors", "--device", "tpu"], "unknown device 'tpu'"),
        (["--model", "whole.safetensors", "--care", "fast"], "TransformerDecoder reads in one way"),
    ],
)
def test_wrong_weights_and_devices(
    command: str,
    options: list[str],
    trouble: str,
    weights_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    word_image: Callable[..., Image.Image],
) -> None:
    monkeypatch.chdir(tmp_path)
    word_image("x").save("x.png")
    Path("labels.tsv").write_text("x.png\tx\n")
    data = weights_path.read_bytes()
    Path("whole.safetensors").write_bytes(data)
    Path("cut.safetensors").write_bytes(data[:9000])
    Path("png.safetensors").write_bytes(Path("x.png").read_bytes())
    assert main([command, "x.png" if command == "read" else ".", *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert trouble in captured.err


def test_standard_input(
    model: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    word_image: Callable[..., Image.Image],
) -> None:
    image = io.BytesIO()
    word_image("x").save(image, "PNG")
    for data, code in ((image.getvalue(), 0), (b"", 1), (b"no image", 1)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert main(["read", "-", *model]) == code
        captured = capsys.readouterr()
        assert captured.out.startswith("-\t" if code == 0 else "")
        assert captured.err.startswith("vit-str: standard input: " if code else "")
        assert captured.err.count("\n") == code


@pytest.mark.parametrize("closed", [True, False])
def test_standard_input_that_holds_no_image(
    closed: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None if closed else Terminal())
    assert main(["read", "-"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_large_header_leaks_no_warning(model: list[str], tmp_path: Path) -> None:
    path = tmp_path / "large.pgm"
    path.write_bytes(b"P5 10000 10000 255\n" + bytes(10))
    answer = vit_str("read", path, *model)
    assert answer.returncode == 1
    assert answer.stderr.decode().splitlines() == [
        f"vit-str: {path}: larger than 89 million pixels; cut out the word or scale it down"
    ]


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such file names")
def test_file_names_of_any_bytes(
    model: list[str],
    tmp_path: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
    word_image: Callable[..., Image.Image],
) -> None:
    folder = tmp_path / "names"
    folder.mkdir()
    names = [b"caf\xe9.png", b"new\nline.png", "한글.png".encode()]
    paths = [os.path.join(os.fsencode(folder), name) for name in names]
    try:
        for path in paths:
            Path(os.fsdecode(path)).touch()
    except OSError:
        pytest.skip("this file system wants UTF-8")
    assert main(["read", str(folder), *model]) == 1
    assert capfdbinary.readouterr().err.count(b"\n") == 3
    for path in paths:
        word_image("x").save(os.fsdecode(path))
    assert main(["read", str(folder), *model]) == 0
    text = capfdbinary.readouterr().out
    assert text.count(b"\n") == 3
    for path in paths:
        assert path.replace(b"\n", b"\\n") + b"\t" in text
    assert main(["read", str(folder), "--format", "jsonl", *model]) == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert sorted(os.fsencode(json.loads(line)["path"]) for line in lines) == sorted(paths)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk() -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "vit_str", "--version"]
        answer = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert answer.returncode == 1
    assert answer.stderr == b"vit-str: cannot write the output: No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_nobody_reads_the_output() -> None:
    reading_end, writing_end = os.pipe()
    os.close(reading_end)
    command = [sys.executable, "-m", "vit_str", "--version"]
    answer = subprocess.run(command, stdout=writing_end, stderr=subprocess.PIPE, check=False)
    os.close(writing_end)
    assert (answer.returncode, answer.stderr) == (141, b"")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c() -> None:
    program = """
import sys, time
from vit_str import cli
def read_for_a_minute(arguments):
    print("started", flush=True)
    time.sleep(60)
cli.COMMANDS["read"] = cli.Command("", read_for_a_minute)
sys.exit(cli.main(["read", "x.png"]))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"started\n"
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert (process.returncode, error) == (130, b"vit-str read: interrupted\n")


def test_interrupted_while_loading(
    words: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("vit_str.reading.reader.load", interrupt)
    assert main(["read", str(words)]) == 130
    assert capsys.readouterr().err == "vit-str read: interrupted\n"


def test_find_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("b/deep").mkdir(parents=True)
    for file in ("b/2.PNG", "b/1.jpg", "b/deep/0.tif", "b/._1.jpg", "b/notes.txt", "[1].png", "x"):
        Path(file).touch()
    inside = [os.path.join("b", file) for file in ("1.jpg", "2.PNG", os.path.join("deep", "0.tif"))]
    assert find_inputs(["b"]).paths == inside
    assert find_inputs(["b/*"]).paths == [inside[0], inside[1], inside[2], "b/notes.txt"]
    assert find_inputs(["**/*.tif", "x", "-", "[1].png"]).paths == [inside[2], "x", "-", "[1].png"]
    assert find_inputs(["b", "b"]).paths == inside * 2


def test_evaluate(
    model: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    word_image: Callable[..., Image.Image],
) -> None:
    word_image("x").save(tmp_path / "x.png")
    (tmp_path / "labels.tsv").write_text("x.png\tx\n")
    assert main(["evaluate", str(tmp_path), *model]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out.split()[:3] == ["set", "words", "word"]
    assert main(["evaluate", str(tmp_path), "--json", *model]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["sets"][tmp_path.name] == values["overall"]
    assert values["overall"]["n"] == 1
    assert len(values["overall"]["interval"]["word_accuracy_36"]) == 2


def test_evaluate_with_missing_and_damaged_images(
    model: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.png").touch()
    (tmp_path / "labels.tsv").write_text("bad.png\tx\nmissing.png\ty\n")
    assert main(["evaluate", str(tmp_path), "--json", *model]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["overall"]["word_accuracy_36"] == 0
    assert captured.err.splitlines() == [
        f"vit-str: {tmp_path / 'missing.png'}: missing",
        f"vit-str: {tmp_path / 'bad.png'}: empty, 0 bytes; save or download it again",
    ]


def test_evaluate_without_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(tmp_path)]) == 2
    assert "labels.tsv: no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ValueError("two\nlines"), 2, "two lines"),
        (
            ModuleNotFoundError("", name="lightning.x"),
            2,
            'needs lightning.x, run: pip install "vit-str[train]"',
        ),
        (FileNotFoundError(2, "No such file", "x.png"), 1, "x.png: No such file"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_errors_are_one_line(
    error: BaseException,
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_: object) -> int:
        raise error

    monkeypatch.setitem(cli.COMMANDS, "train", cli.Command("", fail, "train"))
    assert main(["train"]) == code
    assert capsys.readouterr().err == f"vit-str train: {message}\n"


def test_a_missing_module_of_ours_is_no_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> int:
        raise ModuleNotFoundError("", name="vit_str.gone")

    monkeypatch.setitem(cli.COMMANDS, "train", cli.Command("", fail, "train"))
    with pytest.raises(ModuleNotFoundError):
        main(["train"])


@pytest.mark.parametrize("command", sorted(cli.COMMANDS))
def test_help_of_every_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    assert f"vit-str {command}" in capsys.readouterr().out


def test_progress_shows_on_a_terminal_when_it_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from vit_str import console

    monkeypatch.setattr("tqdm.tqdm.monitor_interval", 0)  # no thread of its own
    for slow in (False, True):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        with console.Progress(3) as progress:
            if slow and progress._bar is not None:
                progress._bar.start_t -= 5
                progress._bar.last_print_t -= 5
            progress.advance()
            progress.complain("trouble")
        assert ("1/3" in terminal.getvalue()) == slow
        assert "vit-str: trouble\n" in terminal.getvalue()
    monkeypatch.setattr(sys, "stdout", Terminal())  # the results are progress enough there
    assert console.Progress(3)._bar is None
