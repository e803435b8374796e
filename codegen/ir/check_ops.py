# SPDX-License-Identifier: Apache-2.0
"""What each op of a graph needs: rows and widths of the values that it reads and writes, shapes of its weights."""

from __future__ import annotations

from dataclasses import astuple

from . import graph as g
from .check_experts import parameters_of_experts
from .check_global_rows import check_attention, check_linear
from .check_pooled_rows import check_pooled
from .check_state import CHECK, IN_WORDS, Check, RowKind, check_heads, check_rows, check_tokens
from .convolutions import MOST_TAPS
from .hashes import PRIMES
from .in_place import LEAST_CAP, XIELU_NUMBERS
from .unsound import unsound

_MOST_RELATIVE_ROWS = 1 << 16  # they are named by 16 bits
_ACTIVATIONS = frozenset(("none", "gelu", "gelu_tanh", "quick_gelu", "relu", "silu", "sigmoid", "tanh"))


@CHECK.on(g.Embed)
def _embed(op: g.Embed, check: Check) -> None:
    entries = {"ids": check.graph.vocabulary, "segments": check.graph.segments, "positions": check.graph.max_tokens}
    if check.target_rules is not None:
        entries = {"ids": check.target_rules.vocabulary, "segments": 0, "positions": check.positions}
    entries["hashes"] = 1
    if not op.terms:
        raise unsound(f"'{op.out}' is a sum of nothing")
    for term in op.terms:
        rows, width = term.table.shape
        _check_hashes(term, check)
        check.same(f"width of {term.table.name}", width * (term.hashes or 1), check.width(op.out))
        if term.first < 0 or rows < term.first + entries[term.by]:
            raise unsound(f"{term.table.name} has {rows} entries, {term.first + entries[term.by]} are looked up")
        if term.first and term.by != "positions":
            raise unsound(f"{term.table.name}: only positions can begin at {term.first}")
        if term.by == "segments" and check.target_rules is not None:
            raise unsound(f"{term.table.name}: what is generated has no segments")
        _check_neighbor(term, check)
        if term.dropped is not None:
            _check_dropped(term, term.dropped, check)
    check.out(op.out, "tokens" if check.target_rules is None else "steps")


def _check_hashes(term: g.Term, check: Check) -> None:
    """Products of an id and a prime are of 32 bits."""
    if (term.by == "hashes") != (term.hashes is not None):
        raise unsound(f"{term.table.name} by {term.by}, {term.hashes} hash functions")
    if term.hashes is None:
        return
    rows, plain = term.table.shape[0], g.Term(term.table, "hashes", hashes=term.hashes)
    if not 1 <= term.hashes <= len(PRIMES) or rows % term.hashes or check.target_rules is not None or term != plain:
        raise unsound(f"{term.table.name} has {rows} entries of {term.hashes} hash functions, {len(PRIMES)} are known")
    if check.graph.vocabulary * max(PRIMES) >= 1 << 32:
        raise unsound(f"hash functions of {check.graph.vocabulary} ids")


def _check_neighbor(term: g.Term, check: Check) -> None:
    """Of a text all ids are there at once, of what is generated one."""
    name, most = term.table.name, check.graph.max_tokens
    if term.shift and (term.by != "ids" or check.target_rules is not None or abs(term.shift) > most):
        raise unsound(f"{name}: entries by id of a text can be those of tokens up to {most} away, not {term.shift}")
    if term.outside is not None and not (term.shift and 0 <= term.outside < check.graph.vocabulary):
        raise unsound(f"{name}: id {term.outside} outside of a text, {term.shift} tokens away")


def _check_dropped(term: g.Term, dropped: int, check: Check) -> None:
    """Of a text all ids are there at once, to be counted."""
    is_by_own_id = term.by == "ids" and not term.shift and check.target_rules is None
    if not is_by_own_id or not 0 <= dropped < check.graph.vocabulary:
        raise unsound(f"{term.table.name}: only entries by id of a text can be dropped, not {dropped}")


