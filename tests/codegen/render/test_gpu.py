# SPDX-License-Identifier: Apache-2.0
"""What is no encoder of the one form that GPUs run is refused, whatever part of it is another: each field of each op of
a program is changed in turn, each op dropped, doubled, exchanged; and programs that are no such encoders at all."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_checkpoint import write_tiny_checkpoint
from tiny_sentence import write_tiny_sentence_model

from codegen import pipeline
from codegen.errors import EtchError
from codegen.gpu import encoder_of
from codegen.ir import program as p
from codegen.lower import lower
from codegen.quantize import RECIPES, choose_recipe

LAYERS = 2


def classifier(folder: Path, recipe: str = "w8a8") -> p.Program:
    write_tiny_checkpoint(folder, layers=LAYERS)
    return pipeline.lower(pipeline.load(folder), recipe, None)


def embedding(folder: Path, pooling: str = "mean") -> p.Program:
    write_tiny_sentence_model(folder, pooling=pooling, layers=LAYERS)
    return pipeline.lower(pipeline.load(folder), "w8a8", None)


def refused(program: p.Program) -> str:
    """The message of the refusal."""
    with pytest.raises(EtchError) as caught:
        encoder_of(program)
    assert (caught.value.code, caught.value.stage) == ("gpu-not-supported", "gpu")
    return caught.value.message


@pytest.mark.parametrize("recipe", RECIPES)
def test_what_the_recipes_make_is_run(recipe: str, tmp_path: Path) -> None:
    encoder = encoder_of(classifier(tmp_path / "classifier", recipe))
    assert [linear.weights.name for linear in encoder.linears] == ["pooler", "classifier"]
    assert encoder.query.weights.name == "query"
    write_tiny_sentence_model(tmp_path / "sentence", pooling="mean")
    assert encoder_of(pipeline.lower(pipeline.load(tmp_path / "sentence"), recipe, None)).linears == ()


def test_bits_of_single_weights_are_run(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, layers=LAYERS)
    graph = pipeline.to_graph(pipeline.load(tmp_path), None)
    encoder_of(lower(graph, choose_recipe("w4a8", 4, {"1.query": 8, "pooler": 8})))


# --- every field of every op -----------------------------------------------------------------------------------------


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Names and indices on the way to each field that holds no other, with its value."""
    if isinstance(value, tuple) and any(dataclasses.is_dataclass(item) for item in value):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    elif dataclasses.is_dataclass(value) and path[-1:] != ("task",):
        for field in dataclasses.fields(value):
            yield from leaves(getattr(value, field.name), (*path, field.name))
    else:
        yield path, value


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key] if isinstance(key, int) else getattr(value, key)
    return value


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """`value` with something else in one place."""
    if not path:
        return new
    key, *rest = path
    inner = changed(at(value, (key,)), tuple(rest), new)
    if isinstance(key, int):
        return (*value[:key], inner, *value[key + 1 :])
    return dataclasses.replace(value, **{key: inner})


def another(value: Any) -> Any:
    """Something else of the same type; for None, a buffer."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, np.ndarray):
        return value[:-1]
    if value is None:
        return p.Buffer("hidden", "f32", "tokens", 10)
    if isinstance(value, tuple):
        return (*value, 0)
    return f"{value}_other" if isinstance(value, str) else value + 1


# What the generated code takes from the program whatever it is: values of tables and constants, names of the model's.
READ = {"source", "epsilon", "inverse_width", "score_scale", "scales", "factors", "recipe", "task"}


def is_read(path: tuple[Any, ...], program: p.Program) -> bool:
    if path[-1] == "name":
        return isinstance(at(program, path[:-1]), p.WeightSlot | p.Loop)
    return path[-1] in READ


@pytest.mark.parametrize("make", [classifier, lambda folder: classifier(folder, "fp32"), embedding])
def test_every_other_field_is_refused(make: Callable[[Path], p.Program], tmp_path: Path) -> None:
    program = make(tmp_path)
    encoder_of(program)
    tried = 0
    for path, value in leaves(program):
        if is_read(path, program):
            continue
        tried += 1
        try:
            refused(changed(program, path, another(value)))
        except pytest.fail.Exception:
            pytest.fail(f"taken for an encoder with another {path}")
    assert tried > 150


@pytest.mark.parametrize("make", [classifier, embedding])
def test_every_other_buffer_is_refused(make: Callable[[Path], p.Program], tmp_path: Path) -> None:
    """Another form of it wherever it is read and written: only names are the program's own."""
    program = make(tmp_path)
    tried = set()
    for path, value in leaves(program):
        old = at(program, path[:-1])
        if not isinstance(old, p.Buffer) or path[-1] == "name":
            continue
        tried.add(old.name)
        other = dataclasses.replace(old, **{path[-1]: another(value)})
        refused(everywhere(program, old, other))
    assert tried >= {"hidden", "hidden_q", "projection", "keys", "values", "query", "context", "inner"}


