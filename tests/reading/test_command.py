import csv
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from vit_str.cli import main
from vit_str.console import one_line
from vit_str.decoding.readings import json_line
from vit_str.decoding.search import Search
from vit_str.words.options import find_inputs, listed
from vit_str.words.reader import Reader, load

Run = Callable[..., tuple[int, str, str]]
BAD = {
    "empty.png": b"",
    "text.png": b"hello\n",
    "cut.jpg": b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0",
}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shared(value: Any, row: Any) -> Any:
    """A value with the names alone that a row has too."""
    if isinstance(row, dict):
        return {name: shared(value[name], entry) for name, entry in row.items()}
    if isinstance(row, list):
        return [shared(*pair) for pair in zip(value, row, strict=True)]
    return value


def records(run: Run, *arguments: object) -> list[dict[str, object]]:
    code, out, _ = run("read", *arguments, "--format", "jsonl")
    assert code == 0
    return [json.loads(line) for line in out.splitlines()]


def test_text_format(model, words, run):
    code, out, err = run("read", words, *model)
    assert (code, err) == (0, "")
    rows = [line.split("\t") for line in out.splitlines()]
    files = ["a.png", "b.jpg", "c.webp", "d.tiff", os.path.join("more", "e.bmp")]
    assert [row[0] for row in rows] == [str(words / file) for file in files]
    assert all(len(row) == 3 and 0 <= float(row[2]) <= 1 for row in rows)


@pytest.mark.usefixtures("number_format")
def test_jsonl_format(model, words, run):
    plain = records(run, words, "--batch-size", 2, *model)
    assert len(plain) == 5
    for reading in plain:
        assert list(reading) == ["path", "text", "confidence", "characters"]
        assert (
            "".join(each["character"] for each in reading["characters"])
            == reading["text"]
        )
        assert all(0 <= each["confidence"] <= 1 for each in reading["characters"])
    readings = records(run, words, "--batch-size", 2, "--boxes", *model)
    for reading in readings:
        for each in reading["characters"]:
            left, top, right, bottom = each.pop("box")
            assert 0 <= left < right <= 90
            assert 0 <= top < bottom <= 30
    assert readings == plain
    _, out, _ = run("read", words / "a.png", "--boxes", *model)
    assert "box" in json.loads(out)["characters"][0], "what has boxes is jsonl"
    for kind in ("text", "csv"):
        code, out, err = run("read", words, "--boxes", "--format", kind)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("vit-str read: --boxes needs --format jsonl")


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such file names")
@pytest.mark.usefixtures("number_format")
def test_fields_of_readings_are_what_jsonl_says(model, weights_path, words, run):
    """`dataclasses.asdict` of a reading has all of its row, under the same names."""
    paths = sorted(map(str, words.glob("*.*")))
    rows = records(run, *paths, "--boxes", "--n-best", 3, *model)
    reader = load(weights_path, "cpu", search=Search(n_best=3))
    readings = reader.read(paths, boxes=True)
    assert rows[0]["alternatives"] and rows[0]["characters"]
    for row, reading in zip(rows, readings, strict=True):
        assert row == reading.to_dict()
        fields = json.loads(json.dumps(asdict(reading)))
        assert row == shared(json.loads(json_line(fields)), row)


@pytest.mark.parametrize("kind", ["text", "csv", "jsonl"])
@pytest.mark.parametrize(
    "name",
    [
        "a\nb",
        "a\rb",
        "a\u2028b",
        "a\x1b[31mb",
        "a\u202egnp",
        "a\u2067b",
        "a\x9bb",
        "=1+1",
        "<script>",
    ],
)
def test_every_name_stays_in_one_row(kind, name, model, tmp_path, run, word_image):
    paths = [tmp_path / f"{name}.png", tmp_path / "z.png"]
    for path in paths:
        word_image("x").save(path)
    code, out, _ = run("read", *paths, "--format", kind, *model)
    lines = out.splitlines()  # of every kind of line end
    assert out.isascii()
    assert (code, len(lines)) == (0, 2 + (kind == "csv"))
    if kind == "jsonl":
        assert json.loads(lines[0])["path"] == str(paths[0])
    elif kind == "csv":
        rows = list(csv.DictReader(io.StringIO(out)))
        assert [row["path"] for row in rows] == [one_line(str(path)) for path in paths]
    else:
        assert lines[0].split("\t")[0] == one_line(str(paths[0]))


