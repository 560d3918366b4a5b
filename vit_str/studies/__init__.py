"""The claims of the posts as experiments, one module each."""

from importlib import import_module

from vit_str.studies.study import Findings, Settings, Study, Verdict

STUDIES = {
    "rnn-gradient": "RnnGradient",
    "relu-rnn": "ReluRnn",
    "tanh-blur": "TanhBlur",
    "gates": "Gates",
    "bidirectional": "Bidirectional",
    "bottleneck": "Bottleneck",
    "alignment": "Alignment",
    "path-length": "PathLength",
    "parallel": "Parallel",
    "scaling": "Scaling",
    "projections": "Projections",
    "heads": "Heads",
    "order": "Order",
    "sinusoid": "Sinusoid",
    "residual-norm": "ResidualNorm",
    "worked-example": "WorkedExample",
    "cross-attention": "CrossAttention",
    "patches": "Patches",
    "filters": "Filters",
    "distance": "Distance",
    "first-layer": "FirstLayer",
    "data-hunger": "DataHunger",
    "translation": "Translation",
}
"""Name on the command line -> class, in the module of the same name with underscores."""

__all__ = ["STUDIES", "Findings", "Settings", "Study", "Verdict", "study_of"]


def study_of(name: str) -> Study:
    """The study of a name.

    Raises:
        ValueError: there is no such study.
    """
    if name not in STUDIES:
        raise ValueError(f"no study {name!r}; known are {', '.join(STUDIES)}")
    module = import_module(f"vit_str.studies.{name.replace('-', '_')}")
    study: Study = getattr(module, STUDIES[name])()
    return study
