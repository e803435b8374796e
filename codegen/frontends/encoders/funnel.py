# SPDX-License-Identifier: Apache-2.0
"""Funnel Transformer (Dai et al., 2020, arXiv:2006.03236): an encoder in blocks, each with half of the rows of the one
before, with the head of one of its classes, or of sentence-transformers. Names as in `transformers`.

Classes that read one row of a text end with the last block; those that read a row of every token have a decoder, which
adds the rows of the last block to those that the first one has left. A score is (q + w) k + (q + r) R + (q + s) S: R is
the sine and cosine of the distance as a linear of the layer sees them, S the vector of the same segment or of different
ones, w, r and s are its biases. With q' = q + w it is q' k + q' R + q' S and a number by distance and segment. The two
ways to compute it that `attention_type` names are one here. Most forms of the library fail at texts that are so short
that a later block pools none of their rows, as those of four tokens before a third block: here these rows stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ...ir.graph import Attention, Embed, Graph, Layers, Linear, Node, Op, Parameter, Term
from ...ir.parameter import Array
from ...ir.row_pooling import MOST_LEVELS, SEGMENT_OF_ALL, Copy, PooledBy, PooledScores, PoolRows, RowPooling, Upsample
from ...ir.task import Task
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits
from ...load.refusal import shown
from ...load.safetensors import TensorFile
from ...load.sentence import SentenceModules
from ..bases.architecture import CLASSIFIER_ENDING, check_architecture
from ..bases.heads import Encoder, FamilyHeads, graph_with_head
from ..shared import parts
from ..shared.classifier_head import classifier_head
from ..shared.computed import Computed, one_row
from ..shared.ordered_linear import F64Array, ordered_linear
from ..shared.prediction_head import Prediction
from ..shared.relative import projected
from ..shared.rows import HeadOps
from ..shared.sinusoids import halved_waves

MODEL_TYPE = "funnel"
NAME = "Funnel"
_OF_ONE_ROW = (CLASSIFIER_ENDING, "ForMultipleChoice", "BaseModel")  # classes without a decoder
_OF_EVERY_ROW = ("ForMaskedLM", "ForQuestionAnswering", "ForTokenClassification")
# Of the library, for one thing.
_OTHER_NAMES = {"d_model": "hidden_size", "n_head": "num_attention_heads"}
# Of training; `attention_type` names two ways to compute the same scores.
HARMLESS_KEYS = frozenset(("activation_dropout", "attention_type", "hidden_dropout", "initializer_std"))
_POSITIONS = 512  # as the published models were trained with
_EPSILON = 1e-9
_WORDS = "embeddings.word_embeddings.weight"
_BLOCKS = (4, 4, 4)  # where the configuration does not say it
_ATTENTION_TYPES = ("relative_shift", "factorized")
_POOLED_BY: tuple[PooledBy, ...] = ("mean", "max")
_ROWS, _OF_TOKENS = "hidden", "decoded"


def read_limits(config: Config) -> Limits:
    """Positions have no end: no row depends on their number."""
    width, vocabulary = config.positive_int("d_model", 768), config.positive_int("vocab_size")
    return Limits(width, vocabulary, _POSITIONS, "without positions", "FunnelTokenizer", endless=True)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    base = any(f"{NAME}{ending}" in config.architectures for ending in _OF_ONE_ROW)
    others = [f"{NAME}{ending}" for ending in (*_OF_ONE_ROW[1:2], *_OF_EVERY_ROW)]
    check_architecture(
        checkpoint, NAME, "BaseModel" if f"{NAME}BaseModel" in config.architectures else "Model", others=others
    )
    form = _read_form(config, max_tokens)
    base = base or not (config.architectures or checkpoint.sentence)
    if base and len(form.blocks) > 1:
        _check_reads_one_row(checkpoint)
    parts.check_max_tokens(max_tokens, parts.MAX_WIDTH // 2 - 1, "the most that are supported")
    prefix = tensors.below("funnel.")
    prediction = Prediction(None, None, "lm_head.bias", "lm_head", "none", 0.0, form.width).giving_words(
        checkpoint, f"{prefix}{_WORDS}"
    )
    words = parts.parameter(
        tensors, "word_embeddings", f"{prefix}{_WORDS}", (read_limits(config).vocabulary, form.width)
    )
    embedding: tuple[Node, ...] = (
        Embed((Term(words, "ids"),), _ROWS),
        parts.layer_norm(
            tensors, "embedding_norm", [f"{prefix}embeddings.layer_norm"], form.width, form.epsilon, _ROWS
        ),
    )
    body = (*embedding, *_encoder(tensors, f"{prefix}encoder.blocks.", form, keeps=not base))
    if not base:
        body = (*body, *_decoder(tensors, f"{prefix}decoder.layers.", form))
    rows = _ROWS if base else _OF_TOKENS

    def classifier(source: str = "classifier", task: Task | None = None) -> HeadOps:
        dense = ("classifier_dense", f"{source}.linear_hidden", "tanh")
        return classifier_head(config, tensors, rows, form.width, f"{source}.linear_out", dense, task=task)

    heads = FamilyHeads(classifier, prediction, pooled=classifier)
    encoder = Encoder(body, form.widths, read_limits(config).vocabulary, SEGMENT_OF_ALL + 1, rows)
    return graph_with_head(checkpoint, max_tokens, NAME, encoder, heads)


def _check_reads_one_row(checkpoint: Checkpoint) -> None:
    """Rows behind the last block are of several tokens: what `transformers` hands to sentence-transformers there does
    not fit its mask of tokens."""
    sentence = checkpoint.sentence
    if sentence is None or (
        isinstance(sentence, SentenceModules) and (sentence.pooling, sentence.beside) == ("cls", ())
    ):
        return
    message = f"{NAME}BaseModel has rows for several tokens each: an embedding is that of its first row (cls)"
    raise parts.refuse("pooling-not-supported", message)


@dataclass(frozen=True)
class _Block:
    """So many layers, each run so often before the next one."""

    layers: int
    repeats: int

    @property
    def runs(self) -> tuple[int, ...]:
        """The layer of each run."""
        return tuple(layer for layer in range(self.layers) for _ in range(self.repeats))


@dataclass(frozen=True)
class _Form:
    """Of all layers."""

    width: int
    heads: int
    head_width: int
    inner: int
    activation: str
    epsilon: float
    blocks: tuple[_Block, ...]
    decoder_layers: int
    pooling: RowPooling
    queries_alone: bool  # what attends is pooled, what it attends to is not
    max_tokens: int

    @property
    def widths(self) -> dict[str, int]:
        """Of the values that layers read and write."""
        inside = dict.fromkeys(("query", "key", "value", "context"), self.heads * self.head_width)
        return inside | {_ROWS: self.width, _OF_TOKENS: self.width, "inner": self.inner}


def _read_form(config: Config, max_tokens: int) -> _Form:
    parts.check_other_names(config, _OTHER_NAMES)
    width = config.positive_int("d_model", 768, maximum=parts.MAX_WIDTH)
    heads = config.positive_int("n_head", 12, maximum=parts.MAX_WIDTH)
    head_width = config.positive_int("d_head", 64, maximum=parts.MAX_WIDTH // heads)
    if width % 2:
        raise parts.refuse("config-value", f"d_model {width}: sines and cosines need an even number")
    if (kind := config.text("attention_type", _ATTENTION_TYPES[0])) not in _ATTENTION_TYPES:
        supported = ", ".join(_ATTENTION_TYPES)
        raise parts.refuse("config-not-supported", f"attention_type '{kind}' is not supported (supported: {supported})")
    named = config.text("pooling_type", "mean")
    by = next((each for each in _POOLED_BY if each == named), None)
    if by is None:
        raise parts.refuse("pooling-not-supported", f"pooling_type '{named}' (supported: {', '.join(_POOLED_BY)})")
    apart = config.flag("separate_cls", True)
    return _Form(
        width,
        heads,
        head_width,
        config.positive_int("d_inner", 3072, maximum=parts.MAX_WIDTH),
        parts.activation_of(config, default="gelu_new"),
        parts.epsilon_of(config, default=_EPSILON),
        _read_blocks(config),
        config.natural_int("num_decoder_layers", 2, maximum=parts.MAX_LAYERS),
        RowPooling(by, apart, apart and config.flag("truncate_seq", True)),
        config.flag("pool_q_only", True),
        max_tokens,
    )


def _read_blocks(config: Config) -> tuple[_Block, ...]:
    sizes = _counts(config, "block_sizes", _BLOCKS)
    repeats = _counts(config, "block_repeats", (1,) * len(sizes))
    if len(sizes) != len(repeats) or not 1 <= len(sizes) <= MOST_LEVELS + 1:
        message = f"{len(sizes)} block_sizes and {len(repeats)} block_repeats: expected as many, 1 to {MOST_LEVELS + 1}"
        raise parts.refuse("config-value", message)
    return tuple(_Block(*each) for each in zip(sizes, repeats, strict=True))


def _counts(config: Config, key: str, usual: tuple[int, ...]) -> tuple[int, ...]:
    values = config.values.get(key)
    if values is None:
        return usual
    whole = isinstance(values, list) and all(type(value) is int for value in values)
    if not whole:
        raise parts.refuse("config-type", f"'{key}' must be a list of integers, got {shown(values)}")
    if not all(1 <= value <= parts.MAX_LAYERS for value in values):
        raise parts.refuse("config-out-of-range", f"'{key}' must be in 1..{parts.MAX_LAYERS}, got {shown(values)}")
    return tuple(values)


def _encoder(tensors: TensorFile, source: str, form: _Form, *, keeps: bool) -> tuple[Node, ...]:
    """All blocks; where it `keeps` them, with the rows that the decoder adds to: what as many runs of layers have left
    as the first block has layers, which may run more than once."""
    parts.check_layers(tensors, sum(block.layers for block in form.blocks), "block_sizes")
    nodes: list[Node] = []
    for level, block in enumerate(form.blocks):
        prefix, name = f"{source}{level}.", f"block_{level}"
        if level or not keeps:
            nodes.append(_layers(tensors, prefix, name, form, block.runs, level, pools=level > 0))
            continue
        kept = block.runs[: block.layers], block.runs[block.layers :]
        nodes += [_layers(tensors, prefix, name, form, kept[0], level), Copy(_ROWS, _OF_TOKENS)]
        if kept[1]:
            nodes.append(_layers(tensors, prefix, f"{name}_more", form, kept[1], level))
    return tuple(nodes)


def _decoder(tensors: TensorFile, source: str, form: _Form) -> tuple[Node, ...]:
    upsample = Upsample(form.pooling, len(form.blocks) - 1, _ROWS, _OF_TOKENS)
    runs = tuple(range(form.decoder_layers))
    return (upsample, *([_layers(tensors, source, "decoder", form, runs, 0, rows=_OF_TOKENS)] if runs else []))


def _layers(
    tensors: TensorFile,
    source: str,
    name: str,
    form: _Form,
    runs: Sequence[int],
    level: int,
    *,
    pools: bool = False,
    rows: str = _ROWS,
) -> Layers:
    """Layers of one level in the order of their `runs`, of which the first pools the rows of the level before."""
    stored = tuple(dict.fromkeys(runs))
    of_layer = () if len(stored) == len(runs) else tuple(map(stored.index, runs))
    layer = _Parts(tensors, [f"{source}{index}." for index in stored], of_layer, name, form, rows)
    keys = (
        layer.linear("key", "attention.k_head", rows, "key"),
        layer.linear("value", "attention.v_head", rows, "value"),
    )
    pooled = (PoolRows(form.pooling, rows),) if pools else ()
    body: tuple[Op, ...] = (
        *((*keys, *pooled) if form.queries_alone else (*pooled, *keys)),
        layer.query(),
        layer.attention(level),
        layer.linear("attention_output", "attention.post_proj", "context", rows, residual=rows),
        layer.norm("attention_norm", "attention.layer_norm"),
        layer.linear("intermediate", "ffn.linear_1", rows, "inner", form.activation),
        layer.linear("output", "ffn.linear_2", "inner", rows, residual=rows),
        layer.norm("output_norm", "ffn.layer_norm"),
    )
    return Layers(f"{name}_layer", len(runs), body)


@dataclass(frozen=True)
class _Parts:
    """Ops by what the file calls them behind the prefix of each layer."""

    tensors: TensorFile
    prefixes: Sequence[str]
    of_layer: tuple[int, ...]
    name: str  # of all of them, before what each is called
    form: _Form
    rows: str

    def linear(
        self, name: str, of: str, value: str, out: str, activation: str = "none", residual: str | None = None
    ) -> Linear:
        widths = self.form.widths
        shape = (widths[out], widths[value])
        sources, named = self.sources(of), f"{self.name}_{name}"
        return parts.linear(
            self.tensors, named, sources, shape, value, out, activation, residual=residual, of_layer=self.of_layer
        )

    def norm(self, name: str, of: str) -> Op:
        form, named = self.form, f"{self.name}_{name}"
        return parts.layer_norm(
            self.tensors, named, self.sources(of), form.width, form.epsilon, self.rows, of_layer=self.of_layer
        )

    def query(self) -> Linear:
        """With the bias that content has."""
        form, name = self.form, f"{self.name}_query"
        shape = form.widths["query"], form.width
        weights = tuple(self.tensors.take(f"{of}.weight", shape) for of in self.sources("attention.q_head"))
        weight, bias = (
            self._parameter("query_weight", weights),
            self._parameter("query_bias", tuple(one_row([each]) for each in self._biases("w"))),
        )
        return Linear(name, weight, bias, self.rows, "query")

    def attention(self, level: int) -> Attention:
        form = self.form
        scores = PooledScores(form.pooling, level)
        farthest = scores.reach(form.max_tokens)

        @cache
        def waves() -> F64Array:
            """Of the distances query - key, in tokens."""
            step = 1 << max(level - 1, 0)
            return halved_waves([-step * distance for distance in range(-farthest, farthest + 1)], form.width)

        size = (form.width, form.heads, form.head_width)
        kernels = [self.tensors.take(of, size) for of in self.sources("attention.r_kernel")]
        segments = [self.tensors.take(of, (2, *size[1:])) for of in self.sources("attention.seg_embed")]
        kernel = self._parameter("distance_weight", tuple(map(_matrix, kernels)))
        count = 2 * farthest + 1
        layers = zip(kernels, segments, *(self._biases(of) for of in "wrs"), strict=True)
        numbers = tuple(_numbers(waves, count, *layer) for layer in layers)
        return Attention(
            *("query", "key", "value", "context"),
            form.heads,
            bias=self._parameter("score_bias", numbers),
            relative_keys=projected(f"{self.name}_relative_keys", waves, count, kernel, None),
            pooled=scores,
            segment_keys=self._parameter("segment_keys", tuple(map(_rows_of_heads, segments))),
        )

    def sources(self, of: str) -> list[str]:
        return [f"{prefix}{of}" for prefix in self.prefixes]

    def _biases(self, of: str) -> list[Array]:
        size = self.form.heads, self.form.head_width
        return [self.tensors.take(source, size) for source in self.sources(f"attention.r_{of}_bias")]

    def _parameter(self, name: str, arrays: tuple[Array, ...]) -> Parameter:
        return Parameter(f"{self.name}_{name}", arrays, self.of_layer)


def _matrix(kernel: Array) -> Computed:
    """[outputs, inputs] of [width, heads, head width]."""
    width, heads, head_width = kernel.shape

    def values() -> F64Array:
        return np.ascontiguousarray(kernel.values.reshape(width, -1).T)

    return Computed(kernel.name, (heads * head_width, width), values, kernel.file)


def _rows_of_heads(segments: Array) -> Computed:
    shape = segments.shape[0], segments.shape[1] * segments.shape[2]
    return Computed(segments.name, shape, lambda: segments.values.reshape(shape), segments.file)


def _numbers(
    waves: Callable[[], F64Array],
    count: int,
    kernel: Array,
    segments: Array,
    content: Array,
    distance: Array,
    segment: Array,
) -> Computed:
    """Of each head what the biases of distances and of segments differ from that of content by, times their vectors:
    [heads * 2, distances], that of different segments first."""
    _, heads, head_width = kernel.shape

    def values() -> F64Array:
        of_content = content.values.astype(np.float64)
        by_distance, by_segment = distance.values - of_content, segment.values - of_content
        of_heads = [ordered_linear(kernel.values[:, h], by_distance[None, h])[:, 0] for h in range(heads)]
        of_distances = ordered_linear(waves(), np.stack(of_heads)).T  # [heads, distances]
        of_segments = np.stack([ordered_linear(segments.values[:, h], by_segment[None, h])[:, 0] for h in range(heads)])
        both = of_distances[:, None] + of_segments[:, :, None]
        return (both / np.sqrt(np.float64(head_width))).reshape(2 * heads, count)

    return Computed(f"{distance.name}, {segment.name}", (2 * heads, count), values, distance.file)
