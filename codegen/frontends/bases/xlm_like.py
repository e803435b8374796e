# SPDX-License-Identifier: Apache-2.0
"""XLM and FlauBERT: encoders with an embedding of languages beside those of words and positions, with the head of one
of their classes, or of sentence-transformers. Names as in `transformers`.

The library adds the embedding of a language where a call says one. Here the `default_language` of the configuration
says it, by the names of `lang2id`; without it there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...ir.graph import Attention, Embed, Graph, Layers, Mask, Node, Norm, Op, Parameter, Term
from ...ir.parameter import Array
from ...ir.task import Task
from ...load.checkpoint import Checkpoint
from ...load.config import XLM_MASKED, Config
from ...load.limits import Limits
from ...load.refusal import shown
from ...load.safetensors import TensorFile
from ..shared import parts
from ..shared.computed import Computed, rows_of
from ..shared.layer_parts import LayerParts
from ..shared.prediction_head import Prediction
from ..shared.relative import F64Array
from ..shared.rows import HeadOps
from ..shared.sequence_summary import labels_choice_head, labels_summary_head
from .architecture import check_architecture
from .heads import Encoder, FamilyHeads, graph_with_head

_POSITIONS, _USUAL_POSITIONS = "max_position_embeddings", 512
_WORDS = "embeddings.weight"
_OTHER_NAMES = {"emb_dim": "hidden_size", "n_heads": "num_attention_heads", "n_layers": "num_hidden_layers"}
_LANGUAGE, _MOST_NAMED = "default_language", 16
_INNER = 4  # times as wide as the rows
_TASKS = (
    *(XLM_MASKED, "ForTokenClassification", "ForMultipleChoice"),
    "ForQuestionAnsweringSimple",
)
# Of training, of the class whose answers a beam search finds, of tokens, and of a head that is refused.
_HARMLESS = """
    asm_cutoffs asm_div_value attention_dropout bos_index dropout embed_init_std end_n_top eos_index id2lang init_std
    is_encoder lang_id layerdrop mask_index mask_token_id max_vocab min_count pad_index same_enc_dec
    share_inout_emb sinusoidal_embeddings start_n_top summary_first_dropout unk_index
