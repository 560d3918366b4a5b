import hashlib
import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import vit_str
from vit_str import cli
from vit_str.cli import main
from vit_str.engines.weights_contents import BUNDLED
from vit_str.machine import install_hint

ROOT = Path(__file__).parents[1]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_imports_stay_light_and_help_has_examples():
    program = """
import contextlib, io, os, sys
import vit_str
from vit_str import cli
heavy = ["torch", "torchvision", "lightning", "albumentations", "matplotlib", "numpy", "PIL"]
more = ["jsonargparse", "yaml", "onnxruntime"]
for words in (["data", "convert"], *([name] for name in cli.COMMANDS)):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        assert cli.main([*words, "--help"]) == 0
    assert f"vit-str {' '.join(words)}" in out.getvalue(), words
    assert "example" in out.getvalue() or len(words) > 1, words
print([name for name in heavy + more if name in sys.modules], os.environ["ORT_DISABLE_TELEMETRY"])
vit_str.load, vit_str.Reader, vit_str.Reading
print([name for name in heavy[1:5] if name in sys.modules])
"""
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True
    )
    assert output.stdout == b"[] 1\n[]\n"


def test_to_import_the_package_takes_few_modules():
    """And so some milliseconds: the import of typing alone takes four times as long as all else."""
    program = """
import sys
before = {*sys.modules}
import vit_str
print(*sorted({*sys.modules} - before))
"""
    output = subprocess.run(
        [sys.executable, "-S", "-c", program],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    names = {*output.stdout.split()}
    assert "vit_str" in names
    assert not names & {"typing", "re", "enum", "dataclasses", "functools", "numpy"}


def test_no_command_shows_help(run):
    code, out, err = run()
    assert (code, out) == (2, "")
    assert "COMMAND" in err


@pytest.mark.parametrize("command", ["read", "evaluate"])
@pytest.mark.parametrize(
    ("options", "trouble"),
    [
        (["--model", "huge"], "no model 'huge'"),
        (["--model", "missing.safetensors"], "no such file"),
        (
            ["--model", "cut.safetensors"],
            "damaged (Error while deserializing header: incomplete",
        ),
        (
            ["--model", "png.safetensors"],
            "damaged (Error while deserializing header: header too",
        ),
        (["--model", "whole.safetensors", "--device", "cuda:99"], "is not there"),
        (["--model", "whole.safetensors", "--device", "tpu"], "unknown device 'tpu'"),
        (["--model", "whole.safetensors", "--effort", "fast"], "reads in one way"),
    ],
)
def test_wrong_weights_and_devices(
    command, options, trouble, weights_path, tmp_path, monkeypatch, run, word_image
):
    monkeypatch.chdir(tmp_path)
    word_image("x").save("x.png")
    Path("labels.tsv").write_text("x.png\tx\n")
    data = weights_path.read_bytes()
    Path("whole.safetensors").write_bytes(data)
    Path("cut.safetensors").write_bytes(data[:9000])
    Path("png.safetensors").write_bytes(Path("x.png").read_bytes())
    code, out, err = run(command, "x.png" if command == "read" else ".", *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert trouble in err


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="needs a device that is full"
)
def test_a_full_disk():
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "vit_str", "--version"]
        answer = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert answer.returncode == 1
    assert answer.stderr == b"vit-str: No space left on device\n"


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="needs a device that is full"
)
def test_work_goes_on_where_warnings_cannot_be_printed():
    """As into a log on a full disk: a missing file must not end the reading of others."""
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "vit_str", "read", "missing.png"]
        answer = subprocess.run(
            [*command, "data/samples/images/word-01.png"],
            stdout=subprocess.PIPE,
            stderr=full,
            check=False,
            cwd=ROOT,
        )
    assert answer.returncode == 1
    assert b"word-01.png\tMuseum\t" in answer.stdout


