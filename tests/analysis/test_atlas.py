"""The atlas: many models on one page, resumed where it was interrupted."""

import json
import re
import shlex
from itertools import product
from pathlib import Path

import pytest
from PIL import Image

from vit_str.analysis.atlas import page as atlas_page
from vit_str.analysis.atlas.names import expand
from vit_str.analysis.distance.api import attention_distance
from vit_str.cli import main

timm = pytest.importorskip("timm")

DOCS = Path(__file__).parents[2] / "docs/attention.md"


def atlas(folder: Path, data: Path, *names: object, count: int = 2) -> int:
    options = ["--data", data, "--out", folder, "--count", count, "--device", "cpu"]
    return main([str(part) for part in ("analyze", "atlas", *names, *options)])


def test_atlas_is_what_distance_measures_and_goes_on(
    tmp_path, labeled_folder, small_weights, monkeypatch, capsys
):
    weights = small_weights()
    out = tmp_path / "out"
    refused = "untrained:timm:resnet18"
    assert atlas(out, labeled_folder, weights, refused) == 0
    assert refused in capsys.readouterr().err

    found = json.loads((out / "atlas.json").read_text())
    assert list(found["refused"]) == [refused]
    assert found["models"][0]["versions"]["timm"] == timm.__version__
    expected = attention_distance(weights, labeled_folder, count=2).to_frame()
    expected = expected[expected["unit"] == "px"]
    for layer, metric in product(
        found["models"][0]["layers"], ("distance", "value_distance")
    ):
        of_layer = expected[expected["layer"] == layer["layer"]]
        rows = of_layer[of_layer["metric"] == metric]
        measured = layer["metrics"][metric]
        cases = [*measured["heads"], measured]
        for case, (_, row) in zip(cases, rows.iterrows(), strict=True):
            for end in ("mean", "low", "high"):
                assert case[end] == pytest.approx(row[end], rel=1e-5)

    html = (out / "report.html").read_text()
    assert "table.sortable" in html
    assert "script-src 'sha256-" in html
    assert refused in html

    monkeypatch.setattr(atlas_page, "measure", lambda *_: pytest.fail("measured again"))
    assert atlas(out, labeled_folder, weights) == 0


def test_other_settings_are_refused(tmp_path, labeled_folder, small_weights, capsys):
    weights = small_weights()
    assert atlas(tmp_path / "out", labeled_folder, weights) == 0
    assert atlas(tmp_path / "out", labeled_folder, weights, count=1) == 2
    assert "count 2, not 1" in capsys.readouterr().err


def test_other_images_are_refused(tmp_path, labeled_folder, small_weights, capsys):
    weights = small_weights()
    assert atlas(tmp_path / "out", labeled_folder, weights) == 0
    for path in labeled_folder.glob("*.png"):
        Image.new("RGB", (40, 20)).save(path)
    assert atlas(tmp_path / "out", labeled_folder, weights) == 2
    assert "images: those of the folder have changed" in capsys.readouterr().err


def test_after_an_interruption_the_page_has_what_is_done(
    tmp_path, labeled_folder, small_weights, monkeypatch, capsys
):
    weights = small_weights()
    out = tmp_path / "out"
    load = atlas_page.load_subject

    def interrupted(name, *rest, **named):
        if "resnet34" in name:
            raise KeyboardInterrupt
        return load(name, *rest, **named)

    monkeypatch.setattr(atlas_page, "load_subject", interrupted)
    refused = "untrained:timm:resnet18"
    assert (
        atlas(out, labeled_folder, weights, refused, "untrained:timm:resnet34") == 130
    )
    assert list(json.loads((out / "atlas.json").read_text())["refused"]) == [refused]
    assert "it has no self-attention" in (out / "report.html").read_text()
    assert atlas(out, labeled_folder, weights) == 0
    assert list(json.loads((out / "atlas.json").read_text())["refused"]) == [refused]
    capsys.readouterr()


def test_a_refused_model_is_asked_for_again_by_another_version(
    tmp_path, labeled_folder, small_weights, monkeypatch, capsys
):
    weights = small_weights()
    out = tmp_path / "out"
    refused = "untrained:timm:resnet18"
    assert atlas(out, labeled_folder, weights, refused) == 0
    path = out / "atlas.json"
    found = json.loads(path.read_text())
    versions = found["refused_by"][refused]
    assert versions == {"vit-str": versions["vit-str"], "timm": timm.__version__}
    load = atlas_page.load_subject
    asked = []

    def supported(name, *rest, **named):
        asked.append(name)
        return load(str(weights), *rest)

    monkeypatch.setattr(atlas_page, "load_subject", supported)
    assert atlas(out, labeled_folder, weights) == 0
    assert not asked  # what refused it is still installed

    for older in (
        {"refused_by": {refused: versions | {"vit-str": "0.0"}}},
        {"refused_by": {}},
    ):
        asked.clear()
        path.write_text(json.dumps(found | older))
        (out / "models" / "untrained%3Atimm%3Aresnet18.json").unlink(missing_ok=True)
        assert atlas(out, labeled_folder, weights) == 0
        assert asked == [refused]
        again = json.loads(path.read_text())
        assert refused in [record["model"] for record in again["models"]]
        assert not again["refused"]
    capsys.readouterr()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["untrained:timm:test_vit", "--checkpoint", "x.pt"],
            "--checkpoint is for one model",
        ),
        (["untrained:timm:test_vit", "--data", "rendered"], "give --data FOLDER"),
        (["untrained:timm:test_vit", "--data", "nothing"], "nothing: no such folder"),
    ],
)
def test_what_would_be_wrong_for_every_model_is_refused(
    options, message, tmp_path, capsys
):
    data = [] if "--data" in options else ["--data", str(tmp_path)]
    out = tmp_path / "out"
    assert main(["analyze", "atlas", *options, *data, "--out", str(out)]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_names_are_expanded():
    models = expand(["untrained:timm:vit_tiny_patch16_*", "tiny", "tiny"])
    assert "untrained:timm:vit_tiny_patch16_224" in models
    assert models.count("tiny") == 1
    with pytest.raises(ValueError, match="no model of such a name"):
        expand(["timm:nothing_like_*"])
    listed = set(timm.list_models())
    families = [
        name.partition(":")[2] for name in expand(["families"]) if name[:4] == "timm"
    ]
    assert set(families) <= listed


def test_the_documented_atlas_has_forty_architectures():
    commands = DOCS.read_text(encoding="utf-8").replace("\\\n", " ")
    (names,) = re.findall(
        r"analyze atlas (untrained:families 'untrained.*) --count", commands
    )
    models = expand(shlex.split(names))
    assert len(models) >= 40
    assert all(name.startswith("untrained:") for name in models)
