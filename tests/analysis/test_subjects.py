import pandas as pd
import pytest
import torch

from vit_str.analysis import attention_distance
from vit_str.analysis.images import batches_of, load_images
from vit_str.analysis.probe import layer_outputs
from vit_str.analysis.subjects import load_subject, load_subjects
from vit_str.characters.charset import Charset
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import CtcDecoder, LineTransformer, Recognizer
from vit_str.torch_runtime.weights_file import save_weights


def test_the_same_architecture_without_training(small_weights):
    path = small_weights(seed=5, class_token=True)
    trained, fresh = load_subject(str(path)), load_subject(f"untrained:{path}")
    assert not fresh.trained
    assert (trained.name, fresh.name) == ("small", "untrained:small")
    shapes = [
        {name: tensor.shape for name, tensor in subject.recognizer.state_dict().items()}
        for subject in (trained, fresh)
    ]
    assert shapes[0] == shapes[1]
    again, other = (
        load_subject(f"untrained:{path}"),
        load_subject(f"untrained:{path}", seed=1),
    )
    weights = [
        subject.recognizer.encoder.embed_patches.weight
        for subject in (trained, fresh, again, other)
    ]
    assert torch.equal(weights[1], weights[2])
    assert not torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[1], weights[3])


@pytest.mark.parametrize(
    "name", ["no-such", "untrained:no-such", "untrained:no-such.yaml"]
)
def test_no_such_model(name):
    with pytest.raises(ValueError, match="no-such"):
        load_subject(name)


@pytest.mark.parametrize("name", ["vit_base_patch16_224", "google/vit-base"])
def test_models_of_libraries_are_called_by_their_library(name):
    with pytest.raises(ValueError, match="of other libraries: timm:NAME, hf:NAME"):
        load_subject(name)


@pytest.fixture
def line_weights(tmp_path):
    """A reader of lines, untrained: two rows of patches, whose columns have two features each."""
    torch.manual_seed(0)
    encoder = LineTransformer(
        dim=32, depth=2, heads=2, patch_size=(16, 4), stem_widths=(), stem_depths=()
    )
    recognizer = Recognizer(encoder, CtcDecoder(94, 32))
    preprocessing = Preprocessing(32, 1600, width_step=32)
    path = tmp_path / "lines.safetensors"
    save_weights(path, recognizer, Charset(), preprocessing, {})
    return path


def test_lines_of_one_width(line_weights, labeled_folder):
    """Distances are of the tokens that attend, not of the features behind them."""
    subject = load_subject(str(line_weights), image_size=(32, 96))
    encoder = subject.encoder
    assert (encoder.grid, encoder.attention_grid) == ((1, 48), (2, 24))
    whole = load_subject(f"untrained:{line_weights}", image_size=(32, 1600)).encoder
    assert whole.attention_grid == (2, 400)
    images = load_images(subject, str(labeled_folder), 10)
    ((_, pixels),) = batches_of(subject, images)
    assert pixels.shape[1:] == (3, 32, 96)
    outputs = layer_outputs(encoder, pixels)
    assert [output.shape[1:] for output in outputs] == [(32, 2, 24)] * 2
    found = attention_distance(line_weights, labeled_folder, image_size=(32, 96))
    by_tensor = attention_distance(encoder, pixels)
    assert found.analysis.grid.image_size == (32, 96)
    pd.testing.assert_frame_equal(found.rows.iloc[:, 1:], by_tensor.rows.iloc[:, 1:])


@pytest.mark.parametrize(
    ("size", "why"),
    [
        (None, "reads lines of any width: say which with --image-size 32 WIDTH"),
        ((32, 100), "that 32 divides"),
        ((16, 96), "lines of height 32"),
    ],
)
def test_lines_of_no_width(size, why, line_weights):
    with pytest.raises(ValueError, match=why):
        load_subjects([str(line_weights)], image_size=size)


@pytest.mark.parametrize(
    "text", ["", "model: 3", "model: [", "model: {recognizer: {}}", "\0"]
)
def test_a_configuration_that_is_none(tmp_path, text):
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match="not a configuration of a model") as error:
        load_subject(f"untrained:{path}")
    assert "\n" not in str(error.value)


def test_files_of_the_same_name_keep_their_paths(small_weights):
    first, second, third = (
        str(small_weights(name)) for name in ("a/w", "b/w", "other")
    )
    assert [each.name for each in load_subjects([first, third])] == ["w", "other"]
    assert [each.name for each in load_subjects([first, second])] == [first, second]
