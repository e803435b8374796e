# SPDX-License-Identifier: Apache-2.0
"""M2M-100 and what has its shape, NLLB's dense models and SMaLL-100: mBART without a norm behind the embedding, with
tensor2tensor's sinusoids and without a bias of the logits. Names as in `transformers`.

Its sinusoids are those of exact angles; the library's are of angles in float32. A padding token that a text spells out,
or a model writes, counts as any other here; `transformers` gives it no position of its own.
"""

from __future__ import annotations

from functools import cache

from ..ir.graph import Graph, Parameter, Term
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.generation_config import GenerationSettings
from ..load.limits import Limits
from ..load.safetensors import TensorFile
from . import bert_like, encoder_decoder, parts
from .sinusoids import closed_sinusoids
from .target import build_behind_encoder

MODEL_TYPE = "m2m_100"
HARMLESS_KEYS = encoder_decoder.HARMLESS_KEYS
_CLASS = "M2M100ForConditionalGeneration"
_FORM = encoder_decoder.Form(pre_norm=True, logits_bias=False, activation="relu", scales_words=True)
_LEAST_WIDTH = 4  # of two rates


def read_limits(config: Config) -> Limits:
    """As `writer_limits`."""
    return encoder_decoder.writer_limits(config, "M2M100Tokenizer")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """As `build_behind_encoder`."""
    config = checkpoint.config
    bert_like.check_padding(checkpoint.tokenizer, _padding(config))
    return build_behind_encoder(checkpoint, _CLASS, graph_of, max_tokens, read_limits(config).positions)


def graph_of(
    config: Config,
    tensors: TensorFile,
    max_source: int,
    max_target: int,
    generation: GenerationSettings | None = None,
) -> Graph:
    """As `build_encoder_decoder`."""
    # Computed below; older files have them.
    tensors.ignore(*(f"model.{of}.embed_positions.weights" for of in ("encoder", "decoder")))
    first, count = _padding(config) + 1, encoder_decoder.position_count(config)

    @cache
    def table(width: int) -> Parameter:
        if width < _LEAST_WIDTH:
            raise parts.refuse("config-out-of-range", f"d_model is {width}: positions need {_LEAST_WIDTH} at least")
        return closed_sinusoids("position_embeddings", range(first, first + count), width)

    limits = (max_source, max_target)
    graph = encoder_decoder.build_encoder_decoder(
        config, tensors, limits, lambda of, width: Term(table(width), "positions"), _FORM, generation
    )
    assert graph.target is not None
    if first - 1 in graph.target.begin:
        message = f"a target begins with the padding token, pad_token_id {first - 1}, which has no position"
        raise parts.refuse("generation-not-supported", message)
    return graph


def _padding(config: Config) -> int:
    """Positions begin behind its id."""
    return config.natural_int("pad_token_id", 1, maximum=parts.MAX_WIDTH)
