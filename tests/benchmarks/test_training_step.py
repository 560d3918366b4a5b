import json
import re
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
import yaml
from torch.utils.flop_counter import FlopCounterMode

from vit_str import configuration

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import equal_budget
import training_profile
import training_speed
import training_step
import training_worker
from products import Product, ProductCounter, alone, clock_of
from training_worker import Measurement

ROOT = Path(__file__).parents[2]
CONFIGS = sorted(
    path
    for path in (ROOT / "configs").glob("*.yaml")
    if path.stem not in ("recipe", "finetune", "arrange")
)
ALWAYS = ("crnn_ctc",)  # and vit_tiny_transformer, in the test of Muon


@pytest.fixture(autouse=True)
def machine_as_it_was(monkeypatch, two_fonts):
    """What a measurement sets for its whole process is not for that of the tests."""
    monkeypatch.setenv("VIT_STR_CACHE", str(two_fonts.parent))
    for module in (training_worker, training_step):
        monkeypatch.setattr(module, "pin", lambda _: None)
    monkeypatch.setattr(training_worker, "keep_freed_memory", lambda: None)
    monkeypatch.setattr(training_worker.Step, "speed_up", lambda _: None)


@pytest.fixture
def small(tmp_path, two_fonts):
    """A configuration with few characters, fonts and words, so that building it takes seconds."""

    def write(path: Path) -> str:
        settings = configuration.load(path)
        del settings["recipe"]
        # With the space
        settings["charset"] = "european" if path.stem == "vit_line" else "ascii"
        settings["data"]["init_args"] |= {"fonts": [str(two_fonts)], "language": "en"}
        copy = tmp_path / path.name
        copy.write_text(yaml.safe_dump(settings), encoding="utf-8")
        return str(copy)

    return write


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path, marks=[] if path.stem in ALWAYS else pytest.mark.slow, id=path.stem
        )
        for path in CONFIGS
    ],
)
def test_a_step_of_every_configuration_is_measured(path, small):
    wanted = Measurement(
        small(path), batch_size=2, steps=1, warm_up=1, fused_optimizer=True
    )
    report = training_step.measure(wanted)
    parts = report.parts
    assert {"drawing", "backward", "clipping", "AdamW", "averaging", "else"} <= {*parts}
    assert "forward: decoder" in parts
    assert any(f"forward: {name}" in parts for name in ("stem", "stages", "blocks"))
    assert all(part.seconds >= 0 for part in parts.values())
    assert report.whole.seconds > 0
    assert report.whole.least_seconds > 0
    assert parts["backward"].flops > parts["forward: decoder"].flops > 0
    assert sum(part.flops for part in parts.values()) == pytest.approx(
        sum(report.shapes.values())
    )
    text = training_step.describe(report, path, "CPU time")
    for name in parts:
        assert f"\n{name} " in text
    json.dumps(training_step.as_json(report))


@pytest.mark.filterwarnings("default")
def test_muon_and_adamw_are_told_apart(small):
    wanted = Measurement(
        small(ROOT / "configs/vit_tiny_transformer.yaml"), batch_size=2, steps=1
    )
    parts = training_step.measure(wanted).parts
    assert parts["Muon"].flops > 1e10, (
        "five iterations of Newton and Schulz on every matrix"
    )
    assert parts["Muon"].seconds > parts["averaging"].seconds
    assert parts["AdamW"].flops == 0 < parts["AdamW"].seconds
    assert {"forward: stem", "forward: blocks"} <= {*parts}
    assert parts["forward: blocks"].flops > parts["forward: stem"].flops > 0


@pytest.mark.filterwarnings("default")
def test_speed_and_profile_are_measured(small):
    config = small(ROOT / "configs/vit_tiny_transformer.yaml")
    wanted = Measurement(config, batch_size=2, steps=1, warm_up=1, rendering=True)
    results = [
        training_worker.measure(wanted),
        training_worker.measure(Measurement(config, batch_size=2, steps=1, plain=True)),
    ]
    assert results[0].images_per_second > 0
    assert results[0].parameters == results[1].parameters
    profile = training_profile.measure(wanted)
    assert {"matrix products", "convolutions", "optimizer"} <= {*profile.milliseconds}
    text = training_speed._profile_table(profile)
    assert "step of 2 images" in text
    json.dumps(asdict(profile))


