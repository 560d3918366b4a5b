"""Models that are not measured are refused with the reason, before anything is fetched."""

import pytest

timm = pytest.importorskip("timm")
torchvision = pytest.importorskip("torchvision")
pytest.importorskip("transformers")

from vit_str.analysis.libraries import timm_models, torchvision_models  # noqa: E402
from vit_str.analysis.libraries.load import load_library_model  # noqa: E402

REASONS = {
    "resnet18": "no self-attention",
    "resnest14d": "branches of convolutions",
    "xcit_nano_12_p16_224": "over channels",
    "edgenext_xx_small": "over channels",
    "coat_tiny": "factorized",
    "efficientvit_b0": "linear",
    "efficientvit_m0": "one after another",
    "levit_128s": "queries are pooled",
    "cait_xxs24_224": "mixed after the softmax",
    "maxvit_tiny_pm_256": "windows and grids of far tokens side by side",
    "fastvit_t8": "no self-attention",
    "poolformer_s12": "no self-attention",
    "efficientformerv2_s0": "mixed after the softmax",
    "nextvit_small": "runs of tokens",
    "mvitv2_base_cls": "a class token among pooled tokens",
    "tnt_s_legacy_patch16_224": "pixels of a token",
    "naflexvit_base_patch16_gap": "patches together with their places",
    "vit_dwee_patch16_reg1_gap_256": "subtracts one softmax",
    "pit_ti_224": "pooled between stages",
    "mobilenetv4_hybrid_medium": "share one key",
    "mobilenetv3_small_050": "no self-attention",
}
MEASURED = (
    "vit_tiny_patch16_224",
    "eva02_tiny_patch14_224",
    "vit_relpos_small_patch16_224",
    *(
        "vit_tiny_r_s16_p8_224",
        "swin_tiny_patch4_window7_224",
        "swinv2_tiny_window8_256",
    ),
    "beit_base_patch16_224",
    "vit_small_patch16_dinov3",
    *(
        "pvt_v2_b0",
        "pvt_v2_b2_li",
        "twins_svt_small",
        "twins_pcpvt_small",
        "mvitv2_tiny",
    ),
    "tiny_vit_5m_224",
    "swinv2_cr_tiny_ns_224",
    *("maxvit_rmlp_pico_rw_256", "coatnet_pico_rw_224", "efficientformer_l1"),
    *("caformer_s18", "fastvit_sa12", "visformer_tiny"),
    *("hiera_tiny_224", "nest_tiny"),
)


class FetchedError(Exception):
    """Weights were asked for."""


@pytest.fixture
def hub(monkeypatch):
    """A hub from which nothing may be fetched."""

    def fetch(*_arguments, **_options):
        raise FetchedError

    monkeypatch.setattr("timm.models._builder.load_pretrained", fetch)
    monkeypatch.setattr("torchvision.models._api.WeightsEnum.get_state_dict", fetch)


@pytest.mark.parametrize("name", REASONS)
def test_a_model_of_timm_is_refused_before_its_weights_are_fetched(name, hub):
    with pytest.raises(ValueError, match=REASONS[name]) as caught:
        timm_models.create(name, True, None)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", MEASURED)
def test_weights_of_a_model_that_is_measured_are_fetched(name, hub):
    with pytest.raises(FetchedError):
        timm_models.create(name, True, None)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("resnet18", "no self-attention"),
        ("convnext_tiny", "no self-attention"),
    ],
)
def test_a_model_of_torchvision_is_refused_before_its_weights_are_fetched(
    name, why, hub
):
    with pytest.raises(ValueError, match=why):
        torchvision_models.create(name, True, None)
    with pytest.raises(FetchedError):
        torchvision_models.create("swin_t", True, None)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("resnet", "no self-attention"),
        ("cvt", "keys are pooled"),
        ("bert", "the lab knows"),
    ],
)
def test_a_type_of_transformers_is_refused_with_the_reason(kind, why):
    with pytest.raises(ValueError, match=why):
        load_library_model(f"untrained:hf:{kind}")
