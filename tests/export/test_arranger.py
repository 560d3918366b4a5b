"""The graph of a network that arranges pages says what the network says."""

from typing import Any

import numpy as np
import pytest
import torch
from onnx import ModelProto

from vit_str.export.arranger import arranger_graph
from vit_str.export.graphs import trace, write_graph
from vit_str.models.arranger import PageArranger
from vit_str.pages.arrange.features import Shapes, Tokens, feature_count, tokens_of
from vit_str.pages.arrange.network import ArrangerNetwork, open_bundled
from vit_str.pages.arrange.pieces import Words
from vit_str.torch_runtime.network_files import NetworkFile

ROLES = ["paragraph", "heading", "cell", "nothing"]


@pytest.fixture(scope="module")
def arranger() -> NetworkFile[PageArranger]:
    torch.manual_seed(0)
    network = PageArranger(feature_count(), len(ROLES), dim=32, depth=2, heads=2)
    return NetworkFile(network.eval(), ROLES, {"step": 3})


@pytest.fixture(scope="module")
def graphs(arranger) -> dict[bool, ModelProto]:
    """In float32, and in 8 bits; traced once, which takes seconds."""
    traced: list[ModelProto] = []

    def traced_once(*arguments: Any) -> ModelProto:
        traced[:] = traced or [trace(*arguments)]
        copied = ModelProto()
        copied.CopyFrom(traced[0])
        return copied

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vit_str.export.arranger.trace", traced_once)
        return {int8: arranger_graph(arranger, int8=int8) for int8 in (False, True)}


def tokens(count: int) -> Tokens:
    random = np.random.default_rng(count)
    corners = random.uniform(0, 500, (count, 2))
    boxes = np.concatenate([corners, corners + np.array([60, 15])], 1)
    texts = [f"word {number}" for number in range(count)]
    words = Words(texts, boxes, np.full(count, 12.0), np.full(count, 2.0))
    rules = np.array([[0.0, 200, 500, 201], [250, 0, 251, 500]])
    none = np.zeros((0, 5))
    shapes = Shapes(rules, none, none[:, :4], none)
    return tokens_of(words, [np.array([number]) for number in range(count)], shapes)


@pytest.mark.parametrize("count", [1, 2, 40])
@pytest.mark.parametrize(("int8", "tolerance"), [(False, 1e-4), (True, 0.1)])
def test_graph_and_network_agree(arranger, graphs, tmp_path, count, int8, tolerance):
    path = tmp_path / "arranger.onnx"
    write_graph(graphs[int8], path)
    page = tokens(count)
    found = ArrangerNetwork(path).scores(page)
    with torch.inference_mode():
        expected = arranger.network(
            torch.from_numpy(page.features)[None],
            torch.from_numpy(page.places)[None],
            torch.from_numpy(page.ngrams)[None],
            torch.ones(1, len(page.features), dtype=torch.bool),
        )
    relations = expected.relations[0, :, :count, :count].numpy()
    roles = expected.roles[0, :count].numpy()
    np.testing.assert_allclose(found.relations, relations, atol=tolerance)
    np.testing.assert_allclose(found.roles, roles, atol=tolerance)
    assert list(found.names) == ROLES


def test_eight_bits_take_a_third_of_the_room(graphs):
    assert graphs[True].ByteSize() < 0.55 * graphs[False].ByteSize()


@pytest.mark.parametrize("data", [b"", b"no graph at all"])
def test_another_file_is_named(tmp_path, data):
    path = tmp_path / "other.onnx"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"other\.onnx"):
        ArrangerNetwork(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"nope\.onnx: no such file"):
        ArrangerNetwork(tmp_path / "nope.onnx")


def test_the_network_of_the_package_knows_the_roles_of_drawn_pages():
    from vit_str.synthesis.pages.truth import ROLES as DRAWN

    assert set(DRAWN) < set(open_bundled().roles)