def everywhere(value: Any, old: p.Buffer, new: p.Buffer) -> Any:
    if isinstance(value, tuple):
        return tuple(everywhere(item, old, new) for item in value)
    if isinstance(value, p.Buffer):
        return new if value == old else value
    if isinstance(value, p.WeightSlot) or not dataclasses.is_dataclass(value):
        return value
    inner = {field.name: everywhere(getattr(value, field.name), old, new) for field in dataclasses.fields(value)}
    return dataclasses.replace(value, **inner)


def linears(program: p.Program) -> dict[str, tuple[Any, ...]]:
    """Where each is."""
    paths = [path[:-1] for path, _ in leaves(program) if path[-1] == "activation"]
    return {at(program, (*path, "weights", "name")): path for path in paths}


def test_activations_of_two_linears_are_read(tmp_path: Path) -> None:
    program = classifier(tmp_path)
    accepted = []
    for name, path in linears(program).items():
        try:
            encoder_of(changed(program, (*path, "activation"), "silu"))
            accepted.append(name)
        except EtchError:
            pass
    assert accepted == ["intermediate", "pooler"]


def test_messages_name_what_is_different(tmp_path: Path) -> None:
    program = classifier(tmp_path)
    query, output = (linears(program)[name] for name in ("query", "output"))
    here = "GPUs run one form of encoder only, and here is another: "
    assert refused(changed(program, (*query, "activation"), "relu")) == (
        here + "the program, steps[2], 'encoder_layer', body[1], body[1], 'query', activation: relu where it has none"
    )
    assert refused(changed(program, (*output, "residual"), None)) == (
        here + "the program, steps[2], 'encoder_layer', body[1], body[9], 'output', residual: None where it has "
        "hidden: f32 [tokens, 10]"
    )
    assert refused(changed(program, (*query, "weights", "stored"), ())) == (here + "query: weights of 0 layers for 2")


# --- other orders of ops ---------------------------------------------------------------------------------------------


def bodies(program: p.Program) -> list[tuple[Any, ...]]:
    """The paths of all lists of ops."""
    loop = next(index for index, step in enumerate(program.steps) if isinstance(step, p.Loop))
    blocks = (("steps", loop, "body", block, "body") for block in range(2))
    return [("steps",), *blocks, ("steps", loop + 1, "body")]


@pytest.mark.parametrize("make", [classifier, embedding])
def test_every_other_order_is_refused(make: Callable[[Path], p.Program], tmp_path: Path) -> None:
    program = make(tmp_path)
    for path in bodies(program):
        ops = at(program, path)
        for i in range(len(ops)):
            one, other = ops[i : i + 2] if i + 1 < len(ops) else (ops[i], ops[i])
            if not isinstance(one, p.Normalize):  # not all embeddings are normalized
                refused(changed(program, path, (*ops[:i], *ops[i + 1 :])))
            refused(changed(program, path, (*ops[: i + 1], *ops[i:])))
            if one is not other:
                refused(changed(program, path, (*ops[:i], other, one, *ops[i + 2 :])))


# --- programs by hand ------------------------------------------------------------------------------------------------


def tail(program: p.Program) -> tuple[p.Op, ...]:
    """The ops behind the layers."""
    (repeat,) = program.steps[3:]
    assert isinstance(repeat, p.Repeat)
    return repeat.body


def head(program: p.Program, *ops: p.Op, output: p.Buffer | None = None) -> p.Program:
    """With these ops behind the layers."""
    result = p.Output(program.task, output or program.output)
    return dataclasses.replace(program, steps=(*program.steps[:3], p.Repeat("texts", ops)), outputs=(result,))


