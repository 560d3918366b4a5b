import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from variant_run import VariantRun


def test_all_that_a_run_writes_is_in_its_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    trainer = VariantRun(Path("runs", "small"), (), 1)._settings(10, 0.4)["trainer"]
    parts = [part["init_args"] for part in trainer["callbacks"] + trainer["logger"]]
    names = "dirpath", "path", "save_dir"
    paths = {part[name] for part in parts for name in names if name in part}
    folder = tmp_path / "runs" / "small"
    assert paths == {
        str(folder),
        str(folder / "last.ckpt"),
        str(folder / "averaged.safetensors"),
    }
