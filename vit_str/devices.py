"""Where to compute, and in which number format."""

import torch


def choose_device(device: str | torch.device = "auto") -> torch.device:
    """The device of this name.

    Raises:
        ValueError: there is no such device.
    """
    if device == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except RuntimeError:
        chosen = torch.device("meta")
    known = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": torch.backends.mps.is_available()}
    if chosen.type not in known:
        raise ValueError(f"unknown device {str(device)!r}: use auto, cpu, cuda, cuda:1 or mps")
    if (chosen.index or 0) >= known[chosen.type]:
        raise ValueError(
            f"device {str(device)!r} is not there: torch {torch.__version__} sees "
            f"{int(known[chosen.type])} of type {chosen.type}; use auto or cpu"
        )
    return chosen


def present_devices() -> list[torch.device]:
    """Every device that can compute: the CPU, then all others that torch sees."""
    devices = [torch.device("cpu")]
    devices += [torch.device("cuda", index) for index in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        devices.append(torch.device("mps"))
    return devices


def fastest_dtype(device: torch.device) -> torch.dtype:
    """The number format to read in: half as wide where the device computes in it, else float32."""
    if device.type == "cuda":
        major, _ = torch.cuda.get_device_capability(device)
        return torch.bfloat16 if major >= 8 else torch.float16 if major == 7 else torch.float32
    if device.type == "cpu":
        # Without these instructions bfloat16 is emulated, slower than float32.
        for native in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
            if getattr(torch.cpu, native, bool)():
                return torch.bfloat16
    return torch.float32
