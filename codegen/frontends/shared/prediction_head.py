# SPDX-License-Identifier: Apache-2.0
"""The head of a masked language model: a linear, its activation and a norm on the rows of the masks, or on all of them,
then the table of words as the weights of the last linear. Most families differ in names only."""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.graph import Best, Embed, Layers, Linear, Masked, Node, Parameter, WordWeights
from ...ir.parameter import Array
from ...load.checkpoint import Checkpoint
from ...load.config import XLM_MASKED, Config
from ...load.safetensors import TensorFile
from ...load.splade import SparsePooling
from . import parts
from .computed import beside
from .encoder_layer import LayerShape

_MASKED, _BETWEEN, _READY, OUT, WEIGHTS = "masked", "transformed_input", "transformed", "candidates", "word_weights"
LOGITS = "logits"


@dataclass(frozen=True)
class Prediction:
    """What a family's file calls the parts, and the widths: of the encoder's rows and of the embedding."""

    dense: str | None  # None: the last linear is all, of the encoder's rows
    norm: str | None
    bias: str  # of the last linear
    decoder: str  # the last linear, whose weight a file has where it is not the embedding's table
    activation: str
    epsilon: float
    width: int  # of the embedding
    dense_bias: bool = True
    norm_bias: bool = True
    decoder_bias: bool = True
    tied: bool | None = True  # where the configuration does not say it; None: never
    before: tuple[str, int] | None = None  # a linear before `dense` with its activation, and how many outputs it has
    beside: str | None = None  # rows that are further columns of the last linear, which words alone do not fill

    @classmethod
    def as_bert(cls, head: str, transform: str, shape: LayerShape, width: int) -> Prediction:
        """By the names that BERT has below its head, and below what it does before the last linear."""
        return cls(
            dense=f"{transform}.dense",
            norm=f"{transform}.LayerNorm",
            bias=f"{head}.bias",
            decoder=f"{head}.decoder",
            activation=shape.activation,
            epsilon=shape.epsilon,
            width=width,
        )

    @classmethod
    def as_roberta(cls, shape: LayerShape, head: str = "lm_head") -> Prediction:
        """By RoBERTa's names below its head; its activation is gelu, whatever that of the layers is."""
        return cls(
            dense=f"{head}.dense",
            norm=f"{head}.layer_norm",
            bias=f"{head}.bias",
            decoder=f"{head}.decoder",
            activation="gelu",
            epsilon=shape.epsilon,
            width=shape.hidden,
        )

    @classmethod
    def of_rows(cls, decoder: str, width: int, bias: bool) -> Prediction:
        """One linear alone, not tied unless the configuration says so."""
        return cls(None, None, f"{decoder}.bias", decoder, "none", 0.0, width, decoder_bias=bias, tied=False)

    def giving_words(self, checkpoint: Checkpoint, words: str) -> Prediction:
        """The same, where of a class that predicts words `lend_words` counts."""
        named = checkpoint.config.architectures
        if checkpoint.sentence is None and any(name.endswith(("ForMaskedLM", XLM_MASKED)) for name in named):
            self.lend_words(checkpoint.config, checkpoint.tensors, words)
        return self

    def lend_words(self, config: Config, tensors: TensorFile, words: str) -> None:
        """The library ties the table `words` and the weight of the last linear, whichever a file has. To be called
        before the table is read."""
        if self._is_tied(config):
            tensors.stand_in(words, f"{self.decoder}.weight")

    @property
    def tensors(self) -> tuple[str, ...]:
        """Patterns of the names of all that it has in a file, but the embedding's table."""
        before = None if self.before is None else self.before[0]
        linears = (each for each in (before, self.dense, self.norm, self.decoder, self.beside) if each is not None)
        return (*(f"{each}.*" for each in linears), self.bias)

    def ops(
        self, config: Config, tensors: TensorFile, body: tuple[Node, ...], value: str, width: int, mask: int, count: int
    ) -> tuple[tuple[Node, ...], dict[str, int]]:
        """The ops from `value` [tokens, width] to the best `count` entries of each mask, and the widths of what they
        write."""
        rows = _READY if self.dense is None else _MASKED
        weight, bias = self._decoder(config, tensors, body)
        between, widths, ready = self._transform(tensors, rows, width)
        best = Best("decoder", weight, bias, count, ready, OUT)
        return (Masked(mask, value, rows), *between, best), {rows: width, **widths, OUT: 2 * count}

    def weights(
        self,
        config: Config,
        tensors: TensorFile,
        body: tuple[Node, ...],
        value: str,
        width: int,
        sparse: SparsePooling,
    ) -> tuple[tuple[Node, ...], dict[str, int]]:
        """The ops from `value` to what each text weighs the entries, likewise."""
        weight, bias = self._decoder(config, tensors, body)
        between, widths, ready = self._transform(tensors, value, width)
        weights = WordWeights("decoder", weight, bias, sparse.pooling, sparse.twice, ready, WEIGHTS)
        return (*between, weights), {**widths, WEIGHTS: weight.shape[0]}

    def logits(
        self, config: Config, tensors: TensorFile, body: tuple[Node, ...], value: str, width: int
    ) -> tuple[tuple[Node, ...], dict[str, int]]:
        """The ops from `value` to the logits of every entry, likewise."""
        weight, bias = self._decoder(config, tensors, body)
        between, widths, ready = self._transform(tensors, value, width)
        return (*between, Linear("logits", weight, bias, ready, LOGITS)), {**widths, LOGITS: weight.shape[0]}

    def _decoder(
        self, config: Config, tensors: TensorFile, body: tuple[Node, ...]
    ) -> tuple[Parameter, Parameter | None]:
        """Weight and bias of the last linear."""
        words = _words(body)
        entries, columns = words.shape if self.beside is not None else (words.shape[0], self.width)
        tied = self._is_tied(config)
        if tied:
            weight = words
            parts.check_copies(tensors, words.arrays[0].name, (f"{self.decoder}.weight",))
        else:
            weight = Parameter("decoder_weight", (tensors.take(f"{self.decoder}.weight", (entries, columns)),))
        if self.beside is not None:
            weight = self._filled(weight, tensors)
        bias = Parameter("decoder_bias", (self._bias(tensors, entries, tied),)) if self.decoder_bias else None
        return weight, bias

    def _is_tied(self, config: Config) -> bool:
        return self.tied is not None and config.flag("tie_word_embeddings", self.tied)

    def _transform(self, tensors: TensorFile, value: str, width: int) -> tuple[tuple[Node, ...], dict[str, int], str]:
        """The ops from `value` to what the last linear reads, the widths of what they write, and what it reads; none
        where that is all."""
        if self.dense is None:
            return (), {}, value
        source, inputs = value, width
        ops: list[Node] = []
        widths: dict[str, int] = {}
        if self.before is not None:
            name, inputs = self.before
            source, widths[_BETWEEN] = _BETWEEN, inputs
            ops.append(self._linear(tensors, "transform_input", name, (inputs, width), value, source))
        ops.append(self._linear(tensors, "transform", self.dense, (self.width, inputs), source, _READY))
        if self.norm is not None:
            shape, bias = (self.width, self.epsilon), self.norm_bias
            ops.append(parts.layer_norm(tensors, "transform_norm", [self.norm], *shape, _READY, bias=bias))
        return tuple(ops), widths | {_READY: self.width}, _READY

    def _linear(
        self, tensors: TensorFile, name: str, source: str, shape: tuple[int, int], value: str, out: str
    ) -> Linear:
        bias = self.dense_bias
        return parts.linear(tensors, name, [source], shape, value, out, self.activation, bias=bias)

    def _filled(self, weight: Parameter, tensors: TensorFile) -> Parameter:
        """With the columns that are missing to the width; none are where it is that of the embedding."""
        (words,) = weight.arrays
        entries, columns = words.shape
        rest = f"{self.beside}.weight"
        if columns > self.width:
            message = (
                f"the last linear is of {self.width} inputs, fewer than the embedding's {columns} (embedding_size)"
            )
            raise parts.refuse("config-value", message)
        if columns == self.width:
            tensors.ignore(rest)
            return weight
        return Parameter("decoder_weight", (beside(words, tensors.take(rest, (self.width - columns, entries))),))

    def _bias(self, tensors: TensorFile, entries: int, tied: bool) -> Array:
        """Files may have it by two names: that of the linear counts where it is not tied to the other one."""
        names = list(dict.fromkeys((self.bias, f"{self.decoder}.bias")))
        found = [name for name in (names if tied else names[::-1]) if name in tensors] or names[:1]
        if tied:
            parts.check_copies(tensors, found[0], found[1:])
        else:
            tensors.ignore(*found[1:])
        return tensors.take(found[0], (entries,))


def _words(body: tuple[Node, ...]) -> Parameter:
    """The table that ids are looked up in."""
    embeds = (node for node in body if not isinstance(node, Layers) and isinstance(node, Embed))
    return next(term.table for embed in embeds for term in embed.terms if term.by == "ids")
