"""Weights of the network that arranges pages."""

import pytest
import torch
from safetensors.torch import save_file

from vit_str.models.arranger import PageArranger
from vit_str.torch_runtime.arranger_file import load_arranger, save_arranger


def test_it_is_read_as_it_was_written(tmp_path):
    arranger = PageArranger(9, 3, buckets=20, dim=16, depth=1, heads=2)
    path = tmp_path / "arranger.safetensors"
    save_arranger(path, arranger, ["a", "b", "nothing"], {"step": 3})
    found = load_arranger(path)
    assert found.roles == ["a", "b", "nothing"]
    assert found.provenance == {"step": 3}
    for name, value in arranger.state_dict().items():
        assert torch.equal(found.arranger.state_dict()[name], value)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "other.safetensors"
    save_file({"x": torch.zeros(2)}, path)
    with pytest.raises(
        ValueError, match=r"other\.safetensors: not weights of a network"
    ):
        load_arranger(path)
    path.write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"other\.safetensors: "):
        load_arranger(path)