def test_names_keep_the_signs_that_join_letters():
    assert one_line("می\u200cخواهم 👩\u200d🔬.png") == "می\u200cخواهم 👩\u200d🔬.png"
    assert one_line("\u202egnp.exe\u2066") == "\\u202egnp.exe\\u2066"


def test_a_share_of_nothing_of_a_language_is_refused(model, words, run):
    for language in ("en*0", "en+fr*0", "en*00"):
        code, out, err = run("read", words / "a.png", "--language", language, *model)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "a language has a share of 1 or more, such as en*8+de, found" in err


def test_a_language_takes_its_weights(both_scripts, words, run, latin_alone):
    model = ["--model", both_scripts, "--device", "cpu"]
    code, _, err = run("read", words / "a.png", "--language", "ru", *model)
    assert (code, err) == (0, "")
    for options in ([], ["--line"], ["--page"]):
        code, out, err = run("read", words / "a.png", "--language", "ru", *options)
        assert (code, out) == (2, "")
        assert "language 'ru' needs weights that read Cyrillic" in err


def test_unreadable_images_have_a_record(model, words, run):
    (words / "bad.png").write_bytes(b"no image")
    missing = words / "missing.png"
    code, out, err = run("read", words, missing, "--format", "jsonl", *model)
    rows = {row["path"]: row for row in map(json.loads, out.splitlines())}
    assert (code, len(rows), err.count("\n")) == (1, 7, 2)
    bad = rows[str(words / "bad.png")]
    assert bad["error"].startswith("not an image that can be read")
    assert bad["text"] is bad["confidence"] is None
    assert rows[str(missing)]["error"] == "no such file; check the path"
    assert "error" not in rows[str(words / "a.png")]


def test_results_are_not_written_over_what_is_read(model, words, tmp_path, run):
    """As ``--out *.png`` asks for, which a shell makes ``--out a.png b.png``."""
    image = words / "a.png"
    plain = tmp_path / "scan"  # without a suffix
    listed = tmp_path / "list.txt"
    listed.write_text(str(image))
    shutil.copy(image, plain)
    before = image.read_bytes()
    for arguments, reason in (
        (["--out", image, words / "b.jpg"], "the name of an image"),
        ([plain, "--out", plain], "is read itself"),
        (["--files-from", listed, "--out", listed], "is read itself"),
        ([image, "--lexicon", listed, "--out", listed], "is read itself"),
        ([image, "--out", "-"], "leave it out to print"),
        ([image, "--out", ""], "has an empty name"),
        ([image, "--out", tmp_path], "is a folder; give a file"),
    ):
        code, out, err = run("read", *arguments, *model)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert reason in err
    assert image.read_bytes() == plain.read_bytes() == before
    assert listed.read_text() == str(image)


@pytest.mark.skipif(os.name != "posix", reason="links need rights on other systems")
def test_what_the_system_refuses_is_not_called_damaged(model, tmp_path, run):
    loop = tmp_path / "loop.png"
    loop.symlink_to(loop)
    code, out, err = run("read", loop, *model)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "loop.png: cannot be opened (" in err and "check the path" in err


def test_out_and_files_from(model, words, tmp_path, run):
    _, expected, _ = run("read", words / "a.png", words / "more", *model)
    listed, out = tmp_path / "list.txt", tmp_path / "new" / "texts.tsv"
    listed.write_text(f"{words / 'a.png'}\n\n{words / 'more'}\n")
    options = ["--files-from", listed, "--out", out]
    assert run("read", *options, *model)[:2] == (0, "")
    assert out.read_text() == expected
    listed.write_text("missing.png\n")
    for wrong in (
        options,
        [],
        ["--files-from", "missing"],
        ["x.png", "--out", tmp_path],
    ):
        code, _, err = run("read", *wrong)
        assert (code, err.count("\n")) == (2, 1)
    assert out.read_text() == expected
    assert os.listdir(out.parent) == [out.name]


