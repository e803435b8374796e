# SPDX-License-Identifier: Apache-2.0
"""The two tokenizers of a model that reads a text and writes another one: of the source, and of the target."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from ...errors import EtchError
from ...ir.character_models import BytesModel
from ...ir.target_tokenizer import DecoderSpec, TargetTokenizer
from ...ir.tokenizer_spec import (
    END_OF_WORD,
    ByteLevelBpeModel,
    CharacterBpeModel,
    MosesSegmenter,
    NormalizedMosesSegmenter,
    TokenizerSpec,
)
from ..config import Config
from ..files import CheckpointFolder
from ..limits import Limits
from ..refusal import refusal
from .character_tokenizers import has_characters, read_source, read_target
from .folders.byt5 import DECODER as BYTES_DECODER
from .folders.fsmt import TOKENIZER_CLASS as FSMT
from .folders.fsmt import read_fsmt_target
from .folders.looked_up_pieces import DECODER
from .folders.m2m import is_m2m_folder, read_m2m_folder
from .folders.marian import is_marian_folder, read_marian_folder
from .folders.plbart import TOKENIZER_CLASS as PLBART
from .moses_library import ENGLISH
from .tokenizer import load_tokenizer
from .tokenizer_config import FILE as CONFIG_FILE
from .tokenizer_config import class_name, read_config
from .tokenizer_json.decoder import read_decoder
from .tokenizer_json.fields import FILE

TARGET = "target"  # a folder with the tokenizer of what is written
_CLEANS = "clean_up_tokenization_spaces"
_CLEANS_BPE = f"{_CLEANS}_for_bpe_even_though_it_will_corrupt_output"


@dataclass(frozen=True)
class TextTokenizers:
    """The template of `source` puts around a text what the model reads there."""

    source: TokenizerSpec
    target: TargetTokenizer


def load_text_tokenizers(folder: CheckpointFolder, config: Config, limits: Limits) -> TextTokenizers:
    """The checked tokenizers; no id of theirs reaches `limits.vocabulary` and `limits.target_vocabulary`."""
    if has_characters(config):
        target, decoder = read_target(config, limits.target_vocabulary)
        return TextTokenizers(read_source(folder, config, limits.vocabulary), TargetTokenizer(target, decoder))
    name = config.values.get("tokenizer_class")
    own = class_name(read_config(folder), name, limits.tokenizer_class)
    if own == FSMT:
        source = load_tokenizer(folder, limits.vocabulary, name, limits.tokenizer_class)
        target, decoder = read_fsmt_target(folder, source, limits.target_vocabulary)
        return TextTokenizers(source, TargetTokenizer(_with_note(folder, target), decoder))
    if limits.target_vocabulary != limits.vocabulary and not folder.has(TARGET):
        message = f"{limits.vocabulary} pieces are read, {limits.target_vocabulary} written: {TARGET}/ has no tokenizer"
        raise refusal("tokenizer-missing", message)
    if is_marian_folder(folder):
        source, pieces, decoder, reader = read_marian_folder(folder, limits.vocabulary, name)
        return TextTokenizers(source, TargetTokenizer(_with_note(folder, pieces), decoder, reader))
    if is_m2m_folder(folder):
        spec = _with_note(folder, read_m2m_folder(folder, limits.vocabulary, name))
        return TextTokenizers(spec, TargetTokenizer(spec, DECODER))
    spec = load_tokenizer(folder, limits.vocabulary, name, limits.tokenizer_class)
    if limits.target_entries is not None and folder.has(TARGET):
        target = _own_target(folder, limits)
    else:
        spec = target = _with_note(folder, spec, usual=own == PLBART)
    return TextTokenizers(spec, TargetTokenizer(target, _decoder(target)))


def _own_target(folder: CheckpointFolder, limits: Limits) -> TokenizerSpec:
    """Of what is written, where it has other pieces."""
    part = folder.within(TARGET)
    try:
        spec = load_tokenizer(part, limits.target_vocabulary, None, limits.tokenizer_class)
        return _with_note(part, spec, f"{TARGET}/")
    except EtchError as error:
        error.file = TARGET if error.file is None else f"{TARGET}/{error.file}"
        raise


def _with_note(folder: CheckpointFolder, spec: TokenizerSpec, place: str = "", *, usual: bool = False) -> TokenizerSpec:
    """The tokenizer of what is written, with a note where `transformers` drops spaces of texts that it has joined: of
    BPE in a tokenizer.json only where it is told to in so many words. `usual` is what a class does
    that is told nothing."""
    values = read_config(folder)
    cleans = values.get(_CLEANS, usual)
    if spec.is_of_wheel and isinstance(spec.model, ByteLevelBpeModel | CharacterBpeModel):
        cleans = cleans and values.get(_CLEANS_BPE)
    if not cleans:
        return spec
    note = f"{place}{CONFIG_FILE}: {_CLEANS} is not done: texts keep spaces that the model writes"
    return replace(spec, notes=(*spec.notes, note))


def _decoder(spec: TokenizerSpec) -> DecoderSpec:
    """Where one tokenizer is both."""
    if spec.sentencepiece is not None:
        return DECODER
    if isinstance(spec.model, BytesModel):
        return BYTES_DECODER
    if isinstance(spec.segmenter, MosesSegmenter) and isinstance(spec.model, CharacterBpeModel):
        return DecoderSpec(space=END_OF_WORD, moses=ENGLISH, absent=spec.model.unknown_piece)
    if isinstance(spec.segmenter, NormalizedMosesSegmenter):
        message = "these words are joined by rules that are not supported: take a model that writes no texts"
        raise refusal("tokenizer-decoder", message)
    described = json.loads(spec.json)
    if "decoder" in described:
        return read_decoder(described["decoder"])
    if isinstance(spec.model, ByteLevelBpeModel):  # its pieces are bytes: there is one way to join them
        return DecoderSpec(bytes=True)
    raise refusal("tokenizer-decoder", "no decoder says how the tokens of a text are joined", file=FILE)
