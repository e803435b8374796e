# SPDX-License-Identifier: Apache-2.0
"""The halves of T5Gemma, by their parts of the configuration: Gemma 2's layers, those of the decoder with attention to
the encoder's rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...ir.graph import Attention, Layers, Node, Op, Parameter
from ...ir.renamed import Renaming
from ...load.config import Asked, Config
from ...load.safetensors import TensorFile
from . import parts
from .checked_keys import ALL, PAST, check_is_causal
from .gemma2_stack import attention_bias, factors_in, gemma2_stack, scores_cap
from .llama_parts import LlamaParts
from .llama_stack import MAX_POSITIONS, POSITIONS, BlockNorms, Stack

ENCODER, DECODER = "encoder", "decoder"
_NORMS = BlockNorms(
    before_attention="pre_self_attn_layernorm",
    before_feed_forward="pre_feedforward_layernorm",
    behind_attention="post_self_attn_layernorm",
    behind_feed_forward="post_feedforward_layernorm",
)
_ROWS, _MEMORY, _TARGET = "hidden", "memory", "target"


@dataclass(frozen=True)
class Half:
    """One of the two."""

    of: str
    config: Config

    @classmethod
    def read(cls, whole: Config, of: str) -> Half:
        """EtchError where the configuration has none."""
        values = whole.values.get(of)
        if not isinstance(values, dict):
            raise parts.refuse("config-type", f"'{of}' must be an object")
        half = cls(of, replace(whole, values=Asked(values)))
        check_is_causal(half.config, {PAST if of == DECODER else ALL}, f"{of}.")
        return half

    @property
    def positions(self) -> int:
        return self.config.positive_int(POSITIONS, maximum=MAX_POSITIONS)

    @property
    def vocabulary(self) -> int:
        return self.config.positive_int("vocab_size", maximum=parts.MAX_VOCABULARY)

    def check_tokens(self, tokens: int) -> None:
        """EtchError where it has not as many positions."""
        parts.check_max_tokens(tokens, self.positions, f"{self.of}.{POSITIONS}")


def encoder_stack(half: Half, tensors: TensorFile, root: str, tokens: int) -> Stack:
    """For texts of at most `tokens`."""
    half.check_tokens(tokens)
    prefix = f"{root}{half.of}."
    stack = gemma2_stack(half.config, tensors, prefix, half.vocabulary, tokens, _NORMS, both_ways=True)
    return replace(stack, body=tuple(_named(half.of, node) for node in stack.body))


def decoder_stack(half: Half, tensors: TensorFile, root: str, tokens: int, memory: int) -> Stack:
    """Beside an encoder whose rows are `memory` wide. Its values, parameters and ops are called as the encoder's, with
    `target` before them."""
    half.check_tokens(tokens)
    widths: dict[str, int] = {}

    def cross_attention(made: LlamaParts) -> tuple[Op, ...]:
        widths.update({f"cross_{name}": made.sizes.widths[name] for name in ("query", "key", "value", "context")})
        return _cross_attention(half.config, made, memory)

    stack = gemma2_stack(
        half.config, tensors, f"{root}{half.of}.", half.vocabulary, tokens, _NORMS, between=cross_attention
    )
    made: dict[str, Parameter] = {}  # those that several ops have are one

    def parameter(of: Parameter) -> Parameter:
        return made.setdefault(of.name, replace(of, name=f"{_TARGET}_{of.name}"))

    renaming = Renaming(lambda name: f"{_TARGET}_{name}", _renamed, parameter)
    body: list[Node] = []
    for node in stack.body:
        if isinstance(node, Layers):
            body.append(_named(half.of, replace(node, body=tuple(map(renaming.op, node.body)))))
        else:
            body.append(renaming.op(node))
    all_widths = {_renamed(value): width for value, width in (stack.widths | widths).items()}
    return Stack(tuple(body), all_widths, parameter(stack.words), stack.width, _renamed(stack.rows))


def _renamed(value: str) -> str:
    return {_ROWS: _TARGET, _MEMORY: _ROWS}.get(value, f"{_TARGET}_{value}")


def _named(of: str, node: Node) -> Node:
    return replace(node, name=f"{of}_layer") if isinstance(node, Layers) else node


def _cross_attention(config: Config, made: LlamaParts, memory: int) -> tuple[Op, ...]:
    """To all rows of the encoder, which have no positions here."""
    bias, widths, sizes = attention_bias(config), made.sizes.widths, made.sizes
    query, key, value, context = (f"cross_{name}" for name in ("query", "key", "value", "context"))

    def source(of: str) -> list[str]:
        return made.sources(f"cross_attn.{of}_proj")

    def keys(name: str, of: str) -> Op:
        shape = (widths["key"], memory)
        return parts.linear(made.tensors, name, source(of), shape, _MEMORY, name, bias=bias)

    queries = (widths["query"], sizes.width)
    output = parts.linear(
        *(made.tensors, "cross_output", source("o"), (sizes.width, widths["context"]), context, _ROWS),
        residual=_ROWS,
        bias=bias,
    )
    return (
        made.norm("cross_norm", "pre_cross_attn_layernorm"),
        parts.linear(made.tensors, query, source("q"), queries, "normed", query, bias=bias),
        keys(key, "k"),
        keys(value, "v"),
        Attention(
            *(query, key, value, context, sizes.heads, sizes.key_heads, factors_in(config).scores),
            cap=scores_cap(config),
        ),
        *made.added(output, "post_cross_attn_layernorm"),
    )
