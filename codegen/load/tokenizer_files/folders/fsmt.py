# SPDX-License-Identifier: Apache-2.0
"""What FSMTTokenizer of `transformers` 5.23 makes of ids that are written: pieces of vocab-tgt.json, whose words are
joined by Moses' rules of the target's language. Special tokens have the ids that they have in texts that are read."""

from __future__ import annotations

from ....ir.target_tokenizer import DecoderSpec
from ....ir.tokenizer_spec import END_OF_WORD, CharacterBpeModel, TokenizerSpec
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..character_tokenizers import character_spec
from ..tokenizer_config import read_config
from ..tokenizer_json.fields import check_vocab
from .moses import SOURCE_VOCAB_FILE, read_languages

TOKENIZER_CLASS = "FSMTTokenizer"
FILE = "vocab-tgt.json"


def read_fsmt_target(
    folder: CheckpointFolder, source: TokenizerSpec, vocab_size: int
) -> tuple[TokenizerSpec, DecoderSpec]:
    """The texts of `vocab_size` ids, and how they are joined; `source` is what reads texts."""
    if not folder.has(FILE):
        raise refusal("tokenizer-missing", f"{TOKENIZER_CLASS} needs {FILE}", file=FILE)
    ids = folder.read_json(FILE)
    check_vocab(ids, None, FILE)
    if len(ids) != vocab_size:
        message = f"it has {len(ids)} pieces, the words that are written {vocab_size} rows (tgt_vocab_size)"
        raise refusal("token-id-out-of-range", message, file=FILE)
    texts = sorted(ids, key=ids.__getitem__)
    added = [token for token in source.added_tokens if token.id < vocab_size]
    for token in added:
        if ids.get(token.content, token.id) != token.id:
            message = f"{shown(token.content)} has the id {ids[token.content]} here, {token.id} in {SOURCE_VOCAB_FILE}"
            raise refusal("tokenizer-conflict", message, file=FILE)
        texts[token.id] = token.content
    special = [token.content for token in added if token.special]
    spec = character_spec(tuple(texts), 0, special, None, None)
    assert isinstance(source.model, CharacterBpeModel)
    language = read_languages(read_config(folder))[1]
    return spec, DecoderSpec(space=END_OF_WORD, moses=language, absent=source.model.unknown_piece)
