from pathlib import Path

import pytest
import yaml
from lightning.pytorch import LightningDataModule

from vit_str import configuration
from vit_str.training.checkpoints import CannotStart
from vit_str.training.cli import TrainingCLI
from vit_str.training.configuration import completed
from vit_str.training.module import RecognizerTraining

CONFIGS = sorted(
    path
    for path in Path("configs").glob("*.yaml")
    if path.stem not in ("arrange", "find")
)


def write(path: Path, settings: object) -> Path:
    path.write_text(yaml.safe_dump(settings), encoding="utf-8")
    return path


def parsed(arguments: object, monkeypatch: pytest.MonkeyPatch) -> dict:
    """What ``vit-str train`` makes of its arguments, or of settings, before it builds anything."""
    for name in (
        "before_instantiate_classes",
        "instantiate_classes",
        "add_configure_optimizers",
    ):
        monkeypatch.setattr(TrainingCLI, name, lambda *_: None, raising=False)
    monkeypatch.setattr(TrainingCLI, "_add_instantiators", lambda _: None)
    monkeypatch.setattr("sys.argv", ["vit-str"])
    command = TrainingCLI(
        RecognizerTraining,
        LightningDataModule,
        subclass_mode_data=True,
        args=arguments,
        run=False,
        seed_everything_default=1,
    )
    found = command.config.as_dict()
    found.pop("config", None)
    return found


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_configuration_says_what_the_command_takes(path, monkeypatch):
    """The command merges files by itself, as its options can be mixed with them."""
    if path.stem == "recipe":
        pytest.skip("no configuration of its own")
    settings = configuration.load(path)
    more = (
        ["--data.init_args.sources=[x]"]
        if "OwnWords" in settings["data"]["class_path"]
        else []
    )
    if more:
        settings["data"]["init_args"]["sources"] = ["x"]
        more.append("--init=tiny")
        settings["init"] = "tiny"
    arguments = completed([f"--config={path}", *more])
    taken = parsed(arguments, monkeypatch)
    if more:
        settings["model"]["recognizer"] = yaml.safe_load(arguments[0].partition("=")[2])
    assert parsed(settings, monkeypatch) == taken


def test_what_a_configuration_says_goes_over_its_recipe(tmp_path):
    below = {
        "trainer": {"max_steps": 5, "devices": 1},
        "model": {"schedule": {"init_args": {}}},
    }
    write(tmp_path / "recipe.yaml", below | {"list": [1, 2], "added": [4]})
    own = {
        "recipe": "recipe.yaml",
        "trainer": {"max_steps": 7, "logger": None},
        "list": [3],
    }
    own |= {"added+": [5], "one+": 6}
    path = write(tmp_path / "own.yaml", own)
    assert configuration.files(path) == [tmp_path / "recipe.yaml", path]
    assert configuration.load(path) == {
        "recipe": "recipe.yaml",
        "trainer": {"max_steps": 7, "devices": 1, "logger": None},
        "model": {"schedule": {"init_args": {}}},
        "list": [3],
        "added": [4, 5],
        "one": [6],
    }
    assert configuration.load(tmp_path / "recipe.yaml") == below | {
        "list": [1, 2],
        "added": [4],
    }


def test_mappings_are_replaced_and_parts_within_parts_are_merged():
    inner = {"class_path": "a.B", "init_args": {"dim": 1, "depth": 2}}
    below = {
        "class_path": "a.C",
        "init_args": {"text": {"words": 1, "codes": 2}, "part": inner},
    }
    above = {
        "init_args": {"text": {"words": 3}, "part": {"init_args": {"dim": 5}}, "new": 0}
    }
    assert configuration.merge({"data": below}, {"data": above})["data"] == {
        "class_path": "a.C",
        "init_args": {
            "text": {"words": 3},
            "part": {"class_path": "a.B", "init_args": {"dim": 5, "depth": 2}},
            "new": 0,
        },
    }


