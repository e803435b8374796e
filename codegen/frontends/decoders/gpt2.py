# SPDX-License-Identifier: Apache-2.0
"""GPT-2: a decoder alone that goes on with a text. Names as in `transformers`; its linears are [inputs, outputs]."""

from __future__ import annotations

from ...ir.graph import Attention, Embed, Layers, Op, Parameter, Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family, Names, StackOf
from ..shared import parts
from ..shared.layer_parts import ATTENTION
from ..shared.llama_stack import Stack
from ..shared.transposed_parts import TransposedParts

MODEL_TYPE = "gpt2"
# Of the library, for one thing.
_OTHER_NAMES = {
    "n_embd": "hidden_size",
    "n_positions": "max_position_embeddings",
    "n_head": "num_attention_heads",
    "n_layer": "num_hidden_layers",
}
_POSITIONS = "n_positions"
# Training's, and those of other heads.
_UNREAD = """
    attn_pdrop embd_pdrop resid_pdrop summary_activation summary_first_dropout summary_proj_to_labels summary_type
    summary_use_proj task_specific_params
"""
UNREAD = frozenset(_UNREAD.split())
HARMLESS_KEYS = UNREAD | {"reorder_and_upcast_attn", "n_ctx"}  # what half precision needs; the positions once more
NAMES = Names("transformer.", words="wte.weight")


def sizes_in(config: Config, tensors: TensorFile) -> tuple[int, int, int]:
    """Width of the rows, heads that share it evenly, and how many layers, none of which the file lacks."""
    width = config.positive_int("n_embd", maximum=parts.MAX_WIDTH)
    heads = config.positive_int("n_head", maximum=parts.MAX_WIDTH)
    count = config.positive_int("n_layer", maximum=parts.MAX_LAYERS)
    parts.check_other_names(config, _OTHER_NAMES)
    parts.check_heads(width, heads, "n_embd", "n_head")
    parts.check_layers(tensors, count, "n_layer")
    return width, heads, count


def embed(
    config: Config, tensors: TensorFile, words: str, places: str, vocabulary: int, width: int
) -> tuple[Parameter, Embed]:
    """The table of words, as the file calls it, and ids to `hidden` by it and the table of `places`."""
    positions = config.positive_int(_POSITIONS, maximum=parts.MAX_WIDTH)
    table = parts.parameter(tensors, "word_embeddings", words, (vocabulary, width))
    of_places = parts.parameter(tensors, "position_embeddings", places, (positions, width))
    return table, Embed((Term(table, "ids"), Term(of_places, "positions")), "hidden")


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, _: int) -> Stack:
    width, heads, count = sizes_in(config, tensors)
    inner = parts.inner_or_four_times(config, "n_inner", width)
    for key in ("scale_attn_by_inverse_layer_idx", "add_cross_attention"):
        if config.flag(key, False):
            raise parts.refuse("config-not-supported", f"{key} is true")
    if not config.flag("scale_attn_weights", True):
        raise parts.refuse("config-not-supported", "scale_attn_weights is false")
    tensors.ignore(f"{prefix}h.*.attn.bias", f"{prefix}h.*.attn.masked_bias")  # the causal mask, and what is beyond it
    words, embedding = embed(config, tensors, f"{prefix}{NAMES.words}", f"{prefix}wpe.weight", vocabulary, width)
    epsilon = parts.epsilon_of(config, "layer_norm_epsilon", 1e-5)
    part = TransposedParts(tensors, [f"{prefix}h.{i}." for i in range(count)], width, epsilon)
    activation = parts.activation_of(config, "activation_function", "gelu_new")
    layer: tuple[Op, ...] = (
        part.norm("attention_norm", "ln_1", "normed"),
        *part.attention("normed"),
        Attention(*ATTENTION, "context", heads, mask="causal"),
        part.linear("attention_output", "attn.c_proj", (width, width), "context", "hidden", residual="hidden"),
        part.norm("feed_forward_norm", "ln_2", "normed"),
        part.linear("intermediate", "mlp.c_fc", (width, inner), "normed", "inner", activation),
        part.linear("output", "mlp.c_proj", (inner, width), "inner", "hidden", residual="hidden"),
    )
    body = (
        embedding,
        Layers("layer", count, layer),
        parts.layer_norm(tensors, "final_norm", [f"{prefix}ln_f"], width, epsilon, "hidden"),
    )
    widths = dict.fromkeys(("hidden", "normed", "context", *ATTENTION), width) | {"inner": inner}
    return Stack(body, widths, words, width)


def family(
    name: str,
    tokenizer_class: str,
    stack: StackOf,
    names: Names = NAMES,
    *,
    writer: str = "",
    tied: bool = True,
    tags: str | None = None,
) -> Family:
    """One whose sizes have GPT-2's keys."""
    return Family(
        name,
        tokenizer_class,
        stack,
        writer=writer,
        names=names,
        width_of=lambda config: config.positive_int("n_embd"),
        positions=_POSITIONS,
        tags=tags,
        tied=tied,
    )


FAMILY = family("GPT2", "GPT2Tokenizer", _stack, writer="GPT2LMHeadModel", tags="classifier")
