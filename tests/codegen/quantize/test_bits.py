# SPDX-License-Identifier: Apache-2.0
"""Bits by place: which weights get them, what is refused, and that manifest, tables and calibration follow."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tiny_checkpoint import write_tiny_checkpoint

from codegen import pipeline
from codegen.calibration.calibrate import calibrate
from codegen.console.inspect import Question, inspect
from codegen.emulate import emulate
from codegen.errors import EtchError
from codegen.ir import program as p
from codegen.ir import walks
from codegen.ir.graph import Graph
from codegen.ir.program_changes import with_matrices
from codegen.load.checkpoint import Checkpoint
from codegen.lower import lower
from codegen.pack.layouts import unpack_factors, unpack_s4, unpack_s8
from codegen.pack.tables import weight_bytes
from codegen.quantize import choose_recipe, chosen_bits
from codegen.quantize.bits import bits_text, parse_bits, places_of, width_of
from codegen.render.manifest import manifest as render_manifest
from codegen.report import generation_report
from codegen.targets import TARGETS

LAYERS = 3
NAMES = ("query", "key", "value", "attention_output", "intermediate", "output")
TABLES = ("word_embeddings", "segment_embeddings", "position_embeddings")
PLACES = [*TABLES, "pooler", *(f"{layer}.{name}" for name in NAMES for layer in range(LAYERS))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tiny")
    write_tiny_checkpoint(path, hidden=36, heads=3, layers=LAYERS, intermediate=50)
    return path


@pytest.fixture(scope="module")
def checkpoint(folder: Path) -> Checkpoint:
    return pipeline.load(folder)


@pytest.fixture(scope="module")
def graph(checkpoint: Checkpoint) -> Graph:
    return pipeline.to_graph(checkpoint, None)


def widths(program: p.Program) -> dict[str, int]:
    return {
        place: width_of(weights.matrix)
        for place, _, weights in places_of(program)
        if not isinstance(weights.matrix, p.F32Matrix)
    }


def random_bits(seed: int) -> dict[str, int]:
    random = np.random.default_rng(seed)
    named = random.permutation(PLACES)[: random.integers(1, len(PLACES))]
    return {str(place): int(random.choice((8, 4))) for place in named}


@pytest.mark.parametrize(
    ("text", "bits"),
    [("pooler=4", {"pooler": 4}), ("2.query=8,word_embeddings=4", {"2.query": 8, "word_embeddings": 4})],
)
def test_what_is_read(text: str, bits: dict[str, int]) -> None:
    assert parse_bits(text) == bits
    assert bits_text(bits) == text


@pytest.mark.parametrize("text", ["", "pooler", "pooler=", "pooler=5", "=4", "pooler=4,", "pooler=4,pooler=8", "a= 4"])
def test_what_is_not(text: str) -> None:
    with pytest.raises(ValueError, match=r"^"):
        parse_bits(text)


@pytest.mark.parametrize(
    ("bits", "code"),
    [
        ({"classifier": 4}, "unknown-place"),  # stays float
        ({"embedding_norm": 4}, "unknown-place"),
        ({"3.query": 4}, "unknown-place"),
        ({"0.pooler": 4}, "unknown-place"),
        ({"encoder_layer": 4}, "unknown-place"),
        ({"": 4}, "unknown-place"),
        ({"pooler": 5}, "unknown-bits"),
        ({"pooler": "4"}, "unknown-bits"),
        ({"pooler": []}, "unknown-bits"),
    ],
)
def test_what_is_refused(graph: Graph, bits: dict[str, int], code: str) -> None:
    with pytest.raises(EtchError) as refused:
        lower(graph, choose_recipe("w8a8", 8, bits))
    assert (refused.value.code, refused.value.stage) == (code, "arguments")


def test_float_weights_have_no_bits() -> None:
    with pytest.raises(EtchError) as refused:
        choose_recipe("fp32", 8, {"pooler": 8})
    assert (refused.value.code, refused.value.stage) == ("float-weights", "arguments")


def test_one_layer_counts_more_than_all(graph: Graph) -> None:
    found = widths(lower(graph, choose_recipe("w8a8", 4, {"1.query": 8, "query": 4, "segment_embeddings": 4})))
    four = {*TABLES, "0.query", "2.query"}
    assert found == {place: 4 if place in four else 8 for place in PLACES}


@pytest.mark.parametrize("recipe", ["w8a8", "w7a8", "w4a8"])
@pytest.mark.parametrize("seed", range(5))
def test_each_place_has_its_bits(graph: Graph, recipe: str, seed: int) -> None:
    """The tables are those of the recipes with the same bits everywhere, and what is named makes them again."""
    bits, embedding = random_bits(seed), (8, 4)[seed % 2]
    program = lower(graph, choose_recipe(recipe, embedding, bits))
    others = {"w8a8": 8, "w7a8": 7, "w4a8": 4}[recipe]
    wanted = dict.fromkeys(PLACES, others) | dict.fromkeys(TABLES, embedding) | {"segment_embeddings": 8} | bits
    assert widths(program) == wanted
    whole = {
        8: lower(graph, choose_recipe("w8a8")),
        7: lower(graph, choose_recipe("w7a8")),
        4: lower(graph, choose_recipe("w4a8", 4, {"segment_embeddings": 4})),
    }
    alike = {width: {place: each.matrix for place, _, each in places_of(whole[width])} for width in whole}
    for place, _, weights in places_of(program):
        if place in wanted:
            same = alike[wanted[place]][place]
            assert type(weights.matrix) is type(same)
            assert weights.matrix.q.tobytes() == same.q.tobytes()
            assert weights.matrix.scales.tobytes() == same.scales.tobytes()
    again = choose_recipe(recipe, *chosen_bits(program))
    assert widths(lower(graph, again)) == wanted
    places = [(place, weights.source) for place, _, weights in places_of(program) if wanted.get(place, 8) != 8]
    exchanged = with_matrices(whole[8], {source: alike[wanted[place]][place] for place, source in places})
    ids, segments = list(range(2, 12)), [0] * 10
    assert emulate(exchanged, ids, segments).tobytes() == emulate(program, ids, segments).tobytes()


def test_the_fewest_places_are_named(graph: Graph) -> None:
    for recipe, embedding, bits in (
        ("w8a8", 8, {"word_embeddings": 4, "1.query": 4, "intermediate": 4}),
        ("w4a8", 4, {"segment_embeddings": 4, "2.output": 8}),
        ("w7a8", 8, {"2.output": 8, "1.query": 4}),
        ("w7a8", 4, {}),
        ("w8a8", 4, {}),
    ):
        assert chosen_bits(lower(graph, choose_recipe(recipe, embedding, bits))) == (embedding, bits)
    everywhere = {place: 4 for place in PLACES if place.endswith(".query")}
    assert chosen_bits(lower(graph, choose_recipe("w8a8", 8, everywhere))) == (8, {"query": 4})
    assert chosen_bits(lower(graph, choose_recipe("fp32"))) == (8, {})


@pytest.mark.parametrize("target", TARGETS)
def test_tables_of_layers_that_differ(checkpoint: Checkpoint, graph: Graph, target: str) -> None:
    """Each layer's weights are unpacked from where the generated struct says that they lie."""
    recipe = choose_recipe("w8a8", 8, {"0.intermediate": 4, "2.intermediate": 4, "1.query": 4, "output": 4})
    model = pipeline.make_model("tiny", checkpoint, graph, recipe, target)
    tables = {table.name: table for table in model.tables}
    packing = TARGETS[target].packing
    for slot, loop in walks.slots_of(model.program):
        for layer, weights in enumerate(slot.stored if loop and slot.name in NAMES else ()):
            matrix = weights.matrix
            role = "nibbles" if isinstance(matrix, p.S4Matrix) else "weights"

            def array(role: str, slot: p.WeightSlot = slot, layer: int = layer) -> np.ndarray:
                table = tables[f"{slot.name}_{role}"]
                return table.arrays[int(table.index(layer)[1:-1])]

            outputs, inputs = matrix.q.shape
            if role == "nibbles":
                assert np.array_equal(unpack_s4(array(role), outputs, inputs, packing), matrix.q)
                assert np.array_equal(unpack_factors(array("factors"), outputs, packing), matrix.factors)
            else:
                assert np.array_equal(unpack_s8(array(role), outputs, inputs, packing), matrix.q)
            assert array("scales").tobytes() == matrix.scales.tobytes()
            assert array("bias").tobytes() == weights.bias.tobytes()
    assert {name: table.layers for name, table in tables.items() if 0 < len(table.layers) < LAYERS} == {
        "query_weights": (0, 2),
        "query_nibbles": (1,),
        "query_factors": (1,),
        "intermediate_weights": (1,),
        "intermediate_nibbles": (0, 2),
        "intermediate_factors": (0, 2),
    }
    listed = json.loads(render_manifest(model, "incbin", {}))
    assert listed["bits"] == {"1.query": 4, "0.intermediate": 4, "2.intermediate": 4, "output": 4}
    layers = {name: entry["layers"] for name, entry in listed["table_list"].items()}
    assert (layers["query_weights"], layers["query_nibbles"], layers["query_scales"]) == ([0, 2], [1], LAYERS)
    assert layers["word_embeddings_table"] == 0


