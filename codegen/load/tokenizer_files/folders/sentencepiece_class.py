# SPDX-License-Identifier: Apache-2.0
"""Classes of `transformers` 5.23 that ask the `sentencepiece` library for the pieces of a text, by its own file: what
BertGenerationTokenizer and PLBartTokenizer share, and with these M2M100Tokenizer."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ....ir.normalizer_spec import SentencePieceNormalizer
from ....ir.template_spec import Template
from ....ir.tokenizer_spec import (
    AddedToken,
    CharacterBpeModel,
    MetaspaceSegmenter,
    SentencePieceFile,
    TokenizerSpec,
    UnigramModel,
)
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import check_unsupported, has_segments
from ..tokenizer_json.fields import FILE as JSON_FILE
from .looked_up_pieces import MAX_MODEL_BYTES, written_texts

# With other values than these.
_OTHER_READINGS: dict[str, tuple[object, ...]] = {"sp_model_kwargs": (None, {}), "legacy": (True,)}


def read_file(folder: CheckpointFolder, config: dict[str, Any], name: str, file: str) -> bytes:
    """The library's own, which class `name` reads; refused where the folder asks for another reading of it."""
    check_unsupported(config)
    for key, usual in _OTHER_READINGS.items():
        if key in config and config[key] not in usual:
            raise refusal("tokenizer-setting", f"'{key}': {shown(config[key])} is not supported", file=CONFIG_FILE)
    if has_segments(config, usual=False):
        message = f"'model_input_names': {name} tells the model of no segments here"
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    if not folder.has(file):
        raise refusal("tokenizer-missing", f"{name} needs {file}", file=file)
    if folder.has(JSON_FILE):
        raise refusal("tokenizer-conflict", f"{name} does not read it, but {file}", file=JSON_FILE)
    return folder.read(file, MAX_MODEL_BYTES)


def spec_of(
    raw: bytes,
    charsmap: bytes,
    model: UnigramModel | CharacterBpeModel,
    ids: dict[str, int],
    added: Collection[AddedToken],
    template: Template,
    notes: tuple[str, ...],
) -> TokenizerSpec:
    """`raw` is the file, `ids` are those of its pieces and of `added` tokens, from 0 on."""
    assert model.unknown_id is not None
    special = [token.content for token in added if token.special]
    return TokenizerSpec(
        normalizer=SentencePieceNormalizer(charsmap or None),
        segmenter=MetaspaceSegmenter(prepend="doubled", split=True, split_whitespace=False),
        model=model,
        template=template,
        added_tokens=tuple(added),
        json=written_texts(tuple(sorted(ids, key=ids.__getitem__)), model.unknown_id, special).json,
        notes=notes,
        sentencepiece=SentencePieceFile(raw, ids),
    )
