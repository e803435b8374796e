# SPDX-License-Identifier: Apache-2.0
"""The arena of the generated code: a typed view per buffer at the place that the plan gave it."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir import program as p
from ..ir import walks
from ..memory.plan import ARENA, Plan, Region, expanded_inputs, has_4_bits, logits_at_once
from .shapes import HEADS, heads_of
from .text import LINE_WIDTH, annotated, constant

_FIXED = {
    "ids": ("std::int32_t* ids = s32({at});", "[kMaxTokens]"),
    "segments": ("std::uint8_t* segments = {at};", "[kMaxTokens]"),
    "texts": ("TextRows* texts = reinterpret_cast<TextRows*>({at});", "[most_texts(kMaxTokens)]"),
    "pooled_texts": (
        "TextRows* pooled_texts = reinterpret_cast<TextRows*>({at});",
        "[most_texts(kMaxTokens)] twice a level",
    ),
    "offsets": ("TokenOffset* offsets = reinterpret_cast<TokenOffset*>({at});", "[kMaxTokens]"),
    "marks": ("TokenMark* marks = reinterpret_cast<TokenMark*>({at});", "[kMaxTokens]"),
    "masks": ("std::uint32_t* masks = reinterpret_cast<std::uint32_t*>({at});", "[kMaxTokens]"),
    "kept": ("bool* kept = reinterpret_cast<bool*>({at});", "[kMaxTokens]"),
    "hypothesis": ("char* hypothesis = reinterpret_cast<char*>({at});", "[kHypothesisBytes]"),
    "scored_ids": ("std::int32_t* scored_ids = s32({at});", "[kMaxTokens]"),
    "scored_segments": ("std::uint8_t* scored_segments = {at};", "[kMaxTokens]"),
    "choosing": ("Choosing* choosing = reinterpret_cast<Choosing*>({at});", "how far it is"),
    "scoring": ("Scoring* scoring = reinterpret_cast<Scoring*>({at});", "how far it is"),
    "question": ("QuestionMemory* question = reinterpret_cast<QuestionMemory*>({at});", "of all windows"),
    "tokenizer": ("std::uint8_t* tokenizer = {at};", "one word and its pieces"),
    "written": ("std::int32_t* written = s32({at});", "[kMaxTarget]"),
    "parents": ("std::uint8_t* parents = {at};", "[kMaxTarget][kBeams]"),
    "path": ("std::int32_t* path = s32({at});", "[kMaxTarget]"),
    "history": ("std::int32_t* history = s32({at});", "[kBeams][kMaxTarget]"),
    "beams": ("Beams* beams = reinterpret_cast<Beams*>({at});", "how far the search is"),
    "writing": ("Writing* writing = reinterpret_cast<Writing*>({at});", "how far it is"),
    "scratch": ("std::uint8_t* scratch = {at};", "[kScratchBytes]"),
}
_ROWS = {"tokens": "kMaxTokens", "block": "kRowBlock", "one": "1", "masks": "kMaskBlock", "steps": "kMaxSteps"}
_ROWS |= {"sequences": "1", "carried": "1"}
_ROWS_OF_BEAMS = _ROWS | {"one": "kBeams", "steps": "kBeams * kRoom", "sequences": "kBeams"}

_Line = tuple[str, str]  # a declaration and its comment


def arena_lines(program: p.Program, plan: Plan) -> list[str]:
    """The members of struct Arena behind those that say where each region begins: by region and offset."""
    buffers, rows = {buffer.name: buffer for buffer in walks.buffers_of(program)}, _rows_of(program)
    fields: list[_Line] = []
    for base, placement in ((base_of(region), item) for region in plan.regions for item in region.placements):
        if placement.name in _FIXED:
            declaration, shape = _FIXED[placement.name]
            if placement.name == "written" and rows is _ROWS_OF_BEAMS:
                shape = _FIXED["parents"][1]
            fields.append((declaration.format(at=_at(base, placement.offset)), shape))
        else:
            fields.append(_field(buffers[placement.name], base, placement.offset, plan, program))
    return annotated([(f"    {declaration}", shape) for declaration, shape in fields])


def base_of(region: Region) -> str:
    """The member that says where it begins."""
    return "base" if region.name == ARENA else f"{region.name}_base"


def size_checks(program: p.Program, plan: Plan) -> dict[str, list[str]]:
    """Conditions under which the runtime's idea of a buffer's size equals the plan's, each with the buffers that it is
    about."""
    checks: dict[str, list[str]] = {}

    def check(condition: str, buffer: str) -> None:
        checks.setdefault(condition, []).append(buffer)

    shapes = heads_of(program)
    attentions = [op for op in walks.ops_of(program) if isinstance(op, p.Attention)]
    query_heads = {cache.name: op.shape.heads for op in attentions for cache in (op.keys, op.values)}
    for buffer in walks.buffers_of(program):
        name = buffer.name
        if buffer.storage in ("keys", "values"):
            shape = constant(shapes.get(name, HEADS))
            heads = f"{shape}.heads" if buffer.heads == query_heads[name] else f"{shape}.key_heads"
            heads = heads if buffer.layers == 1 else f"{buffer.layers} * {heads}"
            size = f"{buffer.kind}_{'key' if buffer.storage == 'keys' else 'value'}"
            if buffer.kind == "f32":
                placed = plan.placement(name).size
                check(f"{heads} * {size}_elements({shape}) * sizeof(float) <= {placed}", name)
            else:
                check(f"{heads} * {size}_bytes({shape}) == {plan.cache_scales[name]}", name)
        elif buffer.storage == "key_rows" and buffer.kind == "s8":
            times = "" if buffer.heads == 1 else f"{buffer.heads} * "
            row = f"encoded_row_bytes(kPacking, {buffer.width // buffer.heads})"
            check(f"{times}kMaxTokens * {row} <= {plan.cache_scales[name]}", name)
        elif buffer.storage == "quantized":
            rows = _rows_of(program)[buffer.rows]
            times = "" if rows == "1" else f"{rows} * "
            times = times if buffer.times == 1 else f"{buffer.times} * {times}"
            check(f"{times}encoded_row_bytes(kPacking, {buffer.width}) <= {plan.quantized_scales[name]}", name)
    if program.target_rules is not None:
        check(f"sizeof(Writing) <= {plan.placement('writing').size}", "writing")
        if program.target_rules.search.beams > 1:
            check(f"sizeof(Beams) <= {plan.placement('beams').size}", "beams")
    if program.task.asks:
        check(f"sizeof(QuestionMemory) <= {plan.placement('question').size}", "question")
    for name, most in program.task.call_bytes.items():
        check(f"sizeof({name.capitalize()}) <= {most}", name)
    widest = expanded_inputs(program)
    if widest:
        check(f"expanded_bytes(kPacking, {widest}) <= kScratchBytes", "scratch")
    of_levels = _texts_conditions(program, plan)
    for condition, name in (*_routes_conditions(program, plan), *of_levels, *_scratch_conditions(program)):
        check(condition, name)
    return checks


def _groups(buffer: p.Buffer) -> str:
    return f"most_groups({buffer.rate}, kMaxTokens)"


def _routes_conditions(program: p.Program, plan: Plan) -> Iterator[tuple[str, str]]:
    for buffer in (buffer for buffer in walks.buffers_of(program) if buffer.storage == "routes"):
        chosen = f"{buffer.width} * {_rows_of(program)[buffer.rows]}"
        yield f"routes_bytes({buffer.heads}, {chosen}) <= {plan.placement(buffer.name).size}", buffer.name


def _texts_conditions(program: p.Program, plan: Plan) -> Iterator[tuple[str, str]]:
    """Of the levels that rows are pooled to, and of rows of groups."""
    levels = walks.levels_of(program)
    if levels:
        size = plan.placement("pooled_texts").size
        yield f"{2 * levels} * most_texts(kMaxTokens) * sizeof(TextRows) <= {size}", "pooled_texts"
    for buffer in (buffer for buffer in walks.buffers_of(program) if buffer.rate > 1):
        size = plan.placement(buffer.name).size
        yield f"{_groups(buffer)} * {buffer.width} * sizeof(float) <= {size}", buffer.name


def _scratch_conditions(program: p.Program) -> Iterator[tuple[str, str]]:
    """Of ops that go through products of their own."""
    grus = (op for op in walks.ops_of(program) if isinstance(op, p.Gru))
    for width, expands in dict.fromkeys((op.width, any(map(has_4_bits, op.weights))) for op in grus):
        expanded = f" + expanded_bytes(kPacking, {width})" if expands else ""
        yield f"gru_scratch_bytes(kPacking, {width}){expanded} <= kScratchBytes", "scratch"
    choosing = (op.scores.width for op in walks.ops_of(program) if isinstance(op, p.ChooseExperts))
    for experts in dict.fromkeys(choosing):
        yield f"choose_experts_scratch_bytes({experts}) <= kScratchBytes", "scratch"
    if any(isinstance(op, p.FourierRows) for op in walks.ops_of(program)):
        yield "fourier_scratch_bytes(kMaxTokens) <= kScratchBytes", "scratch"
    if any(isinstance(op, p.DeltaRule) for op in walks.ops_of(program)):
        yield "delta_scratch_bytes(kDeltaShape) <= kScratchBytes", "scratch"
    if any(isinstance(op, p.StateSpace) for op in walks.ops_of(program)):
        yield "state_space_scratch_bytes(kStateSpaceShape) <= kScratchBytes", "scratch"
    for op in (op for op in walks.ops_of(program) if isinstance(op, p.WordWeights)):
        expanded = f" + expanded_bytes(kPacking, {op.input.width})" if has_4_bits(op.weights) else ""
        yield f"word_weights_scratch_bytes(){expanded} <= kScratchBytes", "scratch"


def assertions(checks: dict[str, list[str]]) -> list[str]:
    """The checks as the compiler makes them."""
    lines: list[str] = []
    for condition, buffers in checks.items():
        parts = f"static_assert({condition},", f'"{", ".join(buffers)}: not as planned");'
        whole = " ".join(parts)
        lines += [whole] if len(whole) <= LINE_WIDTH else [parts[0], f"              {parts[1]}"]
    return lines


def _at(base: str, offset: int) -> str:
    return f"{base} + {offset}" if offset else base


def _rows_of(program: p.Program) -> dict[str, str]:
    return _ROWS if program.target_rules is None or program.target_rules.search.beams == 1 else _ROWS_OF_BEAMS


def _field(buffer: p.Buffer, base: str, offset: int, plan: Plan, program: p.Program) -> _Line:
    name, rows = buffer.name, _rows_of(program)[buffer.rows]
    if buffer.rate > 1:
        rows = _groups(buffer)
    if buffer.times > 1:
        rows = f"{buffer.times} * {rows}"
    if program.target_rules is not None and buffer == program.output and not program.target_rules.all_logits:
        return (
            f"F32Rows {name}{{f32({_at(base, offset)}), {buffer.width}}};",
            f"f32 [{logits_at_once(program)}], some of each row",
        )
    if buffer.storage == "routes":
        return (
            f"Routes {name} = routes_at({_at(base, offset)}, {buffer.heads}, {buffer.width} * {rows});",
            f"{buffer.width} of {buffer.heads} experts a row",
        )
    if buffer.storage in ("f32", "rows", "state"):
        return (
            f"F32Rows {name}{{f32({_at(base, offset)}), {buffer.width}}};",
            f"f32 [{rows}, {buffer.width}]" + (" per layer" if buffer.layers > 1 else ""),
        )
    if buffer.storage == "quantized":
        at, scales = _at(base, offset), _at(base, offset + plan.quantized_scales[name])
        return (
            f"QuantizedRows {name}{{{at}, f32({scales}), encoded_row_bytes(kPacking, {buffer.width})}};",
            f"s8 [{rows}, {buffer.width}]",
        )
    if buffer.storage == "key_rows":
        beside = "" if buffer.kind == "f32" else f", f32({_at(base, offset + plan.cache_scales[name])})"
        data = f"f32({_at(base, offset)})" if buffer.kind == "f32" else _at(base, offset)
        return (
            f"{buffer.kind.upper()}KeyRows {name}{{{data}{beside}}};",
            f"{buffer.kind} [kMaxTokens, head width] per head",
        )
    matrix = f"[{rows}, head width]" if buffer.storage == "keys" else f"[head width, {rows}]"
    each = "per head" if buffer.layers == 1 else "per layer and head"
    if buffer.kind == "f32":
        return (f"F32HeadCache {name}{{f32({_at(base, offset)})}};", f"f32 {matrix} {each}, packed")
    scales = _at(base, offset + plan.cache_scales[name])
    return (
        f"S8HeadCache {name}{{s8({_at(base, offset)}), f32({scales})}};",
        f"s8 {matrix} {each}, packed",
    )
