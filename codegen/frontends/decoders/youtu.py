# SPDX-License-Identifier: Apache-2.0
"""Youtu-LLM: Llama's shape with latent attention: keys and values of all heads are made of few values of a token. The
library reads zeros in the place of the padding token's word. Names as in `transformers`, which has no classifier of
it."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext

from ...ir.graph import Embed, Node
from ...ir.op import map_slots
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared.computed import without_row
from ..shared.latent_attention import Latent, latent_in
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, Biases, Form, Rotation, Stack, llama_stack
from ..shared.rotary import Angles, angles_of, kind_of, said_in
from ..shared.yarn import yarn_angles

MODEL_TYPE = "youtu"
HARMLESS_KEYS = frozenset({"attention_dropout", "embedding_initializer_range"})  # training's
FORM = Form(Biases(attention_inputs=False, attention_output=False, feed_forward=False))
_SCALE = "mscale_all_dim"
_USUAL = Latent(query=1536, key=512, turned=64, still=128, value=128, pairs=True, bias=False)


def latent_stack(
    config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int, usual: Latent, form: Form = FORM
) -> Stack:
    """Of layers of such attention, as a configuration says it, `usual` where it says nothing, and else of a form."""
    latent = latent_in(config, replace(usual, pairs=config.flag("rope_interleave", True)))
    latent = replace(latent, scale=_scale(config, latent.head))
    form = replace(form, head_width=latent.head, latent=latent)
    rotation = Rotation(_angles(config, form.theta, latent.turned), tokens, latent.turned)
    return llama_stack(config, tensors, prefix, vocabulary, rotation.seen, form)


def _angles(config: Config, theta: float, width: int) -> Angles:
    """Of the values of a head that are turned."""
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    values, key = said_in(config)
    if kind_of(Config.from_json(values)) != "yarn":
        return angles_of(config, theta, positions)
    return yarn_angles(values, key, config.number("rope_theta", theta), positions, width)


def _scale(config: Config, width: int) -> float | None:
    """Of scores of heads of `width` values: larger ones where angles are slower and the object says by how much."""
    values, _ = said_in(config)
    said = Config.from_json(values)
    if kind_of(said) == "default" or not said.values.get(_SCALE):
        return None
    with localcontext() as context:
        context.prec = 30
        slower = max(Decimal(said.number("factor")), Decimal(1))
        larger = Decimal("0.1") * Decimal(said.number(_SCALE)) * slower.ln() + 1
        return float(larger * larger / Decimal(width).sqrt())


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    stack = latent_stack(config, tensors, prefix, vocabulary, tokens, _USUAL)
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
