"""Lines as data of training, and a reader of lines that begins as one of words."""

import pytest
import torch
from PIL import Image

from vit_str.characters.charset import Charset, charset_of
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import (
    CtcDecoder,
    LineTransformer,
    Recognizer,
    TransformerDecoder,
    VisionTransformer,
)
from vit_str.synthesis.old_print import OldPrint
from vit_str.torch_runtime.weights_file import WeightsFile
from vit_str.training import RenderedLines
from vit_str.training.initialization import start_from

EUROPEAN = charset_of("european").characters


def test_batches_of_the_validation_have_one_width_each(
    two_fonts, tmp_path, monkeypatch
):
    monkeypatch.setenv("VIT_STR_CACHE", str(two_fonts.parent))
    (tmp_path / "images").mkdir()
    sizes = [(400, 40), (401, 40), (90, 30), (9000, 30)]
    for number, size in enumerate(sizes):
        Image.new("RGB", size, "white").save(tmp_path / "images" / f"{number}.png")
    rows = [f"images/{number}.png\tline {number}\n" for number in range(4)]
    (tmp_path / "labels.tsv").write_text("".join(rows))
    data = RenderedLines(
        4, EUROPEAN, fonts=[two_fonts], real=[tmp_path], rendered_limit=8
    )
    data.setup("fit")
    rendered, real = data.val_dataloader()
    assert [len(batch.labels) for batch in rendered] == [4, 4]
    assert [batch.images.shape[-1] for batch in real] == [96, 320, 1600]
    assert [batch.labels for batch in real] == [
        ["line 2"],
        ["line 0", "line 1"],
        ["line 3"],
    ]


def test_a_share_of_the_batches_is_old_print(two_fonts, monkeypatch):
    monkeypatch.setenv("VIT_STR_CACHE", str(two_fonts.parent))
    latin = charset_of("latin").characters
    data = RenderedLines(
        2, latin, fonts=[two_fonts], old_print=OldPrint(0.5, "de-Latf")
    )
    data.setup("fit")
    renderer = data.training_renderer("cpu")
    texts = [
        data.charset.decode(row)
        for i in range(40)
        for row in renderer.batch(2, 1, i).labels.tolist()
    ]
    assert 10 < sum("ſ" in text for text in texts) < 60


@pytest.mark.parametrize("patch", [(32, 4), (16, 4)])
def test_a_reader_of_words_becomes_one_of_lines(patch):
    charset = Charset("abc")
    sizes = {
        "dim": 16,
        "depth": 2,
        "heads": 2,
        "stem_widths": (8, 8),
        "stem_depths": (1, 1),
    }
    words = Recognizer(
        VisionTransformer(patch_size=(16, 4), **sizes), TransformerDecoder(3, 16, 1, 2)
    )
    lines = Recognizer(
        LineTransformer(patch_size=patch, **sizes), CtcDecoder(3, 16, 50)
    )
    file = WeightsFile(words, charset, Preprocessing(), {})
    start_from(lines, charset, file)
    mine = lines.encoder.state_dict()
    theirs = words.encoder.state_dict()
    assert torch.equal(mine["stem.1.0.weight"], theirs["stem.1.0.weight"])
    block = "blocks.1.attention.to_queries.weight"
    assert torch.equal(mine[block], theirs[block])
    assert mine["embed_patches.weight"].shape[1] == 8 * patch[0] // 4
    other = Recognizer(
        LineTransformer(patch_size=patch, **{**sizes, "heads": 4}),
        CtcDecoder(3, 16, 50),
    )
    with pytest.raises(
        ValueError, match=r"encoder.heads is 4 in the configuration, 2 in the file"
    ):
        start_from(other, charset, file)