def test_too_little_memory_is_told_in_a_line(monkeypatch, run):
    def too_large(*_):
        raise MemoryError

    monkeypatch.setattr(cli, "_run", too_large)
    code, _, err = run("read", "a.png")
    assert (code, err.count("\n")) == (1, 1)
    assert "not enough memory" in err


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_nobody_reads_the_output():
    reading_end, writing_end = os.pipe()
    os.close(reading_end)
    command = [sys.executable, "-m", "vit_str", "--version"]
    answer = subprocess.run(
        command, stdout=writing_end, stderr=subprocess.PIPE, check=False
    )
    os.close(writing_end)
    assert (answer.returncode, answer.stderr) == (141, b"")


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX")
@pytest.mark.parametrize(
    "command", ["--version", "read data/samples/images/word-01.png"]
)
def test_the_output_is_closed(command):
    line = f'exec "{sys.executable}" -m vit_str {command} >&-'
    answer = subprocess.run(
        ["sh", "-c", line], stderr=subprocess.PIPE, check=False, cwd=ROOT
    )
    assert answer.returncode == 1
    assert answer.stderr.decode().endswith(
        "standard output is closed; redirect it to a file\n"
    )
    assert answer.stderr.count(b"\n") == 1


@pytest.mark.parametrize("place", ["before", "behind"])
@pytest.mark.parametrize(
    ("command", "subcommand"),
    [
        ("data", ["inspect", "missing"]),
        ("analyze", ["distance", "missing", "--data", "missing", "--out", "out"]),
    ],
)
def test_subcommands_take_threads(place, command, subcommand, monkeypatch):
    asked = []
    monkeypatch.setattr(cli, "use_threads", asked.append)
    threads = ["--threads", "3"]
    arguments = (
        [*threads, *subcommand] if place == "before" else [*subcommand, *threads]
    )
    assert main([command, *arguments]) == 2
    assert asked == [3]


