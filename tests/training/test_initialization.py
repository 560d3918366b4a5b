"""A run that starts from weights keeps every character that it can, whatever the charset."""

import pytest
import torch

from vit_str.characters.charset import Charset, charset_of
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import Recognizer, TransformerDecoder, VisionTransformer
from vit_str.torch_runtime.weights_file import WeightsFile, load_weights, save_weights
from vit_str.training.cli import main
from vit_str.training.initialization import start_from

pytestmark = pytest.mark.filterwarnings("default")


def model(charset: Charset, seed: int = 0, **changes: object) -> Recognizer:
    torch.manual_seed(seed)
    part = {"dim": 32, "depth": 2, "heads": 2}
    encoder = {"image_size": (16, 32), "patch_size": (8, 8)} | part
    decoder = {"charset_size": len(charset), "maximum_length": 6} | part
    for name, value in changes.items():
        where, _, argument = name.partition("_")
        (encoder if where == "encoder" else decoder)[argument] = value
    recognizer = Recognizer(VisionTransformer(**encoder), TransformerDecoder(**decoder))
    with torch.no_grad():  # as after training: nothing is zero or one
        for parameter in recognizer.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return recognizer.eval()


def weights(charset: Charset, seed: int = 1, **changes: object) -> WeightsFile:
    return WeightsFile(
        model(charset, seed, **changes), charset, Preprocessing(16, 32), {}
    )


def logits(recognizer: Recognizer, charset: Charset, words: list[str]) -> torch.Tensor:
    images = torch.randn(
        len(words), 3, 16, 32, generator=torch.Generator().manual_seed(5)
    )
    with torch.no_grad():
        features = recognizer.encode(images)
        return recognizer.decoder.logits(features, charset.encode_batch(words))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("abcdef", "abcdefghij가나", "6 kept, 6 new (ghij가나), none dropped"),
        ("abcdefgh", "bdf", "3 kept, none new, 5 dropped (acegh)"),
        ("abcdef", "fedcba", "6 kept, none new, none dropped"),
        ("abcdef", "xfybaz", "3 kept, 3 new (xyz), 3 dropped (cde)"),
    ],
)
def test_kept_characters_score_exactly_as_before(old, new, said):
    before = weights(Charset(old))
    after = model(Charset(new))
    _, *lines = start_from(after, Charset(new), before)
    assert lines == [f"characters: {said}"]
    kept = "".join(character for character in new if character in old)
    here, there = ([*Charset(each).encode(kept), len(each)] for each in (new, old))
    # The rows are equal to the bit; products of matrices of other sizes round differently.
    for name in ("classify.weight", "classify.bias", "embed_characters.weight"):
        given, taken = (
            part.decoder.get_parameter(name) for part in (before.recognizer, after)
        )
        assert torch.equal(given[there], taken[here])
    words = [kept[0] * 2, kept[:3], kept[-1]]
    first = logits(before.recognizer, Charset(old), words)[..., there]
    second = logits(after, Charset(new), words)[..., here]
    torch.testing.assert_close(first, second, rtol=0, atol=1e-6)
    assert len(after.decoder.embed_characters.weight.unique(dim=0)) == len(new) + 1


def test_a_larger_charset_keeps_every_character_in_every_layer():
    """As from ``tiny``, which reads European letters and has a draft head, to all of Latin."""
    old = charset_of("european")
    new = charset_of("latin")
    before = weights(old)
    after = model(new)
    start_from(after, new, before)
    given = before.recognizer.state_dict()
    layers = {
        name: tensor
        for name, tensor in after.state_dict().items()
        if len(new) + 1 in tensor.shape
    }
    assert len(layers) >= 3
    for name, tensor in layers.items():
        assert torch.equal(tensor[: len(old)], given[name][: len(old)]), name
        assert torch.equal(tensor[len(new)], given[name][len(old)]), (
            f"{name}: the start or end"
        )


def test_no_common_character_leaves_random_rows_in_the_output():
    """Many new characters are counted, and the first are shown."""
    new = Charset("".join(map(chr, range(0xAC00, 0xAC00 + 30))))
    after = model(new)
    untouched = after.decoder.classify.weight.clone()
    _, line = start_from(after, new, weights(Charset("abc")))
    shown = new.characters[:20]
    assert line == f"characters: 0 kept, 30 new ({shown} ...), 3 dropped (abc)"
    assert torch.equal(after.decoder.classify.weight[:30], untouched[:30])
    assert not torch.equal(after.decoder.classify.weight[30], untouched[30])


