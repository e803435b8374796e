# SPDX-License-Identifier: Apache-2.0
"""ConvBERT (Jiang et al., 2020, arXiv:2008.02496): an encoder with the head of one of its classes, or of
sentence-transformers. Names as in `transformers`.

It is BERT with fewer and narrower heads of attention, and as many of a convolution beside them: each mixes the rows
around a row by taps that are made of the row's query and of these rows. Linears in groups are stored as whole matrices
here, with zeros for the inputs of other groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from ...ir.convolutions import MOST_TAPS
from ...ir.graph import (
    Attention,
    CenteredConvolution,
    DynamicConvolution,
    Graph,
    Layers,
    Linear,
    Multiply,
    Norm,
    Op,
    Parameter,
    Softmax,
)
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases import bert_like
from ..bases.architecture import check_architecture
from ..bases.heads import Classifier, Encoder, FamilyHeads, graph_with_head
from ..shared import parts
from ..shared.computed import columns_of, depthwise, of_group_matrices, of_groups, one_row
from ..shared.encoder_layer import LayerShape
from ..shared.prediction_head import Prediction
from ..shared.sequence_summary import row_summary_head

MODEL_TYPE = "convbert"
NAME = "ConvBert"
_EMBEDDING = 768  # its width, where the configuration does not say it


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, NAME)
    bert_like.check_encoder_only(config)
    form, tables = _read_form(config), bert_like.read_tables(config)
    hidden, activation = form.shape.hidden, form.shape.activation
    parts.check_max_tokens(max_tokens, tables.positions)
    prefix = tensors.below("convbert.")
    # The activation of the head is gelu, whatever that of the layers is.
    prediction = Prediction(
        dense="generator_predictions.dense",
        norm="generator_predictions.LayerNorm",
        bias="generator_lm_head.bias",
        decoder="generator_lm_head",
        activation="gelu",
        epsilon=form.shape.epsilon,
        width=config.positive_int("embedding_size", _EMBEDDING, maximum=parts.MAX_WIDTH),
    ).giving_words(checkpoint, f"{prefix}{bert_like.WORDS}")
    embedding, widths = bert_like.embed_of_own_width(config, tensors, prefix, tables, form.shape, _EMBEDDING)
    body = (*embedding, _layers(config, tensors, prefix, form))
    heads = FamilyHeads(
        Classifier("classifier.out_proj", ("classifier_dense", "classifier.dense", activation)),
        prediction,
        partial(row_summary_head, config, tensors, hidden),
    )
    notes = ("linears in groups are stored whole, with zeros between groups",) if form.groups > 1 else ()
    encoder = Encoder(body, form.widths | widths, tables.vocabulary, tables.segments)
    return graph_with_head(checkpoint, max_tokens, NAME, encoder, heads, notes)


@dataclass(frozen=True)
class _Form:
    """Of all layers."""

    shape: LayerShape
    heads: int  # of the attention, and as many of the convolution
    taps: int
    groups: int

    @property
    def half(self) -> int:
        """The width of either."""
        return self.shape.hidden // 2

    @property
    def widths(self) -> dict[str, int]:
        """Of the values that layers read and write."""
        mixed = ("query", "key", "value", "context", "span_key", "span_value", "span_context")
        own = {"hidden": self.shape.hidden, "convolved": self.shape.hidden, "inner": self.shape.intermediate}
        return own | dict.fromkeys(mixed, self.half) | {"taps": self.heads * self.taps}


def _read_form(config: Config) -> _Form:
    shape = bert_like.read_shape(config)
    heads = max(shape.heads // config.positive_int("head_ratio", 2, maximum=parts.MAX_WIDTH), 1)
    if shape.hidden % (2 * heads):
        message = f"hidden_size {shape.hidden} is not a multiple of {2 * heads}: heads of attention and of convolutions"
        raise parts.refuse("heads-do-not-divide", message)
    taps = config.positive_int("conv_kernel_size", 9)
    if taps % 2 == 0 or not 3 <= taps <= MOST_TAPS:
        message = f"conv_kernel_size {taps}: expected an odd number from 3 to {MOST_TAPS}"
        raise parts.refuse("config-out-of-range", message)
    groups = config.positive_int("num_groups", 1, maximum=parts.MAX_WIDTH)
    parts.check_groups(groups, shape.hidden, shape.intermediate)
    return _Form(shape, heads, taps, groups)


def _layers(config: Config, tensors: TensorFile, prefix: str, form: _Form) -> Layers:
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)
    part = _Parts(tensors, [f"{prefix}encoder.layer.{i}." for i in range(count)], form)
    body = (
        *part.attention(),
        *part.convolution(),
        *part.attention_output(),
        part.norm("attention_norm", bert_like.LAYER.attention_norm),
        part.feed_forward("intermediate", "hidden", "inner", form.shape.activation),
        part.feed_forward("output", "inner", "hidden", residual="hidden"),
        part.norm("output_norm", bert_like.LAYER.output_norm),
    )
    return Layers("encoder_layer", count, body)


@dataclass(frozen=True)
class _Parts:
    """Ops by what the file calls them behind the prefix of each layer."""

    tensors: TensorFile
    prefixes: Sequence[str]
    form: _Form

    def attention(self) -> tuple[Op, ...]:
        return (
            self.linear("query", bert_like.LAYER.query, "hidden", "query"),
            self.linear("key", bert_like.LAYER.key, "hidden", "key"),
            self.linear("value", bert_like.LAYER.value, "hidden", "value"),
            Attention("query", "key", "value", "context", self.form.heads),
        )

    def convolution(self) -> tuple[Op, ...]:
        """Of the values of rows around a row, by taps that are made of its query and of a key of these rows."""
        hidden, taps = self.form.shape.hidden, self.form.taps
        sources = self.sources("attention.self.key_conv_attn_layer")
        kernels = tuple(self.tensors.take(f"{of}.depthwise.weight", (hidden, 1, taps)) for of in sources)
        mixing = tuple(self.tensors.take(f"{of}.pointwise.weight", (self.form.half, hidden, 1)) for of in sources)
        biases = tuple(self.tensors.take(f"{of}.bias", (self.form.half, 1)) for of in sources)
        return (
            CenteredConvolution(
                "span", Parameter("span_taps", tuple(map(depthwise, kernels))), None, "hidden", "convolved"
            ),
            Linear(
                "span_key",
                Parameter("span_key_weight", tuple(of_groups(each, 1) for each in mixing)),
                Parameter("span_key_bias", tuple(one_row([each]) for each in biases)),
                "convolved",
                "span_key",
            ),
            Multiply("span_key", "query", "span_key"),
            self.linear("taps", "attention.self.conv_kernel_layer", "span_key", "taps"),
            Softmax("taps", self.form.heads),
            self.linear("span_value", "attention.self.conv_out_layer", "hidden", "span_value"),
            DynamicConvolution(self.form.heads, "taps", "span_value", "span_context"),
        )

    def attention_output(self) -> tuple[Op, ...]:
        """What the file has as one linear, of the rows of the attention and then of those of the convolution."""
        hidden, half = self.form.shape.hidden, self.form.half
        sources = self.sources(bert_like.LAYER.attention_output)
        whole = parts.linear(self.tensors, "attention_output", sources, (hidden, hidden), "context", "hidden")

        def of_columns(name: str, first: int) -> Parameter:
            arrays = tuple(columns_of(array, first, first + half) for array in whole.weight.arrays)
            return Parameter(f"{name}_weight", arrays)

        return (
            replace(whole, weight=of_columns("attention_output", 0), residual="hidden"),
            Linear("span_output", of_columns("span_output", half), None, "span_context", "hidden", residual="hidden"),
        )

    def feed_forward(
        self, name: str, value: str, out: str, activation: str = "none", residual: str | None = None
    ) -> Linear:
        if self.form.groups == 1:
            return self.linear(name, f"{name}.dense", value, out, activation, residual)
        inputs, outputs = (self.form.widths[of] // self.form.groups for of in (value, out))
        sources, shape = self.sources(f"{name}.dense"), (self.form.groups, inputs, outputs)
        weights = tuple(of_group_matrices(self.tensors.take(f"{of}.weight", shape)) for of in sources)
        biases = tuple(self.tensors.take(f"{of}.bias", (self.form.widths[out],)) for of in sources)
        return Linear(
            name,
            Parameter(f"{name}_weight", weights),
            Parameter(f"{name}_bias", biases),
            value,
            out,
            activation,
            residual,
        )

    def linear(
        self, name: str, source: str, value: str, out: str, activation: str = "none", residual: str | None = None
    ) -> Linear:
        shape = (self.form.widths[out], self.form.widths[value])
        return parts.linear(self.tensors, name, self.sources(source), shape, value, out, activation, residual=residual)

    def norm(self, name: str, source: str) -> Norm:
        shape = self.form.shape
        return parts.layer_norm(self.tensors, name, self.sources(source), shape.hidden, shape.epsilon, "hidden")

    def sources(self, source: str) -> list[str]:
        return [f"{prefix}{source}" for prefix in self.prefixes]