@pytest.mark.parametrize("policy", [None, "ACTIVE"])
def test_a_busy_machine_is_told_and_threads_wait_asleep(policy, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(cli, "threads_for_load", lambda: 1)
    monkeypatch.setattr(cli, "use_threads", asked.append)
    monkeypatch.setenv("OMP_WAIT_POLICY", policy or "")
    if policy is None:
        monkeypatch.delenv("OMP_WAIT_POLICY")
    assert main(["data", "inspect", "missing"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    hint = "this machine is busy, threads that compute: 1 (--threads N)"
    assert first == f"vit-str data: {hint}"
    assert "missing: no such file" in second
    assert asked == [1]
    assert os.environ["OMP_WAIT_POLICY"] == (policy or "PASSIVE")
    main(["data", "inspect", "missing", "--threads", "2"])
    assert hint not in capsys.readouterr().err
    assert asked == [1, 2]


def test_what_the_package_shows():
    shown = [name for name in dir(vit_str) if not name.startswith("_")]
    assert {"load", "load_page", "Reader"} <= {*shown} and not {
        "os",
        "TYPE_CHECKING",
    } & {*shown}


def test_nothing_says_to_install_from_an_index():
    """No index has this package: hints say where it came from, the documentation is a checkout."""
    hint = re.compile(r"pip install\s+(-e )?[\"']?vit-str\[")
    paths = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*")]
    paths += [*ROOT.glob("vit_str/**/*.py")]
    wrong = [
        p for p in paths if p.is_file() and hint.search(p.read_text(encoding="utf-8"))
    ]
    assert not wrong and len(paths) > 200


ENDED = """
import signal, sys, time
from vit_str import cli
from vit_str.files import write_atomically
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # a test may run under nohup
def read_for_a_minute(name, arguments):
    with write_atomically(sys.argv[1]) as file:
        file.write_text("half")
        print("started", flush=True)
        time.sleep(60)
cli._run = read_for_a_minute
sys.exit(cli.main(["read", "x.png"]))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "code", "message"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "ended by SIGTERM"),
        (signal.SIGHUP, 129, "ended by SIGHUP"),
    ],
)
def test_a_signal_ends_a_command_with_nothing_half_written(
    number, code, message, tmp_path
):
    with subprocess.Popen(
        [sys.executable, "-c", ENDED, str(tmp_path / "out.txt")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        process.send_signal(number)
        _, error = process.communicate(timeout=30)
    assert (process.returncode, error.decode()) == (
        code,
        f"vit-str read: {message}\n",
    )
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ValueError("two\nlines"), 2, "two lines"),
        (
            ModuleNotFoundError("", name="lightning.x"),
            2,
            f"needs lightning.x, run: {install_hint('train')}",
        ),
        (FileNotFoundError(2, "No such file", "x.png"), 1, "x.png: No such file"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_errors_are_one_line(error, code, message, monkeypatch, run):
    def fail(_):
        raise error

    monkeypatch.setattr(cli, "_train", fail)
    assert run("train") == (code, "", f"vit-str train: {message}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["analyze", "distance", "tiny", "--out", ""],
        ["read", "word.png", "--out="],
        ["export", "tiny", "--web", ""],
        ["train", "--config", "tiny.yaml", "--folder", ""],
        ["read", "word.png", "--files-from", ""],
    ],
)
def test_paths_without_a_name_are_refused(arguments, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "has an empty name" in err
    assert os.listdir(tmp_path) == []


def test_a_missing_module_of_ours_is_no_missing_extra(monkeypatch):
    def fail(_):
        raise ModuleNotFoundError("", name="vit_str.gone")

    monkeypatch.setattr(cli, "_train", fail)
    with pytest.raises(ModuleNotFoundError):
        main(["train"])


def test_progress_shows_on_a_terminal_when_it_takes_long(monkeypatch):
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
            progress.warn("trouble")
        assert ("1/3" in terminal.getvalue()) == slow
        assert "vit-str: trouble\n" in terminal.getvalue()
    # The results are progress enough there
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert console.Progress(3)._bar is None


def test_progress_counts_what_is_asked_for_from_where_it_was(monkeypatch):
    from vit_str import console

    monkeypatch.setattr("tqdm.tqdm.monitor_interval", 0)  # no thread of its own
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with console.Progress(9, alone=True, unit="cut", done=5, name="tiny") as progress:
        progress._bar.start_t -= 5
        progress._bar.last_print_t -= 5
        assert list(progress.over("abc")) == ["a", "b", "c"]
        assert progress._bar.n == 8
    assert "tiny:" in terminal.getvalue() and "6/9" in terminal.getvalue()
    assert "cut/s" in terminal.getvalue() or "s/cut" in terminal.getvalue()
    monkeypatch.setattr(sys, "stderr", None)
    with console.Progress(None) as progress:
        assert list(progress.over("abc")) == ["a", "b", "c"]


def test_the_version_names_the_weights(run):
    code, out, _ = run("--version")
    digest = hashlib.sha256((BUNDLED / "tiny.safetensors").read_bytes()).hexdigest()
    assert (code, out.count("\n")) == (0, 1)
    assert f"tiny sha256:{digest}" in out
    assert "arranger sha256:" in out


def test_the_changelog_names_the_bundled_weights():
    digest = hashlib.sha256((BUNDLED / "tiny.safetensors").read_bytes()).hexdigest()
    changelog = (Path(__file__).parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = changelog.split("\n## ")[1:]
    # What is not released yet may come without new weights
    newest = next(section for section in sections if "sha256:" in section)
    assert f"sha256:{digest}" in newest, (
        "write the hash of the bundled weights into CHANGELOG.md"
    )


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="completes in bash")
def test_a_shell_completes_commands_and_options(tmp_path):
    pytest.importorskip("shtab")
    script = tmp_path / "complete.sh"
    command = [sys.executable, "-m", "vit_str", "--completion", "bash"]
    script.write_bytes(subprocess.run(command, capture_output=True, check=True).stdout)
    asked = """
source "$0"
complete_line() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _shtab_vit_str
    echo "${COMPREPLY[@]}"
}
complete_line vit-str e
complete_line vit-str read --lex
complete_line vit-str read --eff
"""
    done = subprocess.run(
        ["/bin/bash", "-c", asked, str(script)], capture_output=True, check=True
    )
    assert done.stdout.decode().split() == [
        "evaluate",
        "export",
        "--lexicon",
        "--effort",
    ]
