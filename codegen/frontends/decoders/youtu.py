# SPDX-License-Identifier: Apache-2.0
"""Youtu-LLM: Llama's shape with latent attention: keys and values of all heads are made of few values of a token. The
library reads zeros in the place of the padding token's word. Names as in `transformers`, which has no classifier of
it."""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Embed, Node
from ...ir.op import map_slots
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared.computed import without_row
from ..shared.latent_attention import Latent, latent_in
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, Biases, Form, Rotation, Stack, llama_stack
from ..shared.rotary import angles_of

MODEL_TYPE = "youtu"
HARMLESS_KEYS = frozenset({"attention_dropout", "embedding_initializer_range"})  # training's
_NO_BIASES = Biases(attention_inputs=False, attention_output=False, feed_forward=False)
_USUAL = Latent(query=1536, key=512, turned=64, still=128, value=128, pairs=True, bias=False)


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    latent = latent_in(config, replace(_USUAL, pairs=config.flag("rope_interleave", True)))
    form = Form(_NO_BIASES, head_width=latent.head, latent=latent)
    angles = angles_of(config, form.theta, config.positive_int(POSITIONS, maximum=MAX_POSITIONS))
    rotation = Rotation(angles, tokens, latent.turned)
    stack = llama_stack(config, tensors, prefix, vocabulary, rotation.seen, form)
    if config.values.get("pad_token_id") is None:
        return stack
    return _without_word(stack, config.natural_int("pad_token_id", maximum=vocabulary - 1))


def _without_word(stack: Stack, token: int) -> Stack:
    (table,) = stack.words.arrays
    words = replace(stack.words, arrays=(without_row(table, token),))

    def of(node: Node) -> Node:
        return map_slots(node, lambda _: words) if isinstance(node, Embed) else node

    return replace(stack, body=tuple(map(of, stack.body)), words=words)


_FAMILY = Family("Youtu", "TokenizersBackend", _stack, tied=True)
read_limits = _FAMILY.read_limits
build_graph = _FAMILY.build_graph
graph_of = _FAMILY.graph_of