@CHECK.on(g.Norm)
def _norm(op: g.Norm, check: Check) -> None:
    width = check.width(op.input)
    check.same(f"width of '{op.out}'", check.width(op.out), width)
    if op.heads < 1 or width % op.heads:
        raise unsound(f"{op.name}: '{op.input}' of {width} values has not {op.heads} heads")
    has_own = op.kind != "affine" and op.gamma.shape == (width,)
    check.shape(op.gamma, width if has_own else width // op.heads)
    if op.beta is not None:
        check.shape(op.beta, *op.gamma.shape)
        check.same(f"layers of {op.beta.name}", op.beta.of_layer, op.gamma.of_layer)
    if op.kind == "rms" and op.beta is not None:
        raise unsound(f"{op.name}: an rms norm has no beta")
    if op.kind == "affine" and (op.beta is None or op.epsilon is not None):
        raise unsound(f"{op.name}: an affine norm has a beta, and divides by nothing")
    if op.kind != "affine" and op.epsilon is None:
        raise unsound(f"{op.name} has no epsilon")
    check.out(op.out, check.rows[op.input], check.level(op.input))


@CHECK.on(g.Linear)
def _linear(op: g.Linear, check: Check) -> None:
    outputs = check.width(op.out)
    check.shape(op.weight, outputs, check.width(op.input))
    if op.bias is not None:
        check.shape(op.bias, outputs)
        check.same(f"layers of {op.bias.name}", op.bias.of_layer, op.weight.of_layer)
    if op.residual is not None:
        check.same(f"width of '{op.residual}'", check.width(op.residual), outputs)
        check.same(f"rows of '{op.residual}'", check.rows[op.residual], check.rows[op.input])
        check.same(f"level of '{op.residual}'", check.level(op.residual), check.level(op.input))
    if op.activation not in _ACTIVATIONS:
        raise unsound(f"{op.name}: there is no activation '{op.activation}'")
    if op.out == op.input:
        raise unsound(f"{op.name} reads and writes '{op.out}'")
    check_linear(op, check.graph.vocabulary, check.layers is not None)
    check.out(op.out, check.rows[op.input], check.level(op.input))


@CHECK.on(g.Multiply, g.Add)
def _value_by_value(op: g.Multiply | g.Add, check: Check) -> None:
    for value in (op.b, op.out):
        check.same(f"width of '{value}'", check.width(value), check.width(op.a))
    check.same(f"rows of '{op.b}'", check.rows[op.b], check.rows[op.a])
    check.same(f"level of '{op.b}'", check.level(op.b), check.level(op.a))
    check.out(op.out, check.rows[op.a], check.level(op.a))


@CHECK.on(g.Xielu)
def _xielu(op: g.Xielu, check: Check) -> None:
    check.width(op.value)
    check.shape(op.numbers, XIELU_NUMBERS)
    for array in op.numbers.arrays:
        *_, most, _ = array.values
        if most > 0:  # what is taken a power of lies below 0
            raise unsound(f"{op.name}: the power of x up to {most:g}")
    check.out(op.value, check.rows[op.value])


@CHECK.on(g.CausalConvolution)
def _causal_convolution(op: g.CausalConvolution, check: Check) -> None:
    rows = check_rows(op.input, check)
    _check_taps(op, check)
    if rows == "tokens" and check.target_rules is not None:
        raise unsound(f"{op.name}: rows of the text belong before what repeats")
    check.out(op.out, rows)


@CHECK.on(g.CenteredConvolution)
def _centered_convolution(op: g.CenteredConvolution, check: Check) -> None:
    check_tokens(op.input, check)
    _check_taps(op, check)
    _check_odd(op.weight.shape[-1], op.out)
    check.out(op.out, "tokens")


def _check_taps(op: g.CausalConvolution | g.CenteredConvolution, check: Check) -> None:
    width, taps = check.width(op.input), op.weight.shape[-1]
    check.same(f"width of '{op.out}'", check.width(op.out), width)
    if not 2 <= taps <= MOST_TAPS:
        raise unsound(f"{op.name} takes from {taps} rows, 2 to {MOST_TAPS} are supported")
    check.shape(op.weight, width, taps)
    if op.bias is not None:
        check.shape(op.bias, width)
        check.same(f"layers of {op.bias.name}", op.bias.of_layer, op.weight.of_layer)
    if op.out == op.input:
        raise unsound(f"{op.name} reads and writes '{op.out}'")


@CHECK.on(g.DynamicConvolution)
def _dynamic_convolution(op: g.DynamicConvolution, check: Check) -> None:
    for value in (op.taps, op.input):
        check_tokens(value, check)
        check_heads(value, op.heads, check)
    check.same(f"width of '{op.out}'", check.width(op.out), check.width(op.input))
    taps = check.width(op.taps) // op.heads
    if taps > MOST_TAPS:
        raise unsound(f"'{op.out}' takes from {taps} rows, {MOST_TAPS} are supported")
    _check_odd(taps, op.out)
    if op.out in (op.taps, op.input):
        raise unsound(f"a convolution reads and writes '{op.out}'")
    check.out(op.out, "tokens")


def _check_odd(taps: int, out: str) -> None:
    """As many rows before a row as behind it."""
    if taps % 2 == 0:
        raise unsound(f"'{out}' takes from {taps} rows, an odd number is needed")


@CHECK.on(g.Rotary)
def _rotary(op: g.Rotary, check: Check) -> None:
    rows = check_rows(op.value, check)
    width = check.width(op.value)
    check_heads(op.value, op.heads, check)
    assert isinstance(op.table, int)
    if len(op.cosines) != len(op.sines) or not 0 <= op.table < len(op.cosines):
        raise unsound(f"'{op.value}' is turned by table {op.table} of {len(op.cosines)} and {len(op.sines)}")
    for table in (*op.cosines, *op.sines):
        positions, half = table.shape
        if positions < check.positions or not 0 < 2 * half <= width // op.heads:
            raise unsound(f"{table.name} is {table.shape} for heads of {width // op.heads} values")
    check.out(op.value, rows)


@CHECK.on(g.Attention)
def _attention(op: g.Attention, check: Check) -> None:
    key_heads = op.key_heads or op.heads
    rows = check_rows(op.query, check)
    keys = check_rows(op.key, check)
    check.same(f"rows of '{op.value}'", check_rows(op.value, check), keys)
    if rows == "steps":
        _check_step(op, keys)
    elif keys != rows:
        raise unsound(f"'{op.query}' of all tokens attends to '{op.key}' of steps")
    if min(op.heads, key_heads) < 1 or op.heads % key_heads or check.width(op.query) % op.heads:
        raise unsound(
            f"{op.heads} heads of queries on {key_heads} of keys, '{op.query}' is {check.width(op.query)} wide"
        )
    width = check.width(op.query) // op.heads
    for value, heads in ((op.key, key_heads), (op.value, key_heads), (op.out, op.heads)):
        check.same(f"width of '{value}'", check.width(value), heads * width)
    if op.out in (op.query, op.key, op.value):
        raise unsound(f"attention reads and writes '{op.out}'")
    assert not isinstance(op.window, g.ByLayer)
    least = int(op.mask == "blocks")
    window = least if op.window is None else op.window
    has_window = op.mask in ("window", "past", "blocks")
    if has_window != (op.window is not None) or not least <= window <= g.MAX_WINDOW:
        raise unsound(f"mask {op.mask} with window {op.window}")
    check_pooled(op, check)
    if op.bias is not None and op.pooled is None:
        check.shape(op.bias, op.heads, 2 * check.positions - 1)
    if op.cap is not None:
        _check_limit(op.cap)
        if op.relative_rows or op.global_rows:
            raise unsound("attention with relative or global rows has scores without a cap")
    if op.sinks is not None:
        _check_sinks(op, check)
    if op.pooled is None:
        _check_relative(op, check)
    check_attention(op, check.graph.vocabulary, check.layers is not None)
    check.out(op.out, rows, check.level(op.query))


def _check_sinks(op: g.Attention, check: Check) -> None:
    """Each layer has its own, and they stand beside scores under a mask alone."""
    assert op.sinks is not None
    check.shape(op.sinks, op.heads)
    masks = op.mask.values if isinstance(op.mask, g.ByLayer) else (op.mask,)
    more = (op.bias, op.cap, op.pooled, op.only, op.relative_keys, op.relative_queries)
    alone = op.global_rows == 0 and all(of is None for of in more)
    if check.layers is None or op.sinks.common or not alone or not set(masks) <= {"causal", "past"}:
        raise unsound("attention with sinks is in layers with a sink each, and has a mask of the past alone")


def _check_limit(limit: float) -> None:
    if not LEAST_CAP <= limit <= 1 / LEAST_CAP:
        raise unsound(f"a cap of {limit:g}: expected {LEAST_CAP:g} to {1 / LEAST_CAP:g}")


def _check_step(op: g.Attention, keys: RowKind) -> None:
    """A step sees the steps before it, or all tokens of the text."""
    if op.mask not in (("causal", "past") if keys == "steps" else ("none",)):
        raise unsound(f"'{op.query}' of a step attends to '{op.key}', {IN_WORDS[keys]}, with mask {op.mask}")
    if keys == "tokens" and (op.bias is not None or op.relative_rows):
        raise unsound(f"'{op.query}' of a step has no distance from '{op.key}' of tokens: there is no bias")


def _check_relative(op: g.Attention, check: Check) -> None:
    """Rows by distance, and what they are looked up in."""
    tables = [table for table in (op.relative_keys, op.relative_queries) if table is not None]
    check.same("distances with relative rows", len(op.relative_rows), 2 * check.graph.max_tokens - 1 if tables else 0)
    if not tables:
        return
    if op.bias is not None or op.mask != "none" or op.key_heads not in (None, op.heads):
        raise unsound("attention with relative rows has no bias, no mask and as many heads of keys as of queries")
    rows = tables[0].shape[0]
    for table in tables:
        check.shape(table, rows, check.width(op.query))
    ordered = list(op.relative_rows) == sorted(op.relative_rows)
    if not ordered or not 0 <= op.relative_rows[0] <= op.relative_rows[-1] < rows <= _MOST_RELATIVE_ROWS:
        raise unsound(f"relative rows by distance do not ascend within the {rows} of {tables[0].name}")


@CHECK.on(g.Gru)
def _gru(op: g.Gru, check: Check) -> None:
    check_tokens(op.input, check)
    count = len(op.directions)
    if count not in (1, 2) or check.width(op.out) % count:
        raise unsound(f"'{op.out}' of {check.width(op.out)} values has not {count} directions, one or two")
    width = check.width(op.out) // count
    check.same(f"width of '{op.input}'", check.width(op.input), 3 * count * width)
    for direction in op.directions:
        check.shape(direction.weight, 3 * width, width)
        if direction.bias is not None:
            check.shape(direction.bias, 3 * width)
    check.out(op.out, "tokens")


@CHECK.on(g.Experts)
def _experts(op: g.Experts, check: Check) -> None:
    check.same(f"rows of '{op.scores}'", check.rows[op.scores], check.rows[op.input])
    check.same(f"width of '{op.scores}'", check.width(op.scores), op.experts)
    for parameter, shape in parameters_of_experts(op, check.width(op.input), check.width(op.out)):
        check.shape(parameter, *shape)
    if op.activation not in _ACTIVATIONS:
        raise unsound(f"experts: there is no activation '{op.activation}'")
    if op.clamped is not None and (len(op.linears) != 3 or op.activation != "none"):
        raise unsound("experts with a clamped gate have three linears and no activation")
    if op.clamped is not None and not all(LEAST_CAP <= of <= 1 / LEAST_CAP for of in astuple(op.clamped)):
        raise unsound(f"a clamped gate by {op.clamped.alpha:g} and {op.clamped.limit:g}")
    check.out(op.out, check.rows[op.input])


@CHECK.on(g.Pool)
def _pool(op: g.Pool, check: Check) -> None:
    check_tokens(op.input, check, level=check.level(op.input) if op.only_first else 0)
    width = (1 + len(op.beside)) * check.width(op.input)
    if op.columns is not None and (op.beside or op.kind == "ends" or not 1 <= op.columns <= width):
        raise unsound(f"the first {op.columns} columns of {width} that are pooled by {op.kind}")
    check.same(f"width of '{op.out}'", check.width(op.out), width if op.columns is None else op.columns)
    if "ends" in (op.kind, *op.beside) and check.width(op.input) % 2:
        raise unsound(f"'{op.input}' of {check.width(op.input)} values has no halves")
    if op.end is not None and (op.kind != "last" or op.beside or not 0 <= op.end < check.graph.vocabulary):
        raise unsound(f"pooling {op.kind} ends at {op.end} of {check.graph.vocabulary} ids")
    check.out(op.out, "text")


@CHECK.on(g.Masked)
def _masked(op: g.Masked, check: Check) -> None:
    check_tokens(op.input, check)
    check.same(f"width of '{op.out}'", check.width(op.out), check.width(op.input))
    if not 0 <= op.id < check.graph.vocabulary:
        raise unsound(f"mask {op.id} of {check.graph.vocabulary} ids")
    check.out(op.out, "masks")


@CHECK.on(g.Best)
def _best(op: g.Best, check: Check) -> None:
    entries = check.graph.vocabulary
    check.shape(op.weight, entries, check.width(op.input))
    if op.bias is not None:
        check.shape(op.bias, entries)
    check.same(f"rows of '{op.input}'", check.rows[op.input], "masks")
    check.same(f"width of '{op.out}'", check.width(op.out), 2 * op.count)
    if not 1 <= op.count <= entries:
        raise unsound(f"the best {op.count} of {entries} entries")
    check.out(op.out, "masks")


@CHECK.on(g.WordWeights)
def _word_weights(op: g.WordWeights, check: Check) -> None:
    check_tokens(op.input, check)
    entries = check.graph.vocabulary
    check.shape(op.weight, entries, check.width(op.input))
    if op.bias is not None:
        check.shape(op.bias, entries)
    check.same(f"width of '{op.out}'", check.width(op.out), entries)
    check.out(op.out, "text")


@CHECK.on(g.Normalize)
def _normalize(op: g.Normalize, check: Check) -> None:
    check.width(op.value)


@CHECK.on(g.Softmax)
def _softmax(op: g.Softmax, check: Check) -> None:
    check_heads(op.value, op.heads, check)


@CHECK.on(g.Cap)
def _cap(op: g.Cap, check: Check) -> None:
    check.width(op.value)
    _check_limit(op.limit)