def test_positions_are_kept_as_far_as_both_reach():
    charset = Charset("abc")
    longer = model(charset, decoder_maximum_length=9, encoder_image_size=(16, 64))
    fresh = {name: tensor.clone() for name, tensor in longer.state_dict().items()}
    file = weights(charset)
    _, _, line, _ = start_from(longer, charset, file)
    given = file.recognizer.state_dict()
    letters = "decoder.embed_positions.weight"
    patches = "encoder.embed_positions.weight"
    assert line == f"positions kept: {patches} 8 of 16, {letters} 7 of 10"
    assert torch.equal(longer.decoder.embed_positions.weight[:7], given[letters])
    assert torch.equal(longer.decoder.embed_positions.weight[7:], fresh[letters][7:])
    now = longer.encoder.embed_positions.weight.view(2, 8, 32)
    assert torch.equal(now[:, :4], given[patches].view(2, 4, 32))
    assert torch.equal(now[:, 4:], fresh[patches].view(2, 8, 32)[:, 4:])


def test_what_does_not_fit_is_said():
    charset = Charset("abc")
    other = model(
        charset, encoder_stem_widths=(8,), encoder_stem_depths=(1,), decoder_depth=1
    )
    first, characters, *rest = start_from(
        other, charset, weights(charset), "mine.safetensors"
    )
    assert first.startswith("starting from mine.safetensors: ")
    assert characters == "characters: 3 kept, none new, none dropped"
    fresh, unused, changed = rest
    assert fresh.startswith("fresh, not in the file or of another shape: encoder.stem.")
    assert unused.startswith(
        "in the file, but without a place in this model: decoder.blocks.1."
    )
    assert "decoder.depth is 1 in the configuration, 2 in the file" in changed


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"encoder_dim": 16, "decoder_dim": 16},
            "encoder.dim is 16 in the configuration, 32 in the file; decoder.dim is 16",
        ),
        (
            {"encoder_heads": 4},
            "encoder.heads is 4 in the configuration, 2 in the file",
        ),
    ],
)
def test_another_architecture_is_refused_by_name(changes, message):
    charset = Charset("abc")
    with pytest.raises(ValueError, match=message):
        start_from(model(charset, **changes), charset, weights(charset), "mine")


def test_train_starts_from_a_file_and_a_charset(tmp_path, arguments, capsys):
    """The whole way of a user: weights of a run, another charset, and the same command again."""
    first = Charset("abcdefghijklmnopqrstuvwxyz")
    torch.manual_seed(1)
    part = {"dim": 32, "depth": 1, "heads": 2}
    given = Recognizer(
        VisionTransformer(**part, patch_size=(8, 8)), TransformerDecoder(26, **part)
    )
    file = tmp_path / "given.safetensors"
    save_weights(file, given, first, Preprocessing(32, 128), {"images": 1234})
    command = [*arguments, "--charset", "zyxwvéabc", "--init", str(file)]
    command += ["--folder", str(tmp_path / "other"), "--model.learning_rate", "0"]
    assert main([*command, "--trainer.max_steps", "2"]) == 0
    said = capsys.readouterr().err
    assert "starting from" in said and "1,234 images seen" in said
    assert "8 kept, 1 new (é), 18 dropped (defghijklmnopqrstu)" in said
    written = load_weights(tmp_path / "other" / "weights.safetensors")
    assert written.charset.characters == "zyxwvéabc"
    assert written.provenance["started_from"] == {
        "weights": str(file),
        "images": 1234,
        "language": None,
    }
    assert not (tmp_path / "run").exists(), "everything must be in the folder asked for"
    # Without a learning rate all is as it was at the start, in the average too.
    rows = torch.tensor(written.charset.encode("zyxwvabc"))
    embeddings = written.recognizer.decoder.embed_characters.weight
    expected = given.decoder.embed_characters.weight[first.encode("zyxwvabc")]
    torch.testing.assert_close(embeddings[rows], expected)

    file.unlink()  # it is not needed to resume
    assert main([*command, "--trainer.max_steps", "3"]) == 0
    said = capsys.readouterr().err
    assert "is not used, as the run resumes" in said and "starting from" not in said
    again = load_weights(tmp_path / "other" / "weights.safetensors").provenance
    assert again["step"] == 3 and again["started_from"]["images"] == 1234

    assert main([*command, "--charset", "abczyxwvé", "--trainer.max_steps", "4"]) == 2
    said = capsys.readouterr().err
    assert (
        "9 characters, found 9 or another order of them; to change it, start from"
        in said
    )


OWN_WORDS = ("--data", "vit_str.training.OwnWords", "--data.init_args.sources")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--charset", "koraen"], "did you mean korean"),
        (["--charset", "missing.txt"], "no such file"),
        (["--init", "missing.safetensors"], "no such file"),
        (
            ["--trainer.max_time", "3 hours"],
            "expected --trainer.max_time as in 3h, 90m",
        ),
        (["--init", "tyni"], "no model 'tyni'"),
        (["--init", "tiny"], "encoder.dim is 32 in the configuration, 256 in the file"),
        ([*OWN_WORDS, "[nowhere]"], "train: nowhere: no such file or folder"),
    ],
)
def test_mistakes_are_one_line(option, message, arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, *option])
    assert stopped.value.code == 2
    line = capsys.readouterr().err.strip().splitlines()[-1]
    assert line.startswith("vit-str train: ") and message in line