@pytest.mark.filterwarnings("default")
def test_the_command_itself_is_measured(small, monkeypatch, capfd):
    config = small(ROOT / "configs/vit_tiny_transformer.yaml")
    monkeypatch.setattr(training_speed, "pin", lambda _: None)
    options = ["--device", "cpu", "--config", config, "--seconds", "3"]
    options += ["--batch-size", "2", "--", "--trainer.precision", "32-true"]
    monkeypatch.setattr("sys.argv", ["training_speed.py", *options])
    training_speed.main()
    titles, row, _, details = capfd.readouterr().out.splitlines()[-4:]
    assert titles.split()[:4] == ["vit-str", "train", "parameters", "batch"]
    name, parameters, _, batch, rate, drawn_before = row.split()[:6]
    assert (name, batch) == ("vit_tiny_transformer", "2")
    assert float(parameters) > 5
    assert float(rate.replace(",", "")) > 0
    assert float(drawn_before.replace(",", "")) > 0
    (gigaflops,) = re.findall(r": ([\d.]+) GFLOP a word", details)
    assert 1 < float(gigaflops) < 4


@pytest.mark.parametrize("benchmark", [training_speed, training_step, equal_budget])
def test_the_configuration_that_a_benchmark_has_is_there(benchmark, monkeypatch):
    required = ["--variants", "x", "--images", "1", "--out", "x", "--real", "x"]
    arguments = required if benchmark is equal_budget else []
    config = benchmark._parser().parse_args(arguments).config
    (config,) = config if isinstance(config, list) else [config]
    settings = configuration.load(config)
    assert {"model", "data", "trainer"} <= {*settings}
    assert "recognizer" in settings["model"]


def test_configurations_of_variants_are_there():
    named = [
        name
        for path in (ROOT / "benchmarks" / "variants").glob("*.yaml")
        for name in re.findall(r"--config=([\w/.]+)", path.read_text(encoding="utf-8"))
    ]
    assert named
    for name in named:
        assert "recognizer" in configuration.load(ROOT / name)["model"], name


def test_a_configuration_that_is_missing_is_one_line(tmp_path, monkeypatch):
    missing = str(tmp_path / "missing.yaml")
    monkeypatch.setattr("sys.argv", ["training_step.py", "--config", missing])
    with pytest.raises(SystemExit) as ended:
        training_step.main()
    line = str(ended.value.code)
    assert "missing.yaml" in line
    assert "\n" not in line


def test_own_words_are_no_rendered_ones(small, labeled_folder, tmp_path):
    settings = configuration.load(ROOT / "configs" / "finetune.yaml")
    del settings["recipe"]
    model = configuration.load(ROOT / "configs" / "vit_tiny_transformer.yaml")["model"]
    settings["model"]["recognizer"] = model["recognizer"]
    settings["data"]["init_args"]["sources"] = [str(labeled_folder)]
    settings["data"]["init_args"] |= {"rendered_share": 0, "validation_share": 0}
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump(settings), encoding="utf-8")
    with pytest.raises(
        SystemExit, match="expected data that is rendered, found OwnWords"
    ):
        training_worker.build(Measurement(str(path)))


def test_products_are_counted_as_torch_counts_them():
    """Convolutions with and without strides, linear and batched products, forward and back."""
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, stride=(2, 1), padding=1),
        torch.nn.Conv2d(8, 4, 3),
        torch.nn.Flatten(2),
        torch.nn.Linear(6 * 18, 5),
    )
    part = "forward"
    with FlopCounterMode(display=False) as theirs, ProductCounter(lambda: part) as ours:
        x = model(torch.randn(2, 3, 16, 20, requires_grad=True))
        x = x @ x.transpose(1, 2)
        part = "backward"
        x.sum().backward()
    flops = {
        name: sum(n * p.flops for (its, p), n in ours.counts.items() if its == name)
        for name in ("forward", "backward")
    }
    assert sum(flops.values()) == theirs.get_total_flops()
    assert flops["backward"] == 2 * flops["forward"]


def test_the_rate_of_a_product_is_that_of_the_machine():
    product = Product("linear", 1, 64, 256, 256, torch.float32)
    assert product.flops == 2 * 64 * 256 * 256
    assert str(product) == "linear 64 x 256 x 256"
    ticks = iter(range(100))
    assert alone(product, "cpu", lambda: next(ticks)) == product.flops, (
        "one product a tick"
    )
    assert 1e8 < alone(product, "cpu", clock_of("cpu", 1)) < 1e14


def test_a_part_within_a_part_counts_once():
    now = iter([0.0, 1.0, 3.0, 6.0, 10.0, 15.0])
    stopwatch = training_step.Stopwatch(lambda: next(now))
    with stopwatch.within("outer"):
        with stopwatch.within("inner"):
            assert stopwatch.part == "inner"
        assert stopwatch.part == "outer"
    stopwatch.enter("else")
    assert stopwatch.seconds == {"else": 1.0 + 5.0, "outer": 2.0 + 4.0, "inner": 3.0}
