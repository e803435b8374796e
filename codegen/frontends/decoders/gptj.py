# SPDX-License-Identifier: Apache-2.0
"""GPT-J: attention and feed-forward of the same normalized rows, a part of each head turned, two neighbours at a time.
Names as in `transformers`."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.graph import Attention, Embed, Layers, Linear, Op, Rotary, Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family, Names, StackOf
from ..shared import parts
from ..shared.layer_parts import ATTENTION, LayerParts
from ..shared.llama_stack import Stack
from ..shared.pairs import by_halves
from ..shared.rotary import Angles, rotary_tables
from . import gpt2

MODEL_TYPE = "gptj"
HARMLESS_KEYS = gpt2.UNREAD | {
    "rotary",
    "scale_attn_weights",
}  # these of the first files, which the class does not read
_NAMES = Names("transformer.", words="wte.weight", logits_bias="lm_head.bias")
_THETA = 10_000.0
_TURNED = 64  # values of a head, where the configuration does not say it
_MADE_HERE = ("bias", "masked_bias", "causal_mask")  # of older files: the mask

# Of so many heads queries, keys and values, in this order.
Projections = Callable[[LayerParts, int], tuple[Linear, Linear, Linear]]


def _stack_with(projections: Projections) -> StackOf:
    """GPT-J's layers, with linears of attention of a file's own."""

    def stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
        width, heads, count = gpt2.sizes_in(config, tensors)
        tensors.ignore(*(f"{prefix}h.*.attn.{of}" for of in _MADE_HERE))
        widths = dict.fromkeys(("hidden", "normed", "context", *ATTENTION), width)
        widths |= {"inner": parts.inner_or_four_times(config, "n_inner", width)}
        epsilon = parts.epsilon_of(config, "layer_norm_epsilon", 1e-5)
        activation = parts.activation_of(config, "activation_function", "gelu_new")
        made = LayerParts(tensors, [f"{prefix}h.{i}." for i in range(count)], widths, epsilon)
        words = parts.parameter(tensors, "word_embeddings", f"{prefix}{_NAMES.words}", (vocabulary, width))
        turned = _turned(config, width // heads)
        cosines, sines = rotary_tables("rotary", Angles(_THETA), tokens, turned)
        query, key, value = projections(made, heads)
        layer: tuple[Op, ...] = (
            made.norm("norm", "ln_1"),
            *(by_halves(linear, width // heads, turned) for linear in (query, key)),
            value,
            *(Rotary((cosines,), (sines,), heads, of) for of in ("query", "key")),
            Attention(*ATTENTION, "context", heads, mask="causal"),
            made.linear("attention_output", "attn.out_proj", "context", "hidden", bias=False, residual="hidden"),
            made.linear("intermediate", "mlp.fc_in", "normed", "inner", activation),
            made.linear("output", "mlp.fc_out", "inner", "hidden", residual="hidden"),
        )
        body = (
            Embed((Term(words, "ids"),), "hidden"),
            Layers("layer", count, layer),
            parts.layer_norm(tensors, "final_norm", [f"{prefix}ln_f"], width, epsilon, "hidden"),
        )
        return Stack(body, widths, words, width)

    return stack


def _turned(config: Config, width: int) -> int:
    """How many of a head's values are."""
    turned = config.positive_int("rotary_dim", _TURNED)
    if turned > width or turned % 2:
        message = f"rotary_dim {turned} of a head's {width} values: an even number of them is needed"
        raise parts.refuse("rotary-not-supported", message)
    return turned


def _projections(made: LayerParts, _: int) -> tuple[Linear, Linear, Linear]:
    query, key, value = (made.linear(of, f"attn.{of[0]}_proj", "normed", of, bias=False) for of in ATTENTION)
    return query, key, value


def family(name: str, projections: Projections) -> Family:
    """One that differs in how files have queries, keys and values."""
    return gpt2.family(name, "GPT2Tokenizer", _stack_with(projections), _NAMES, tied=False)


FAMILY = family("GPTJ", _projections)