def test_calibration_leaves_8_bits_alone(checkpoint: Checkpoint, graph: Graph, tmp_path: Path) -> None:
    program = lower(graph, choose_recipe("w8a8", 4, {"1.intermediate": 4, "2.key": 4}))
    (tmp_path / "texts").write_text("the cat sat on a mat\ngood dogs ran\n" * 9)
    after = calibrate(program, graph, checkpoint.tokenizer, tmp_path / "texts").program
    changed = [
        place
        for (place, _, one), (_, _, other) in zip(places_of(program), places_of(after), strict=True)
        if one is not other
    ]
    assert changed == ["2.key", "1.intermediate"]
    for recipe in ("w8a8", "w7a8"):
        only_tables = lower(graph, choose_recipe(recipe, 4))
        with pytest.raises(EtchError) as refused:
            calibrate(only_tables, graph, checkpoint.tokenizer, tmp_path / "texts")
        assert refused.value.code == "nothing-to-calibrate"


def test_reports(folder: Path, checkpoint: Checkpoint, graph: Graph) -> None:
    recipe = choose_recipe("w8a8", 4, {"1.query": 4})
    model = pipeline.make_model("tiny", checkpoint, graph, recipe, "host")
    lines = generation_report(checkpoint, graph, model)
    assert "recipe       w8a8 --embedding-bits 4 --bits 1.query=4, target host (panel packing)" in lines
    bits = {line.split()[0]: line.split()[1] for line in lines if line.startswith("  bert")}
    assert bits["bert.encoder.layer.1.attention.self.query.weight"] == "4"
    assert bits["bert.encoder.layer.0.attention.self.query.weight"] == "8"
    inspected: list[str] = []
    inspect(Question(folder), inspected.append)
    begin = next(i for i, line in enumerate(inspected) if line.startswith("bits "))
    shown = {line.split()[0]: line.split()[1:] for line in inspected[begin + 1 : begin + 11]}
    assert set(shown) == {*TABLES, *NAMES, "pooler"}
    target = TARGETS["m-profile"]
    for width, column in ((8, 1), (4, 2)):
        program = lower(graph, choose_recipe("w8a8", width, dict.fromkeys(shown, width)))
        for name, columns in shown.items():
            taken = sum(weight_bytes(weights, target) for _, each, weights in places_of(program) if each == name)
            assert columns[column] == f"{taken:,}"
    assert shown["query"][0] == str(LAYERS)
