# SPDX-License-Identifier: Apache-2.0
"""SigLIP's encoders of texts, alone and as the half of a whole one, by the names of `transformers`."""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ..shared import parts
from ..shared.embedding_head import check_no_rows, embedding_head
from ..shared.masks import EVERYTHING
from . import clip_texts
from .architecture import check_class
from .text_half import NEW, TEXT_MODEL, TextHalf, Whole, half_graph, of_texts

HARMLESS_KEYS = frozenset(("attention_dropout", "initializer_factor"))
_FORM = clip_texts.Form(EVERYTHING, 32_000, 768, 12, 3072, 64, "gelu_pytorch_tanh", 1e-6)


@dataclass(frozen=True)
class SiglipFamily:
    """One of them."""

    name: str  # that its classes begin with
    tokenizer_class: str  # of a whole one whose files name none; of an encoder alone tokenizer.json counts as it is

    def text_limits(self, config: Config) -> Limits:
        """Of its encoder of texts alone."""
        return _FORM.limits(config, "TokenizersBackend", padded=True)

    def read_limits(self, config: Config) -> Limits:
        """Of the texts of a whole one."""
        return _FORM.limits(of_texts(config, NEW), self.tokenizer_class, padded=True)

    def text_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """Of its encoder of texts alone."""
        config, tensors, encoder = checkpoint.config, checkpoint.tensors, f"{self.name}TextModel"
        check_class(config, encoder)
        check_no_rows(checkpoint, encoder)
        half = _half(config, tensors, tensors.below(TEXT_MODEL), max_tokens)
        tensors.finish()
        return Graph(half.widths, half.body, (half.result,), half.vocabulary, parts.SEGMENTS, max_tokens)

    def build_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """Of the texts of a whole one."""

        def build(texts: Config) -> TextHalf:
            return _half(texts, checkpoint.tensors, TEXT_MODEL, max_tokens)

        return half_graph(checkpoint, max_tokens, Whole(f"{self.name}Model"), build, HARMLESS_KEYS, keys=NEW)


def _half(config: Config, tensors: TensorFile, prefix: str, max_tokens: int) -> TextHalf:
    body, widths = clip_texts.text_rows(_FORM, config, tensors, prefix, max_tokens)
    width = _FORM.width_in(config)
    outputs = config.positive_int("projection_size", width, maximum=parts.MAX_WIDTH)
    ops, head_widths, result = embedding_head(tensors, "last", "hidden", width, f"{prefix}head", outputs)
    return TextHalf(body + ops, widths | head_widths, result, _FORM.vocabulary_in(config))