@pytest.mark.parametrize(
    ("class_path", "kept"),
    [
        ("vit_str.training.WarmupStableDecay", {"decay_share": 0.2, "other": 3}),
        ("vit_str.synthesis.ingredients.Ingredients", {}),
        ("vit_str.training.RenderedLines", {"decay_share": 0.2, "other": 3}),
        ("not_installed.Part", {"decay_share": 0.2, "other": 3}),
        ("nonsense", {"decay_share": 0.2, "other": 3}),
    ],
)
def test_another_class_keeps_the_arguments_that_it_takes(class_path, kept):
    arguments = {"decay_share": 0.2, "other": 3}
    below = {
        "part": {
            "class_path": "vit_str.training.WarmupStableDecay",
            "init_args": arguments,
        }
    }
    above = {"part": {"class_path": class_path, "init_args": {"new": 1}}}
    merged = configuration.merge(below, above)
    assert merged == {
        "part": {"class_path": class_path, "init_args": kept | {"new": 1}}
    }
    assert below["part"]["init_args"] == arguments, "what is merged is left as it was"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"text", "expected settings by name, as in configs/, found 'text'"),
        (b"model: [", r"not YAML \(while parsing a flow node"),
        (b"\xff\xfe", "not UTF-8 text; save it as UTF-8"),
    ],
)
@pytest.mark.parametrize("is_recipe", [False, True])
def test_what_is_no_configuration_is_named_in_one_line(
    content, reason, is_recipe, tmp_path
):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_bytes(content)
    path = (
        write(tmp_path / "own.yaml", {"recipe": "wrong.yaml"}) if is_recipe else wrong
    )
    with pytest.raises(
        ValueError, match=rf"configuration .*wrong\.yaml: {reason}"
    ) as error:
        configuration.load(path)
    assert "\n" not in str(error.value)
    wrong.unlink()
    with pytest.raises(FileNotFoundError):
        configuration.load(path)


@pytest.mark.parametrize(
    "settings",
    [
        {"data": {"class_path": "strange_package.Words", "init_args": {}}},
        {"data": {"class_path": "strange_package.words"}},
        {"data": "strange_package.inner.Words"},
        {
            "trainer": {
                "callbacks": [
                    {"class_path": "vit_str.training.RunLog"},
                    "strange_package.A",
                ]
            }
        },
        {"trainer": {"callbacks+": "strange_package.A"}},
        {"model": {"recognizer": "part.yaml"}},
    ],
)
def test_classes_of_elsewhere_are_not_imported(settings, tmp_path, monkeypatch):
    """What a configuration from elsewhere names would be run before it is refused."""
    package = tmp_path / "strange_package"
    package.mkdir()
    ran = tmp_path / "ran"
    (package / "__init__.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    write(tmp_path / "part.yaml", {"class_path": "strange_package.Recognizer"})
    path = write(tmp_path / "run.yaml", settings)
    with pytest.raises(
        ValueError, match=r"names strange_package\.\S+; only classes of vit_str"
    ):
        configuration.load(path)
    with pytest.raises(CannotStart, match="set VIT_STR_IMPORTS=strange_package"):
        completed(["--config", str(path)])
    assert not ran.exists()
    monkeypatch.setenv(configuration.IMPORTS, "other, strange_package")
    assert configuration.load(path) == settings


def test_names_of_files_are_no_classes(tmp_path):
    settings = {
        "init": "latin.safetensors",
        "data": {
            "class_path": "vit_str.training.RenderedWords",
            "init_args": {"words": "words.txt"},
        },
        "trainer": {
            "max_time": "1.5h",
            "logger": {"class_path": "lightning.pytorch.loggers.CSVLogger"},
        },
    }
    assert configuration.load(write(tmp_path / "run.yaml", settings)) == settings


def test_a_recipe_that_names_itself_is_refused(tmp_path):
    path = write(tmp_path / "run.yaml", {"recipe": "run.yaml"})
    with pytest.raises(ValueError, match=r"run\.yaml: names itself as its recipe"):
        configuration.load(path)
