"""Weights of networks that read no words."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from vit_str.models.arranger import RELATIONS, PageArranger
from vit_str.models.finder import Finder
from vit_str.torch_runtime.network_files import ARRANGER, FINDER

PUBLISHED = Path(__file__).parents[2] / "data" / "models" / "arranger.safetensors"


def arranger() -> PageArranger:
    return PageArranger(9, 3, buckets=20, dim=16, depth=1, heads=2)


def finder() -> Finder:
    return Finder(2, [8] * 4, [1] * 4, back=[8] * 4)


@pytest.mark.parametrize(
    ("format_", "network", "names"),
    [(ARRANGER, arranger(), ["a", "b", "nothing"]), (FINDER, finder(), ["ink", "gap"])],
    ids=["arranger", "finder"],
)
def test_it_is_read_as_it_was_written(tmp_path, format_, network, names):
    path = tmp_path / "network.safetensors"
    format_.save(path, network, names, {"step": 3})
    assert format_.describes(path)
    file = format_.load(path)
    assert file.names == names
    assert file.provenance == {"step": 3}
    assert file.network.arguments == network.arguments
    for name, value in network.state_dict().items():
        assert torch.equal(file.network.state_dict()[name], value)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "other.safetensors"
    save_file({"x": torch.zeros(2)}, path)
    with pytest.raises(
        ValueError, match=r"other\.safetensors: not weights of a network that arranges"
    ):
        ARRANGER.load(path)
    FINDER.save(path, finder(), ["ink", "gap"], {})
    assert not ARRANGER.describes(path)
    with pytest.raises(ValueError, match="not weights of a network that arranges"):
        ARRANGER.load(path)
    path.write_bytes(b"nonsense")
    assert not FINDER.describes(path)
    with pytest.raises(ValueError, match=r"other\.safetensors: "):
        FINDER.load(path)


def test_a_missing_file_is_named_once(tmp_path):
    path = tmp_path / "missing.safetensors"
    with pytest.raises(ValueError, match="No such file") as caught:
        FINDER.load(path)
    assert str(caught.value) == f"{path}: No such file or directory"


def test_other_relations_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "arranger.safetensors"
    monkeypatch.setitem(ARRANGER.fixed, "relations", RELATIONS[:-1])
    ARRANGER.save(path, arranger(), ["a", "b", "nothing"], {})
    monkeypatch.undo()
    with pytest.raises(ValueError, match="other relations than next, before"):
        ARRANGER.load(path)


def test_the_published_weights_are_read():
    file = ARRANGER.load(PUBLISHED)
    assert file.names[-1] == "nothing"
    assert file.provenance["pages"] > 0
