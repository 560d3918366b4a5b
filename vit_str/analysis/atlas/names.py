"""Which models an atlas is of: names, patterns of names, or one of each family."""

from fnmatch import fnmatchcase

from vit_str.analysis.subjects import UNTRAINED

FAMILIES = "families"
"""One small model of each family of timm and torchvision that is supported."""

_OF_FAMILIES = {
    "timm": (
        "vit_tiny_patch16_224",
        "vit_small_patch16_dinov3",
        "vit_small_patch14_reg4_dinov2",
        "deit_tiny_patch16_224",
        "deit_tiny_distilled_patch16_224",
        "deit3_small_patch16_224",
        "beit_base_patch16_224",
        "beitv2_base_patch16_224",
        "eva02_tiny_patch14_224",
        "vit_relpos_small_patch16_224",
        "vit_tiny_r_s16_p8_224",
        "swin_tiny_patch4_window7_224",
        "swinv2_tiny_window8_256",
        "swinv2_cr_tiny_ns_224",
        "tiny_vit_5m_224",
        "pvt_v2_b0",
        "twins_svt_small",
        "mvitv2_tiny",
        "hiera_tiny_224",
        "nest_tiny",
        "maxvit_rmlp_pico_rw_256",
        "coatnet_pico_rw_224",
        "caformer_s18",
        "fastvit_sa12",
        "visformer_tiny",
        "efficientformer_l1",
    ),
    "torchvision": ("vit_b_16", "swin_t", "swin_v2_t", "maxvit_t"),
}


def expand(names: list[str]) -> list[str]:
    """Each model once, in order; patterns such as ``timm:swin*`` and ``families`` become names.

    After ``untrained:`` all that a pattern or ``families`` means is untrained.

    Raises:
        ValueError: no model has a name of that pattern.
    """
    models: list[str] = []
    for name in names:
        start = UNTRAINED if name.startswith(UNTRAINED) else ""
        models += [f"{start}{model}" for model in _meant(name.removeprefix(start))]
    return list(dict.fromkeys(models))


def _meant(name: str) -> list[str]:
    if name == FAMILIES:
        meant = []
        for library, models in _OF_FAMILIES.items():
            meant += [f"{library}:{model}" for model in models]
        return meant
    library, _, pattern = name.partition(":")
    if library not in _OF_FAMILIES or not any(mark in pattern for mark in "*?["):
        return [name]
    found = [model for model in _listed(library) if fnmatchcase(model, pattern)]
    if not found:
        raise ValueError(f"{name}: {library} has no model of such a name")
    return [f"{library}:{model}" for model in found]


def _listed(library: str) -> list[str]:
    """Names of all models of a library that take images."""
    try:
        if library == "timm":
            import timm

            return list(timm.list_models())
        from torchvision import models

        return models.list_models(models)
    except ImportError as error:
        raise ValueError(
            f"{library}:... needs a package: pip install {error.name}"
        ) from None
