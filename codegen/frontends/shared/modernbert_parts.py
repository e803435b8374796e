# SPDX-License-Identifier: Apache-2.0
"""ModernBERT's layers, an encoder's and a decoder's: norms before attention and feed-forward, gated; positions by
turning queries and keys; some layers see all tokens, the others those nearby, each kind with angles of its own. The
first layer has no norm before its attention, the embedding's is just before it, so that it is no turn of the loop over
the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...ir.graph import Attention, Embed, Layers, Linear, Multiply, Node, Norm, Op, Parameter, Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from . import parts
from .layer_kinds import (
    FULL,
    SLIDING,
    Tables,
    angles_by_kind,
    layer_kinds,
    seen_by_kind,
    tables_by_kind,
)
from .masks import Masks
from .rotary import check_pairs
from .stacked import Made, stacked_linears

# Dropout, how attention is run, and weights before training.
HARMLESS_KEYS = frozenset(
    (
        *("attention_dropout", "cls_token_id", "decoder_bias", "deterministic_flash_attn", "embedding_dropout"),
        *("initializer_cutoff_factor", "layer_norm_eps", "mlp_dropout", "position_embedding_type"),
        *("reference_compile", "repad_logits_with_grad", "sparse_pred_ignore_index", "sparse_prediction"),
    )
)
WORDS = "embeddings.tok_embeddings.weight"
_THETA_KEYS = {FULL: ("global_rope_theta", 160_000.0), SLIDING: ("local_rope_theta", 10_000.0)}


@dataclass(frozen=True)
class Shape:
    """Of all layers."""

    hidden: int
    heads: int
    inner: int
    activation: str
    epsilon: float
    norm_bias: bool
    attention_bias: bool
    inner_bias: bool
    kinds: tuple[str, ...]  # of the layers: FULL or SLIDING
    window: int  # tokens to each side that a sliding layer of the encoder sees, to the past of the decoder


def read_shape(config: Config) -> Shape:
    """EtchError where keys disagree."""
    shape = Shape(
        hidden=config.positive_int("hidden_size", maximum=parts.MAX_WIDTH),
        heads=config.positive_int("num_attention_heads", maximum=parts.MAX_WIDTH),
        inner=config.positive_int("intermediate_size", maximum=parts.MAX_WIDTH),
        activation=parts.activation_of(config, "hidden_activation"),
        epsilon=parts.epsilon_of(config, "norm_eps", 1e-5),
        norm_bias=config.flag("norm_bias", False),
        attention_bias=config.flag("attention_bias", False),
        inner_bias=config.flag("mlp_bias", False),
        kinds=_kinds(config),
        window=config.positive_int("local_attention", 128, maximum=1 << 20) // 2,
    )
    if config.values.get("sliding_window", shape.window) != shape.window:
        raise parts.refuse("config-value", f"sliding_window is not half of local_attention, {shape.window}")
    parts.check_heads(shape.hidden, shape.heads)
    check_pairs(shape.hidden // shape.heads)
    return shape


def _kinds(config: Config) -> tuple[str, ...]:
    """What each layer sees: named, or every n-th layer everything."""
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    every = config.positive_int("global_attn_every_n_layers", 3, maximum=parts.MAX_LAYERS)
    return layer_kinds(config, tuple(SLIDING if layer % every else FULL for layer in range(layers)))


def tables_of(config: Config, shape: Shape, positions: int, max_tokens: int) -> Tables:
    """Cosines and sines of each kind of layer that there is."""
    if config.values.get("rope_scaling") is not None:
        raise parts.refuse("rotary-not-supported", "rope_scaling is not supported")
    angles = angles_by_kind(config, _THETA_KEYS, positions)
    return tables_by_kind(angles, shape.kinds, max_tokens, shape.hidden // shape.heads)


@dataclass(frozen=True)
class Parts:
    """Ops whose parameters are those of all layers below `prefix`."""

    tensors: TensorFile
    prefix: str
    shape: Shape
    tables: Tables
    masks_of: Callable[[Sequence[str]], Masks]  # layers of these kinds
    stacked_input: str | None = None  # what a file calls the linear that queries, keys and values are, where it is one
    loop: str = "encoder_layer"
    steps: bool = False  # whose keys are appended: then the first layer is a loop, too

    @property
    def widths(self) -> dict[str, int]:
        """Of the values of all layers."""
        hidden = dict.fromkeys(("normed", "query", "key", "value", "context"), self.shape.hidden)
        found = hidden | dict.fromkeys(("inner", "gate"), self.shape.inner)
        first = {f"first_{value}": width for value, width in found.items()}
        return {"hidden": self.shape.hidden} | found | first

    def rows(self, words: Parameter) -> tuple[Node, ...]:
        """From the ids to what the last layer leaves, normalized."""
        return (
            Embed((Term(words, "ids"),), "hidden"),
            self.norm("embedding_norm", ["embeddings.norm"], "hidden"),
            *self.layers(),
            self.norm("final_norm", ["final_norm"], "hidden"),
        )

    def layers(self) -> tuple[Node, ...]:
        """The first layer, and the loop over the others; a layer alone is a loop of its own."""
        count = len(self.shape.kinds)
        if count == 1:
            return (Layers(self.loop, 1, self.layer([0], "", normed=False)),)
        first = self.layer([0], "first_", normed=False)
        return (
            *((Layers(f"first_{self.loop}", 1, first),) if self.steps else first),
            Layers(self.loop, count - 1, self.layer(range(1, count), "", normed=True)),
        )

    def layer(self, layers: Sequence[int], named: str, *, normed: bool) -> tuple[Op, ...]:
        """The ops of some layers; their weights and values have names that begin with `named`. Without `normed`, there
        is no norm before the attention."""
        shape = self.shape
        sources = [f"layers.{layer}." for layer in layers]
        query, key, value, context, between, gate = (
            f"{named}{name}" for name in ("query", "key", "value", "context", "inner", "gate")
        )
        before = f"{named}normed"
        names = [f"{source}attn_norm" for source in sources] if normed else []
        rows = before if normed else "hidden"
        return (
            *([self.norm(f"{named}attention_norm", names, "hidden", before)] if normed else ()),
            *self.projections([f"{source}attn." for source in sources], (query, key, value), rows),
            *self.attention(layers, query, key, value, context),
            self.added(f"{named}attention_output", [f"{s}attn.Wo" for s in sources], context, shape.attention_bias),
            self.norm(f"{named}output_norm", [f"{s}mlp_norm" for s in sources], "hidden", before),
            *self.stacked(
                [f"{source}mlp.Wi" for source in sources],
                [(f"{named}intermediate", between, shape.activation), (gate, gate, "none")],
                before,
                shape.inner_bias,
            ),
            Multiply(between, gate, between),
            self.added(f"{named}output", [f"{s}mlp.Wo" for s in sources], between, shape.inner_bias),
        )

    def attention(self, layers: Sequence[int], query: str, key: str, value: str, context: str) -> tuple[Op, ...]:
        """Queries and keys are turned, and each layer sees what its kind does."""
        kinds = [self.shape.kinds[layer] for layer in layers]
        seen = seen_by_kind(kinds, self.tables, self.masks_of(kinds))
        heads = self.shape.heads
        return (
            seen.turned(query, heads),
            seen.turned(key, heads),
            Attention(query, key, value, context, heads, mask=seen.masks.mask, window=seen.masks.window),
        )

    def projections(self, sources: Sequence[str], made: tuple[str, str, str], value: str) -> tuple[Linear, ...]:
        """Queries, keys and values."""
        bias, width = self.shape.attention_bias, self.shape.hidden
        if self.stacked_input is not None:
            stacked = [f"{source}{self.stacked_input}" for source in sources]
            return self.stacked(stacked, [(name, name, "none") for name in made], value, bias)
        return tuple(
            parts.linear(
                *(self.tensors, name, [f"{self.prefix}{source}{of}_proj" for source in sources]),
                *((width, width), value, name),
                bias=bias,
            )
            for name, of in zip(made, "qkv", strict=True)
        )

    def added(self, name: str, sources: Sequence[str], value: str, bias: bool) -> Linear:
        """To the rows."""
        width = self.shape.hidden
        shape = (width, self.widths[value])
        whole = [f"{self.prefix}{source}" for source in sources]
        return parts.linear(self.tensors, name, whole, shape, value, "hidden", residual="hidden", bias=bias)

    def stacked(self, sources: Sequence[str], made: Sequence[Made], value: str, bias: bool) -> tuple[Linear, ...]:
        shape = (self.widths[made[0][1]], self.shape.hidden)
        whole = [f"{self.prefix}{source}" for source in sources]
        return stacked_linears(self.tensors, whole, made, shape, value, bias=bias)

    def norm(self, name: str, sources: Sequence[str], value: str, out: str | None = None) -> Norm:
        whole, shape = [f"{self.prefix}{source}" for source in sources], self.shape
        return parts.layer_norm(
            self.tensors, name, whole, shape.hidden, shape.epsilon, value, out, bias=shape.norm_bias
        )


def dense_and_norm(config: Config, tensors: TensorFile, shape: Shape, of: str, out: str) -> tuple[Op, ...]:
    """ModernBertPredictionHead on rows; `of` is what the file calls it."""
    bias, activation = config.flag("classifier_bias", False), parts.activation_of(config, "classifier_activation")
    size = (shape.hidden, shape.hidden)
    return (
        parts.linear(tensors, "classifier_dense", [f"{of}.dense"], size, "hidden", out, activation, bias=bias),
        head_norm(tensors, shape, of, out),
    )


def head_norm(tensors: TensorFile, shape: Shape, of: str, value: str) -> Norm:
    """Its last op."""
    return parts.layer_norm(
        tensors, "classifier_norm", [f"{of}.norm"], shape.hidden, shape.epsilon, value, bias=shape.norm_bias
    )
