# SPDX-License-Identifier: Apache-2.0
"""FSMT, fairseq's translators of WMT: BART without a norm behind the embedding, with tensor2tensor's sinusoids, with
words of their own for texts and for what is written, and weights for the logits. Names as in `transformers` 5.23.

A padding token that a text spells out, or a model writes, counts as any other here; `transformers` gives it no position
of its own. Folders have sinusoids or leave them out: then they are those of exact angles, the library's are of angles
in float32.
"""

from __future__ import annotations

from functools import cache

from ...ir.graph import Parameter, Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.bart_family import Family
from ..shared import encoder_decoder, parts
from ..shared.encoder_decoder import Words
from ..shared.sinusoids import closed_sinusoids

MODEL_TYPE = "fsmt"
# The languages, which the tokenizer's file says again; of a decoder's part counts how it writes.
HARMLESS_KEYS = encoder_decoder.HARMLESS_KEYS | {"decoder", "langs", "vocab_size"}
_SOURCE, _TARGET = "src_vocab_size", "tgt_vocab_size"
_LEAST_WIDTH = 4  # of two rates
_ENCODER, _DECODER, _LOGITS = (
    "encoder.embed_tokens.weight",
    "decoder.embed_tokens.weight",
    "decoder.output_projection.weight",
)


def _words(config: Config, tensors: TensorFile, root: str, _: parts.Names, width: int) -> Words:
    entries = {key: encoder_decoder.vocabulary_of(config, key) for key in (_SOURCE, _TARGET)}
    source, target = ((entries[key], width) for key in (_SOURCE, _TARGET))
    names = [f"{root}{name}" for name in (_DECODER, _ENCODER, _LOGITS)]
    if config.flag("tie_word_embeddings", False):
        if source != target:
            message = f"tie_word_embeddings is true: {_SOURCE} {source[0]} and {_TARGET} {target[0]} must agree"
            raise parts.refuse("config-value", message)
        words = parts.tied_parameter(tensors, "word_embeddings", names, source)
        return Words(words, words, words)
    return Words(
        parts.parameter(tensors, "source_words", names[1], source),
        parts.parameter(tensors, "target_words", names[0], target),
        parts.parameter(tensors, "vocabulary_weight", names[2], target),
    )


def _padding(config: Config) -> int:
    """Positions begin behind its id."""
    return config.natural_int("pad_token_id", 1, maximum=parts.MAX_WIDTH)


def _positions(config: Config, tensors: TensorFile) -> encoder_decoder.Positions:
    first, count = _padding(config) + 1, encoder_decoder.position_count(config)
    stored = encoder_decoder.learned_positions(config, tensors, first)

    @cache
    def computed(width: int) -> Parameter:
        if width < _LEAST_WIDTH:
            raise parts.refuse("config-out-of-range", f"d_model is {width}: positions need {_LEAST_WIDTH} at least")
        return closed_sinusoids("position_embeddings", range(first, first + count), width)

    def positions(of: str, width: int) -> Term:
        has_own = encoder_decoder.position_table(of) in tensors
        return stored(of, width) if has_own else Term(computed(width), "positions")

    return positions


def _check(config: Config) -> None:
    parts.check_other_names(config, {_TARGET: "vocab_size"})


_FORM = encoder_decoder.Form(
    logits_bias=False,
    activation="relu",
    scales_words=True,
    words=_words,
    source_entries=_SOURCE,
    target_entries=_TARGET,
)
FAMILY = Family(
    "FSMTForConditionalGeneration",
    "FSMTTokenizer",
    _FORM,
    _positions,
    check=_check,
    padding=_padding,
)
