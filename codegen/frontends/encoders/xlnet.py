# SPDX-License-Identifier: Apache-2.0
"""XLNet: an encoder whose scores depend on distances, with the head of one of its classes, or of
sentence-transformers. Names as in `transformers`.

A score is (q + w) k + (q + r) R, where R is the sine and cosine of the distance as a linear of the layer sees them, w
and r are its biases. With q' = q + r it is q' k + q' R + k (w - r): disentangled attention whose relative query is the
same for every distance. What the score has of segments is the same for all keys of one, so that without others nothing
of it is left; a tokenizer that tells the model of segments, which the library's own does not, is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ...ir.graph import Attention, Embed, Graph, Layers, Linear, Node, Op, Parameter, Term
from ...ir.parameter import Array, FloatArray
from ...ir.task import Task
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ..bases.architecture import check_architecture
from ..bases.heads import Encoder, FamilyHeads, graph_with_head
from ..shared import parts, sequence_summary
from ..shared.computed import Computed, one_row
from ..shared.layer_parts import LayerParts
from ..shared.relative import F64Array, projected
from ..shared.rows import HeadOps
from ..shared.sequence_summary import summary_head
from ..shared.sinusoids import halved_waves

MODEL_TYPE = "xlnet"
NAME = "XLNet"
_OTHERS = ("XLNetForTokenClassification", "XLNetForMultipleChoice")
# Of the library, for one thing.
_OTHER_NAMES = {
    "d_model": "hidden_size",
    "n_head": "num_attention_heads",
    "n_layer": "num_hidden_layers",
    "vocab_size": "n_token",
}
# Of memories and masks, which a text by itself has none of, of training, of heads that are refused.
HARMLESS_KEYS = sequence_summary.KEYS | frozenset(
    (
        *("dropout", "end_n_top", "mem_len", "reuse_len", "same_length", "start_n_top", "untie_r"),
        *("use_mems_eval", "use_mems_train"),
    )
)
_POSITIONS = 512  # as the published models were trained with
_WORDS = "word_embedding.weight"


def read_limits(config: Config) -> Limits:
    """Positions have no end: no row depends on their number."""
    width, vocabulary = config.positive_int("d_model"), config.positive_int("vocab_size")
    return Limits(width, vocabulary, _POSITIONS, "without positions", "XLNetTokenizer", endless=True)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, NAME, others=_OTHERS)
    _check_settings(config)
    if checkpoint.tokenizer.template.segments > 1:
        message = "model_input_names: XLNet's segments are not supported, leave token_type_ids out"
        raise parts.refuse("config-not-supported", message)
    parts.check_max_tokens(max_tokens, parts.MAX_WIDTH // 2, "the most that are supported")
    width, vocabulary = config.positive_int("d_model", maximum=parts.MAX_WIDTH), read_limits(config).vocabulary
    widths = dict.fromkeys(("hidden", "query", "key", "value", "context"), width)
    widths |= {"inner": config.positive_int("d_inner", maximum=parts.MAX_WIDTH)}
    prefix = tensors.below("transformer.")
    count = config.positive_int("n_layer", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count, "n_layer")
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{_WORDS}", (vocabulary, width))
    body: tuple[Node, ...] = (
        Embed((Term(words, "ids"),), "hidden"),
        Layers("encoder_layer", count, _layer(config, tensors, prefix, count, widths, max_tokens)),
    )
    tensors.take(f"{prefix}mask_emb", (1, 1, width))  # read in training only

    def summary(_: str = "", task: Task | None = None) -> HeadOps:
        return summary_head(config, tensors, width, "logits_proj", ("last", "tanh"), task)

    encoder = Encoder(body, widths, vocabulary, segments=1)
    return graph_with_head(checkpoint, max_tokens, NAME, encoder, FamilyHeads(summary, pooled=summary))


def _check_settings(config: Config) -> None:
    parts.check_other_names(config, _OTHER_NAMES)
    if (kind := config.text("attn_type", "bi")) != "bi":
        raise parts.refuse("config-not-supported", f"attn_type '{kind}' is not supported (supported: bi)")
    if config.flag("bi_data", False):
        raise parts.refuse("config-not-supported", "bi_data is true: distances of two directions are not supported")
    width, heads = config.positive_int("d_model"), config.positive_int("n_head", maximum=parts.MAX_WIDTH)
    parts.check_heads(width, heads, "d_model", "n_head")
    if width % 2:
        raise parts.refuse("config-value", f"d_model {width}: sines and cosines need an even number")
    if config.values.get("d_head") not in (None, 0, width // heads):
        raise parts.refuse("config-value", f"d_head is not d_model / n_head, {width // heads}")


def _layer(
    config: Config, tensors: TensorFile, prefix: str, count: int, widths: dict[str, int], max_tokens: int
) -> tuple[Op, ...]:
    prefixes = [f"{prefix}layer.{i}." for i in range(count)]
    layer = LayerParts(tensors, prefixes, widths, parts.epsilon_of(config))
    return (
        *_context(config, tensors, [f"{each}rel_attn." for each in prefixes], widths["hidden"], max_tokens),
        layer.norm("attention_norm", "rel_attn.layer_norm", "hidden"),
        layer.linear("intermediate", "ff.layer_1", "hidden", "inner", parts.activation_of(config, "ff_activation")),
        layer.linear("output", "ff.layer_2", "inner", "hidden", residual="hidden"),
        layer.norm("output_norm", "ff.layer_norm", "hidden"),
    )


def _context(
    config: Config, tensors: TensorFile, prefixes: Sequence[str], width: int, max_tokens: int
) -> tuple[Op, ...]:
    heads = config.positive_int("n_head")
    size = (width, heads, width // heads)

    def linear(source: str, name: str, value: str, out: str, bias: Parameter | None = None) -> Linear:
        weights = (_matrix(tensors.take(f"{each}{source}", size), turned=source != "o") for each in prefixes)
        residual = "hidden" if out == "hidden" else None
        return Linear(name, Parameter(f"{name}_weight", tuple(weights)), bias, value, out, residual=residual)

    of_content, of_distance = ([tensors.take(f"{each}r_{x}_bias", size[1:]) for each in prefixes] for x in "wr")
    for each in prefixes:  # of segments
        tensors.take(f"{each}seg_embed", (2, *size[1:]))
        tensors.take(f"{each}r_s_bias", size[1:])
    query_bias = Parameter("query_bias", tuple(one_row([each]) for each in of_distance))
    distances = linear("r", "distance", "", "")
    clamp = config.values.get("clamp_len", -1)
    if type(clamp) is not int:
        raise parts.refuse("config-type", "'clamp_len' must be an integer")
    farthest = min(clamp, max_tokens - 1) if clamp > 0 else max_tokens - 1
    used = range(-farthest, farthest + 1)  # by distance key - query; the sines are of the reverse

    @cache
    def waves() -> F64Array:
        return halved_waves([-distance for distance in used], width)

    by_distance = tuple(min(max(each, -farthest), farthest) + farthest for each in range(1 - max_tokens, max_tokens))
    attention = Attention(
        *("query", "key", "value", "context"),
        heads,
        relative_keys=projected("relative_keys", waves, len(used), distances.weight, None),
        relative_queries=Parameter(
            "relative_queries",
            tuple(_same_rows(w, r, len(used)) for w, r in zip(of_content, of_distance, strict=True)),
        ),
        relative_rows=by_distance,
    )
    return (
        linear("q", "query", "hidden", "query", query_bias),
        linear("k", "key", "hidden", "key"),
        linear("v", "value", "hidden", "value"),
        attention,
        linear("o", "attention_output", "context", "hidden"),
    )


def _matrix(array: Array, *, turned: bool) -> Computed:
    """[outputs, inputs] of [width, heads, head width]; `turned` where the file's first axis are the inputs."""
    width = array.shape[0]

    def values() -> FloatArray:
        matrix = array.values.reshape(width, width)
        return np.ascontiguousarray(matrix.T) if turned else matrix

    return Computed(array.name, (width, width), values, array.file)


def _same_rows(content: Array, distance: Array, rows: int) -> Computed:
    """Of every distance what a key counts beside its product with the query."""
    count = content.shape[0] * content.shape[1]

    def values() -> F64Array:
        row = content.values.astype(np.float64) - distance.values.astype(np.float64)
        return np.tile(row.reshape(count), (rows, 1))

    return Computed(f"{content.name} - {distance.name}", (rows, count), values, content.file)