"""
HARMLESS_KEYS = frozenset(_HARMLESS.split())


@dataclass(frozen=True)
class XlmLike:
    """One of them."""

    name: str  # what its classes begin with
    tokenizer_class: str
    may_norm_first: bool = False  # whether `pre_norm` is one of its keys

    def read_limits(self, config: Config) -> Limits:
        """The width is called `emb_dim`."""
        positions = config.positive_int(_POSITIONS, _USUAL_POSITIONS, maximum=parts.MAX_WIDTH)
        vocabulary = config.positive_int(parts.either_name(config, "vocab_size", "n_words"))
        return Limits(config.positive_int("emb_dim"), vocabulary, positions, _POSITIONS, self.tokenizer_class)

    def build_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
        config, tensors = checkpoint.config, checkpoint.tensors
        check_architecture(checkpoint, self.name, others=[f"{self.name}{task}" for task in _TASKS])
        _check_settings(config)
        limits = self.read_limits(config)
        parts.check_max_tokens(max_tokens, limits.positions)
        width = config.positive_int("emb_dim", maximum=parts.MAX_WIDTH)
        prefix = tensors.below("transformer.")
        prediction = Prediction(
            dense=None,
            norm=None,
            bias="pred_layer.proj.bias",
            decoder="pred_layer.proj",
            activation="none",
            epsilon=0.0,
            width=width,
        )
        prediction.giving_words(checkpoint, f"{prefix}{_WORDS}")
        embedding, notes = _embedding(config, tensors, prefix, limits)
        widths = dict.fromkeys(("hidden", "query", "key", "value", "context"), width) | {"inner": _INNER * width}
        pre_norm = self.may_norm_first and config.flag("pre_norm", False)
        widths |= {"normed": width} if pre_norm else {}
        layers = _layers(config, tensors, prefix, widths, pre_norm=pre_norm)

        def pooled(_: str, task: Task) -> HeadOps:
            return labels_choice_head(config, tensors, width, "logits_proj", task)

        heads = FamilyHeads(
            lambda: labels_summary_head(config, tensors, width), prediction, pooled, left_out=("pred_layer.proj.*",)
        )
        encoder = Encoder((*embedding, layers), widths, limits.vocabulary)
        return graph_with_head(checkpoint, max_tokens, self.name, encoder, heads, notes)


def _check_settings(config: Config) -> None:
    parts.check_other_names(config, _OTHER_NAMES)
    parts.check_heads(config.positive_int("emb_dim"), config.positive_int("n_heads"), "emb_dim", "n_heads")
    if not config.flag("is_encoder", True):
        raise parts.refuse("decoder-not-supported", "is_encoder is false: only encoders are supported")
    if config.flag("asm", False):
        raise parts.refuse("config-not-supported", "asm is true: an adaptive softmax is not supported")


def _embedding(
    config: Config, tensors: TensorFile, prefix: str, limits: Limits
) -> tuple[tuple[Node, ...], tuple[str, ...]]:
    """Ids to `hidden`, and notes."""
    width = limits.width
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{_WORDS}", (limits.vocabulary, width))
    places = (limits.positions, width)
    positions: Array = tensors.take(f"{prefix}position_embeddings.weight", places)
    language, notes = _language(config, tensors, prefix, width)
    if language is not None:
        positions = _sum(positions, language)
    terms = (Term(words, "ids"), Term(Parameter("position_embeddings", (positions,)), "positions"))
    norm = parts.layer_norm(
        *(tensors, "embedding_norm", [f"{prefix}layer_norm_emb"], width, parts.epsilon_of(config), "hidden")
    )
    return (Embed(terms, "hidden"), norm), notes


def _language(config: Config, tensors: TensorFile, prefix: str, width: int) -> tuple[Array | None, tuple[str, ...]]:
    """[1, width] of the language that is named, and a note where there are several."""
    count = config.positive_int("n_langs", 1, maximum=parts.MAX_WIDTH)
    named, ids = config.values.get(_LANGUAGE), config.values.get("lang2id")
    if count == 1 or not config.flag("use_lang_emb", True):
        if named is not None:
            raise parts.refuse(
                "config-value", f"{_LANGUAGE} is {shown(named)}: the model has no embedding of languages"
            )
        return None, ()
    table = tensors.take(f"{prefix}lang_embeddings.weight", (count, width))
    known = ids if isinstance(ids, Mapping) else {}
    names = ", ".join([*known][:_MOST_NAMED])
    if named is None:
        return None, (f"texts are of no language; {_LANGUAGE} in config.json may name one: {names}",)
    number = known.get(named) if isinstance(named, str) else None
    if type(number) is not int or not 0 <= number < count:
        raise parts.refuse("config-value", f"{_LANGUAGE} is {shown(named)}: lang2id has {names}")
    return rows_of(table, number, number + 1), (f"texts are in {named} ({_LANGUAGE})",)


def _sum(positions: Array, language: Array) -> Computed:
    """Every position with the language, which the library adds to it and a word."""

    def values() -> F64Array:
        return positions.values.astype(np.float64) + language.values.astype(np.float64)

    return Computed(f"{positions.name} + {language.name}", positions.shape, values, positions.file)


def _layers(config: Config, tensors: TensorFile, prefix: str, widths: Mapping[str, int], *, pre_norm: bool) -> Layers:
    count = config.positive_int("n_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count, "n_layers")
    layer = _NumberedParts(tensors, [prefix] * count, widths, parts.epsilon_of(config))
    activation = "gelu" if config.flag("gelu_activation", True) else "relu"
    mask: Mask = "causal" if config.flag("causal", False) else "none"
    read = "normed" if pre_norm else "hidden"

    def norm(name: str, of: str) -> Norm:
        return layer.norm(name, of, read)

    attention: tuple[Op, ...] = (
        *(layer.linear(name, f"attentions.{{}}.{name[0]}_lin", read, name) for name in ("query", "key", "value")),
        Attention("query", "key", "value", "context", config.positive_int("n_heads"), mask=mask),
        layer.linear("attention_output", "attentions.{}.out_lin", "context", "hidden", residual="hidden"),
    )
    feed_forward: tuple[Op, ...] = (
        layer.linear("intermediate", "ffns.{}.lin1", read, "inner", activation),
        layer.linear("output", "ffns.{}.lin2", "inner", "hidden", residual="hidden"),
    )
    norms = norm("attention_norm", "layer_norm1.{}"), norm("output_norm", "layer_norm2.{}")
    if pre_norm:
        return Layers("encoder_layer", count, (norms[0], *attention, norms[1], *feed_forward))
    return Layers("encoder_layer", count, (*attention, norms[0], *feed_forward, norms[1]))


@dataclass(frozen=True)
class _NumberedParts(LayerParts):
    """Of a file in which the number of a layer stands within the names, in the place of {}."""

    def _all(self, of: str) -> list[str]:
        return [f"{prefix}{of.format(number)}" for number, prefix in enumerate(self.prefixes)]
