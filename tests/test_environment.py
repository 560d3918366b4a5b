import platform

import pytest
import torch

from vit_str.devices import choose_device, device_name, present_devices, software


def test_software_has_what_matters() -> None:
    versions = software()
    assert versions["Python"] == platform.python_version()
    assert torch.__version__.startswith(versions["torch"])
    assert {"vit-str", "system", "numpy", "pillow", "safetensors", "einops"} <= versions.keys()


def test_packages_that_are_not_there_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vit_str.devices._PACKAGES", ("torch", "no-such-package-at-all"))
    assert "no-such-package-at-all" not in software()


def test_every_device_that_is_there_has_a_name() -> None:
    devices = present_devices()
    assert devices[0] == torch.device("cpu")
    for device in devices:
        assert choose_device(device) == device
        assert device_name(device)
    assert f"{torch.get_num_threads()} threads" in device_name(devices[0])
