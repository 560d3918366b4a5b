import platform

import pytest
import torch

from vit_str.machine import CPU_DTYPE, software
from vit_str.torch_runtime.devices import choose_device, fastest_dtype


@pytest.mark.parametrize("device", ["tpu", "meta", "cuda:x", "", "cpu:-2"])
def test_unknown_devices(device):
    with pytest.raises(ValueError, match=r"unknown device .*: use auto, cpu"):
        choose_device(device)


@pytest.mark.parametrize("device", ["cuda:99", "cpu:1"])
def test_devices_that_are_not_there(device):
    with pytest.raises(ValueError, match=r"is not there: .*; use auto or cpu"):
        choose_device(device)


@pytest.mark.parametrize(
    ("bfloat16", "amx", "expected"),
    [
        (False, False, torch.float32),
        (True, False, torch.bfloat16),
        (False, True, torch.bfloat16),
        (None, None, torch.float32),
    ],
)
def test_fastest_dtype_of_a_cpu(bfloat16, amx, expected, monkeypatch):
    monkeypatch.delenv(CPU_DTYPE, raising=False)
    names = {"_is_avx512_bf16_supported": bfloat16, "_is_amx_tile_supported": amx}
    for name, answer in names.items():
        if answer is None:  # a torch that does not tell
            monkeypatch.delattr(torch.cpu, name, raising=False)
        else:
            monkeypatch.setattr(
                torch.cpu, name, lambda answer=answer: answer, raising=False
            )
    assert fastest_dtype(torch.device("cpu")) == expected


def test_the_environment_decides_what_the_cpu_computes_in(monkeypatch):
    cpu = torch.device("cpu")
    for name, expected in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
        monkeypatch.setenv(CPU_DTYPE, name)
        assert fastest_dtype(cpu) == expected
    monkeypatch.setenv(CPU_DTYPE, "int4")
    with pytest.raises(ValueError, match="must be one of float32, bfloat16, int8"):
        fastest_dtype(cpu)


@pytest.mark.parametrize(
    ("major", "expected"), [(6, torch.float32), (7, torch.float16), (9, torch.bfloat16)]
)
def test_fastest_dtype_of_a_gpu(major, expected, monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (major, 0))
    assert fastest_dtype(torch.device("cuda")) == expected


def test_software_has_what_matters_and_is_there(monkeypatch):
    versions = software()
    assert versions["Python"] == platform.python_version()
    assert torch.__version__.startswith(versions["torch"])
    assert {
        "vit-str",
        "system",
        "numpy",
        "pillow",
        "safetensors",
        "einops",
    } <= versions.keys()
    monkeypatch.setattr(
        "vit_str.machine._PACKAGES", ("torch", "no-such-package-at-all")
    )
    assert "no-such-package-at-all" not in software()
