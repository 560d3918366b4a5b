import pytest
import torch

from vit_str.analysis.subjects import load_subject, load_subjects


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