def test_a_linear_on_every_row(tmp_path: Path) -> None:
    """A tagger."""
    program = classifier(tmp_path, "fp32")
    hidden, tags = program.steps[0].out, p.Buffer("tags", "f32", "tokens", 3)
    last = dataclasses.replace(tail(program)[-1], input=hidden, out=tags)
    assert "nothing in the place of the last linear" in refused(head(program, last, output=tags))
    first = dataclasses.replace(tail(program)[-2], out=dataclasses.replace(tail(program)[-2].out, rows="tokens"))
    last = dataclasses.replace(tail(program)[-1], input=first.out, out=dataclasses.replace(tags, rows="tokens"))
    assert "where it has pooled: f32 [one, 10]" in refused(head(program, first, last, output=tags))


def test_two_heads(tmp_path: Path) -> None:
    program = classifier(tmp_path)
    hidden, row = program.steps[0].out, p.Buffer("mean", "f32", "one", 10)
    assert "Pool behind the head" in refused(head(program, *tail(program), p.Pool("mean", hidden, row)))
    assert "Linear 'pooler' behind the head" in refused(head(program, p.Pool("first", hidden, row), *tail(program)))


@pytest.mark.parametrize("count", [0, 2])
def test_other_numbers_of_outputs(count: int, tmp_path: Path) -> None:
    program = classifier(tmp_path)
    assert f"{count} outputs" in refused(dataclasses.replace(program, outputs=program.outputs * count))


def test_cross_attention(tmp_path: Path) -> None:
    """Keys and values of other rows than the queries."""
    program = classifier(tmp_path, "fp32")
    memory = p.Buffer("memory", "f32", "tokens", 10)
    for name in ("key", "value"):
        program = changed(program, (*linears(program)[name], "input"), memory)
    assert "'key', input: memory: f32 [tokens, 10] where it has hidden: f32 [tokens, 10]" in refused(program)


def test_a_projection_behind_the_embedding(tmp_path: Path) -> None:
    program = classifier(tmp_path, "fp32")
    embedded, norm, *rest = program.steps
    narrow = dataclasses.replace(embedded, out=p.Buffer("narrow", "f32", "tokens", 10))
    slot = dataclasses.replace(tail(program)[-2].weights, name="projection")
    project = p.Linear("f32", slot, narrow.out, "none", None, embedded.out)
    norm = dataclasses.replace(norm, input=narrow.out, out=narrow.out)
    assert "Linear 'projection' in the place of the layers (Loop)" in refused(
        dataclasses.replace(program, steps=(narrow, norm, project, *rest))
    )


def test_no_layers_and_many(tmp_path: Path) -> None:
    program = classifier(tmp_path)
    said = {0: "Repeat in the place of the layers", 2: "Loop 'encoder_layer' in the place of the head"}
    for count, words in said.items():
        steps = (*program.steps[:2], *program.steps[2:3] * count, *program.steps[3:])
        assert words in refused(dataclasses.replace(program, steps=steps))
    assert "nothing in the place of the embedding" in refused(dataclasses.replace(program, steps=()))


def test_layers_that_share_weights(tmp_path: Path) -> None:
    program = classifier(tmp_path)
    path = (*linears(program)["intermediate"], "weights", "stored")
    shared = changed(program, path, at(program, path)[:1])
    assert "intermediate: weights of 1 layers for 2" in refused(shared)


def test_weights_of_another_kind(tmp_path: Path) -> None:
    program = classifier(tmp_path)
    path = (*linears(program)["query"], "weights", "stored", 1)
    norm = program.steps[1].weights.stored[0]
    assert "query: NormWeights in the place of a linear's weights" in refused(changed(program, path, norm))
    single = tail(program)[-1].weights.stored[0].matrix
    assert "query: F32Matrix for operands of kind s8" in refused(changed(program, (*path, "matrix"), single))


def test_a_field_that_is_new(tmp_path: Path) -> None:
    """Ops may be of a class that knows more; the code for GPUs does not."""

    @dataclasses.dataclass(frozen=True)
    class Masked(p.Attention):
        sink: bool = True

    program = classifier(tmp_path)
    path = ("steps", 2, "body", 1, "body", 2)
    attention = at(program, path)
    masked = Masked(**vars(attention))
    assert "Masked where it has Attention" in refused(changed(program, path, masked))