def test_a_list_is_read_as_it_comes(model, words):
    program = [
        sys.executable,
        "-m",
        "vit_str",
        "read",
        "--files-from",
        "-",
        *map(str, model),
    ]
    with subprocess.Popen(
        program,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as reading:
        for name in ("a.png", "more"):
            reading.stdin.write(f"{words / name}\n")
            reading.stdin.flush()
            assert reading.stdout.readline().startswith(str(words / name))
        reading.stdin.write("missing.png\nhalf a line")
        _, err = reading.communicate(timeout=60)
    assert reading.returncode == 1
    assert "missing.png: no such file" in err and "half a line: no such file" in err


@pytest.mark.parametrize(
    "content", [b"a\rb\nc\n", b"a\rb\r\nc", b"\xef\xbb\xbfa\rb\n\nc\n"]
)
def test_lists_of_every_editor_name_files(content, tmp_path):
    (tmp_path / "list.txt").write_bytes(content)
    assert [*listed(str(tmp_path / "list.txt"))] == [["a\rb", "c"]]


def test_a_list_of_nothing_is_said(model, tmp_path, run):
    (tmp_path / "none.txt").write_text("\n\n")
    code, out, err = run("read", "--files-from", tmp_path / "none.txt", *model)
    assert (code, out) == (2, "") and "lists nothing to read" in err
    code, _, err = run("read", "--files-from", "/dev/zero", *model)
    assert code == 2 and "holds no paths" in err
    (tmp_path / "wide.txt").write_text("a.png\n", encoding="utf-16")
    code, _, err = run("read", "--files-from", tmp_path / "wide.txt", *model)
    assert (code, err.count("\n")) == (2, 1) and "UTF-16 text; save it as UTF-8" in err


def test_minimum_confidence(model, words, run):
    plain = records(run, words, *model)
    least = sorted(row["confidence"] for row in plain)[2]
    found = records(run, words, "--min-confidence", least + 1e-6, *model)
    for row, before in zip(found, plain, strict=True):
        doubtful = before["confidence"] <= least
        assert row == before | ({"text": "", "characters": []} if doubtful else {})
    for wrong in ("2", "-1", "nan", "x"):
        with pytest.raises(SystemExit):
            main(["read", "x.png", "--min-confidence", wrong])


def test_pages_are_told_from_words(model, tmp_path, monkeypatch, run, word_image):
    sizes = {
        "word": (400, 100),
        "page": (700, 990),
        "photo": (1024, 768),
        "line": (900, 50),
    }
    for name, size in sizes.items():
        word_image("word", size=size).save(tmp_path / f"{name}.png")
    for confidence, path, hints in (
        *((1.0, tmp_path, 1), (0.0, tmp_path, 0)),
        *((1.0, tmp_path / "word.png", 0), (1.0, tmp_path / "page.png", 1)),
        (1.0, tmp_path / "line.png", 1),
    ):
        monkeypatch.setattr("vit_str.reading.command._PAGE_CONFIDENCE", confidence)
        code, _, err = run("read", path, *model)
        assert (code, err.count("\n")) == (0, hints)
    assert (
        "line.png looks like a whole picture or a long line: --page finds its words"
        in err
    )


def test_bad_images_are_named_and_the_others_read(model, words, run):
    for file, data in BAD.items():
        (words / file).write_bytes(data)
    missing = words / "missing.png"
    code, out, err = run("read", words, missing, "zz*.png", *model)
    lines = err.splitlines()
    assert (code, out.count("\n"), len(lines)) == (1, 5, 5)
    assert lines[0] == f"vit-str: {missing}: no such file; check the path"
    assert lines[1] == "vit-str: zz*.png: matches no file; check the pattern"
    for file in BAD:
        assert sum(line.startswith(f"vit-str: {words / file}: ") for line in lines) == 1


@pytest.mark.parametrize("argument", ["missing.png", "*.nothing", "empty folder"])
def test_nothing_to_read(argument, tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty folder").mkdir()
    code, out, err = run("read", argument)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"vit-str: {argument}: ")


def test_standard_input(model, monkeypatch, run, word_image):
    image = io.BytesIO()
    word_image("x").save(image, "PNG")
    for data, expected in ((image.getvalue(), 0), (b"", 1), (b"no image", 1)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        code, out, err = run("read", "-", *model)
        assert (code, err.count("\n")) == (expected, expected)
        assert out.startswith("" if expected else "-\t")
        assert err.startswith("vit-str: standard input: " if expected else "")
    for no_file in (None, Terminal()):
        monkeypatch.setattr(sys, "stdin", no_file)
        code, _, err = run("read", "-")
        assert (code, err.count("\n")) == (2, 1)


def test_a_large_header_leaks_no_warning(model, tmp_path):
    path = tmp_path / "large.pgm"
    path.write_bytes(b"P5 10000 10000 255\n" + bytes(10))
    command = [sys.executable, "-m", "vit_str", "read", path, *model]
    answer = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert answer.returncode == 1
    assert answer.stderr.decode().splitlines() == [
        f"vit-str: {path}: larger than 89 million pixels; scale it down or cut out what to read"
    ]


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such file names")
def test_file_names_of_any_bytes(model, tmp_path, capfdbinary, word_image):
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
    assert sorted(os.fsencode(json.loads(line)["path"]) for line in lines) == sorted(
        paths
    )


def test_find_inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("b/deep").mkdir(parents=True)
    for file in (
        "b/2.PNG",
        "b/1.jpg",
        "b/deep/0.tif",
        "b/._1.jpg",
        "b/notes.txt",
        "[1].png",
        "x",
    ):
        Path(file).touch()
    inside = [
        os.path.join("b", file)
        for file in ("1.jpg", "2.PNG", os.path.join("deep", "0.tif"))
    ]
    assert find_inputs(["b"]).paths == inside
    assert find_inputs(["b/*"]).paths == [
        inside[0],
        inside[1],
        inside[2],
        "b/notes.txt",
    ]
    assert find_inputs(["**/*.tif", "x", "-", "[1].png"]).paths == [
        inside[2],
        "x",
        "-",
        "[1].png",
    ]
    assert find_inputs(["b", "b"]).paths == inside * 2
    assert find_inputs(["**/*.tif", "b/**/*.tif", "./**/0.tif"]).paths == [
        inside[2],
        inside[2],
        os.path.join(".", inside[2]),
    ]


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
def test_circles_of_links_and_pipes_end(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a/b").mkdir(parents=True)
    Path("a/b/1.png").touch()
    for name in ("a/first", "a/second", "a/b/third"):
        os.symlink(tmp_path / "a", name)
    os.mkfifo("a/pipe.png")
    assert find_inputs(["a"]).paths == ["a/b/1.png"]
    assert find_inputs(["a/**/*.png"]).paths == ["a/b/1.png", "a/pipe.png"]
    assert find_inputs([f"{tmp_path}/**/1.png"]).paths == [str(tmp_path / "a/b/1.png")]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes of POSIX")
def test_a_child_reads_after_its_parent_read_with_two_threads(weights_path):
    program = f"""
import os, signal, torch
torch.set_num_threads(2)
import vit_str
reader = vit_str.load({str(weights_path)!r}, "cpu")
images = [torch.zeros(3, 32, 128)] * 64
expected = reader.read(images)
child = os.fork()
if not child:
    signal.alarm(30)
    os._exit(reader.read(images)[0].text != expected[0].text)
assert os.waitpid(child, 0)[1] == 0
"""
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    subprocess.run(
        [sys.executable, "-c", program], check=True, timeout=100, env=environment
    )


def test_photographs_of_phones_in_a_folder_are_not_passed_over(tmp_path):
    (tmp_path / "word.PNG").touch()
    (tmp_path / "photo.HEIC").touch()
    found = find_inputs([str(tmp_path)])
    assert [Path(path).name for path in found.paths] == ["photo.HEIC", "word.PNG"]


def test_texts_in_a_script_that_nobody_reads_are_said_in_one_line(
    words, model, run, monkeypatch
):
    def unread(reader, reading):
        return replace(reading, text="", characters=(), unread_script=0.97)

    monkeypatch.setattr(Reader, "_without_unread", unread)
    code, out, err = run("read", words, *model, "--format", "jsonl")
    assert code == 0
    assert err.count("most text is in a script that vit-str does not read") == 1
    rows = [json.loads(line) for line in out.splitlines()]
    assert {(row["text"], row["unread_script"]) for row in rows} == {("", 0.97)}
