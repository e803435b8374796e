# SPDX-License-Identifier: Apache-2.0
"""Calibration: H and its factors against exact arithmetic, rounding against the same steps in Python, and what becomes
of a program."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder as recorded
from tiny_checkpoint import write_tiny_checkpoint
from tiny_heads import write_encoder, write_head

from codegen import pipeline
from codegen.calibration.calibrate import Calibration, calibrate
from codegen.emulate import emulate_outputs
from codegen.emulate.floats import QuantizedRows, quantize_rows
from codegen.errors import EtchError
from codegen.head_folders import HeadFolder
from codegen.ir import program as p
from codegen.ir import walks
from codegen.ir.op import slots
from codegen.ir.text import Text
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.oracle.interpret import Interpreter
from codegen.quantize.bits import places_of
from codegen.quantize.groups import in_groups, search_factors
from codegen.quantize.rounding import factorize, input_products, output_error, round_by_inputs
from codegen.request import Reading

WORDS = ["the", "cat", "sat", "on", "mat", "good", "unable", "playing", "berlin", ".", "dogs", "ran"]


def correlated(tokens: int, width: int, seed: int = 1) -> QuantizedRows:
    random = np.random.default_rng(seed)
    mixed = random.standard_normal((tokens, 6)) @ random.standard_normal((6, width))
    return quantize_rows((mixed + 0.3 * random.standard_normal((tokens, width))).astype(np.float32))


def test_products_are_exact_integers() -> None:
    inputs = correlated(50, 9)
    inputs.scales[3] = 0
    inputs.q[3] = 0
    largest = inputs.scales.max()
    x = [
        [int(q) * max(1, round(float(scale / largest * np.float32(1023)))) for q in row]
        for row, scale in zip(inputs.q, inputs.scales, strict=True)
    ]
    expected = [[sum(row[i] * row[j] for row in x) for j in range(9)] for i in range(9)]
    assert input_products(inputs).tolist() == expected
    nothing = QuantizedRows(np.zeros((4, 9), np.int8), np.zeros(4, np.float32))
    assert not input_products(nothing).any()


def test_many_tokens_are_counted_all(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = correlated(100, 5)
    whole = input_products(inputs)
    monkeypatch.setattr("codegen.quantize.rounding._TOKENS_AT_ONCE", 7)
    assert np.array_equal(input_products(inputs), whole)


def plain_factors(products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A column after the other, from the last on."""
    width = len(products)
    upper = products + np.eye(width) * (int(np.trace(products)) // (100 * width) + 1)
    d = np.zeros(width)
    for k in range(width - 1, -1, -1):
        d[k] = upper[k, k]
        column = upper[:k, k].copy()
        upper[:k, k] = column / d[k]
        upper[:k, :k] -= upper[:k, k, None] * column
    return np.triu(upper, 1), d


@pytest.mark.parametrize("width", [1, 33, 64, 65, 200])
def test_factors_multiply_to_the_damped_products(width: int) -> None:
    products = input_products(correlated(80, width))
    upper, d = factorize(products)
    upper = np.triu(upper, 1)
    plain, plain_d = plain_factors(products)
    assert upper.tobytes() == plain.tobytes()
    assert d.tobytes() == plain_d.tobytes()
    unit = upper + np.eye(width)
    damped = products + np.eye(width) * (int(np.trace(products)) // (100 * width) + 1)
    assert np.allclose(unit @ np.diag(d) @ unit.T, damped, rtol=1e-9, atol=1e-9 * np.abs(damped).max())
    assert (d > 0).all()


@pytest.mark.parametrize("row", range(6))
def test_rounding_step_by_step(row: int) -> None:
    """Rows of two groups: each weight from where the errors before it moved it, in exact arithmetic."""
    values = np.random.default_rng(2).standard_normal((6, 64)).astype(np.float32)
    upper, d = factorize(input_products(correlated(60, 64)))
    d[40:44] = d.max() * 50  # the second group's factor is chosen for these
    matrix = round_by_inputs(values, upper, d)
    scale = Fraction(float(matrix.scales[row]))
    errors: list[Fraction] = []

    def moved(k: int) -> Fraction:
        return Fraction(float(values[row, k])) + sum(
            (error * Fraction(float(upper[i, k])) for i, error in enumerate(errors)), Fraction(0)
        )

    for group in range(2):
        columns = range(group * 32, group * 32 + 32)
        targets = in_groups(np.array([[float(moved(k)) for k in columns]]))
        _, factors = search_factors(targets, matrix.scales[row : row + 1], in_groups(d[None])[0, group : group + 1])
        factor = int(matrix.factors[row, group])
        assert factor == factors[0, 0]
        for k in columns:
            q = min(7, max(-8, -(127 // factor), round(moved(k) / (scale * factor))))
            assert matrix.q[row, k] == q
            errors.append(Fraction(float(values[row, k])) - q * factor * scale)


def test_without_correlation_it_is_rounding_to_nearest() -> None:
    values = np.random.default_rng(3).standard_normal((30, 70)).astype(np.float32)
    matrix = round_by_inputs(values, np.eye(70), np.ones(70))
    groups = in_groups(values.astype(np.float64))
    _, factors = search_factors(groups, matrix.scales)
    assert np.array_equal(matrix.factors, factors)
    by = factors * matrix.scales.astype(np.float64)[:, None]
    q = np.clip(np.rint(groups / by[:, :, None]), np.maximum(-8, -(127 // factors.astype(int)))[:, :, None], 7)
    assert np.array_equal(matrix.q, q.reshape(30, -1)[:, :70])


@pytest.mark.parametrize("width", [8, 96, 130])
def test_outputs_are_closer(width: int) -> None:
    values = np.random.default_rng(4).standard_normal((70, width)).astype(np.float32)
    values[5] = 0
    products = input_products(correlated(300, width))
    nearest = round_by_inputs(values, np.eye(width), np.ones(width))
    matrix = round_by_inputs(values, *factorize(products))
    expanded = matrix.q.astype(int) * np.repeat(matrix.factors.astype(int), 32, axis=1)[:, :width]
    assert np.abs(expanded).max() <= 127
    assert matrix.factors.min() >= 1
    assert not matrix.q[5].any()
    assert matrix.scales[5] == 0
    assert output_error(matrix, values, products) < 0.85 * output_error(nearest, values, products)


# --- a program -------------------------------------------------------------------------------------------------------


def calibrated(folder: Path, lines: list[str], recipe: str = "w4a8") -> tuple[p.Program, Calibration]:
    write_tiny_checkpoint(folder / "model", hidden=36, heads=3, layers=2, intermediate=50)
    (folder / "texts").write_text("\n".join(lines) + "\n")
    checkpoint = pipeline.load(folder / "model")
    program = pipeline.lower(checkpoint, recipe, None)
    graph = pipeline.to_graph(checkpoint, None)
    return program, calibrate(program, graph, checkpoint.tokenizer, folder / "texts", Interpreter(graph))


def texts(count: int) -> list[str]:
    random = np.random.default_rng(5)
    return [" ".join(random.choice(WORDS, 12)) for _ in range(count)]


def test_every_linear_of_4_bits_is_calibrated(tmp_path: Path) -> None:
    program, calibration = calibrated(tmp_path, texts(60))
    changed = unchanged = 0
    for before, after in zip(walks.ops_of(program), walks.ops_of(calibration.program), strict=True):
        if not isinstance(before, p.Linear):
            if isinstance(before, p.EmbeddingSum):
                for one, other in zip(slots(before), slots(after), strict=True):
                    assert one.stored[0] is other.stored[0]
            continue
        for one, other in zip(before.weights.stored, after.weights.stored, strict=True):
            assert one.bias is other.bias
            if isinstance(one.matrix, p.S4Matrix):
                assert not np.array_equal(one.matrix.expanded.q, other.matrix.expanded.q)
                changed += 1
            else:
                assert one is other
                unchanged += 1
    assert (changed, unchanged) == (2 * 6 + 1, 1)
    errors = [line.split() for line in calibration.lines if line.startswith("  bert")]
    assert len(errors) == changed
    better = sum(float(words[3]) < float(words[1]) for words in errors)
    assert better >= changed - 2
    assert [line.split(":")[0] for line in calibration.lines[-2:]] == [
        f"  7 other texts against float64, {name}" for name in ("nearest", "calibrated")
    ]
    _, again = calibrated(tmp_path, texts(60))
    assert again.lines == calibration.lines
    assert again.sha256 == calibration.sha256


def test_one_text_is_enough(tmp_path: Path) -> None:
    _, calibration = calibrated(tmp_path, ["the cat sat"])
    assert calibration.lines[0] == "calibration  1 texts, 5 tokens"
    assert not any("other texts" in line for line in calibration.lines)


def test_texts_beyond_the_limit_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.calibration.shown_texts.MOST_TOKENS", 11)
    _, calibration = calibrated(tmp_path, ["the cat sat"] * 5)
    assert calibration.lines[0] == "calibration  2 texts, 10 tokens"


def of_heads(folder: Path, lines: list[str], *kinds: str) -> tuple[p.Program, Interpreter, Calibration]:
    heads = tuple(HeadFolder(f"of_{kind}", write_head(folder / kind, kind)) for kind in kinds)
    (folder / "texts").write_text("\n".join(lines) + "\n")
    checkpoint = pipeline.load(write_encoder(folder / "encoder"), Reading(heads=heads))
    graph = pipeline.to_graph(checkpoint, None)
    program, reference = pipeline.lower(checkpoint, "w4a8", None), Interpreter(graph)
    return program, reference, calibrate(program, graph, checkpoint.tokenizer, folder / "texts", reference)


def test_every_head_is_judged(tmp_path: Path) -> None:
    kinds = ("single", "tags", "values", "masks")
    lines = [f"{line} [MASK]" for line in texts(40)]
    program, reference, calibration = of_heads(tmp_path, lines, *kinds)
    tokenizer = text_tokenizer(pipeline.load(tmp_path / "single").tokenizer, program.max_tokens)
    judged = [Text(each.ids, each.type_ids) for each in tokenizer.encode_batch(lines[7::8])]
    said = [line.split(" against float64, ")[1] for line in calibration.lines if " other texts " in line]
    assert len(said) == 2 * len(kinds)
    for name, of_form, made in (("nearest", said[:4], program), ("calibrated", said[4:], calibration.program)):
        for index, (kind, words) in enumerate(zip(kinds, of_form, strict=True)):
            assert words.split()[:2] == [f"{name}:", f"of_{kind}:"]
            found = emulate_outputs(made, judged)[index]
            exact = [reference.outputs(text.ids, text.segments)[index] for text in judged]
            part = slice(program.outputs[index].buffer.width // 2 if kind == "masks" else 0, None)
            pairs = [(np.atleast_2d(a)[:, part], np.atleast_2d(b)[:, part]) for a, b in zip(found, exact, strict=True)]
            differences = np.concatenate([abs(a.astype(np.float64) - b).ravel() for a, b in pairs])
            assert f"mean |difference| {differences.mean():.4f}" in words
            assert (" labels changed" in words) == (kind == "single")


def test_a_head_that_the_other_texts_ask_nothing_of(tmp_path: Path) -> None:
    _, _, calibration = of_heads(tmp_path, texts(16), "single", "masks")
    lines = [line for line in calibration.lines if "of_masks" in line]
    assert lines == [
        "  stay rounded to nearest: of_masks: cls.predictions.transform.dense.weight",
        *(
            f"  2 other texts against float64, {f'{name}:':<12} of_masks: they have nothing that it answers"
            for name in ("nearest", "calibrated")
        ),
    ]


def of_recorded(folder: Path, variant: str, bits: dict[str, int]) -> tuple[p.Program, Calibration]:
    (folder / "texts").write_text("\n".join(texts(8)) + "\n")
    checkpoint = pipeline.load(recorded(variant))
    program, graph = pipeline.lower(checkpoint, "w8a8", None, bits=bits), pipeline.to_graph(checkpoint, None)
    return program, calibrate(program, graph, checkpoint.tokenizer, folder / "texts")


def test_what_stays_rounded_to_nearest_is_said(tmp_path: Path) -> None:
    bits = {"gru_0_input": 4, "gru_0_forward": 4, "word_embeddings": 4}
    program, calibration = of_recorded(tmp_path, "gru/one_layer", bits)
    stays = {weights.source for _, name, weights in places_of(program) if name in bits and name != "gru_0_input"}
    [line] = [line for line in calibration.lines if line.startswith("  stay rounded to nearest: ")]
    assert set(line.split(": ")[1].split(", ")) == stays and len(stays) == 2
    with pytest.raises(EtchError, match="can only be rounded to nearest") as caught:
        of_recorded(tmp_path, "gru/one_layer", {"gru_0_forward": 4})
    assert (caught.value.code, caught.value.stage) == ("nothing-to-calibrate", "calibrate")


def test_what_is_calibrated_whole_says_nothing_of_it(tmp_path: Path) -> None:
    _, calibration = calibrated(tmp_path, texts(8))
    assert not any("stay rounded" in line or "shared by layers" in line for line in calibration.lines)


def test_what_layers_share_is_said_and_is_that_of_the_last_one(tmp_path: Path) -> None:
    program, calibration = of_recorded(tmp_path, "albert/one_group", {"query": 4, "pooler": 4})
    (query,) = {weights.source for _, name, weights in places_of(program) if name == "query"}
    assert sum(line.startswith(f"  {query} ") for line in calibration.lines) == 1
    assert f"  shared by layers, rounded by what the last one multiplies: {query}" in calibration.lines


def refused(folder: Path, lines: list[str], recipe: str = "w4a8") -> EtchError:
    with pytest.raises(EtchError) as caught:
        calibrated(folder, lines, recipe)
    return caught.value


def test_what_cannot_be_calibrated_is_refused(tmp_path: Path) -> None:
    for recipe in ("w8a8", "fp32"):
        error = refused(tmp_path, ["cat"], recipe)
        assert (error.code, error.stage) == ("nothing-to-calibrate", "arguments")
    checkpoint = pipeline.load(tmp_path / "model")
    program, graph = pipeline.lower(checkpoint, "w4a8", None), pipeline.to_graph(checkpoint, None)
    for name, content, code in (("none", None, "texts-unreadable"), ("empty", b"", "no-texts")):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(EtchError) as caught:
            calibrate(program, graph, checkpoint.tokenizer, tmp_path / name)
        assert (caught.value.code, caught.value.stage) == (code, "calibrate")
