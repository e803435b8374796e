# SPDX-License-Identifier: Apache-2.0
"""BertGenerationTokenizer of a folder, as `transformers` 5.23 has it: the `sentencepiece` library finds the pieces of a
text by spiece.model, whose numbers are their ids, and nothing stands around them."""

from __future__ import annotations

from dataclasses import replace

from ...ir.template_spec import Template, TemplatePart
from ...ir.tokenizer_spec import MetaspaceSegmenter, SentencePieceFile, SentencePieceNormalizer, TokenizerSpec
from ..files import CheckpointFolder
from ..refusal import refusal, shown
from .folder_tokens import read_tokens
from .looked_up_pieces import MAX_MODEL_BYTES, read_model, unigram_of, written_texts
from .sentencepiece_model import UNIGRAM, read_sentencepiece_model
from .tokenizer_config import FILE as CONFIG_FILE
from .tokenizer_config import check_is_added, check_unsupported, class_name, has_segments, read_config
from .tokenizer_json import FILE as JSON_FILE

TOKENIZER_CLASS, FILE = "BertGenerationTokenizer", "spiece.model"
# With their defaults, in the order in which `transformers` adds them.
_TOKENS: dict[str, object] = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "sep_token": "<::::>",
    "pad_token": "<pad>",
}
_OTHER_READINGS = {"sp_model_kwargs": (None, {}), "legacy": (True,)}  # and with which values there are none


def is_bert_generation_folder(folder: CheckpointFolder, class_in_config: object, usual_class: str) -> bool:
    """Whether `transformers` makes this class of a folder; arguments are as in `TokenizerConfig`."""
    return class_name(read_config(folder), class_in_config, usual_class) == TOKENIZER_CLASS


def read_bert_generation_folder(folder: CheckpointFolder) -> TokenizerSpec:
    """The checked tokenizer."""
    config = read_config(folder)
    check_unsupported(config)
    for key, usual in _OTHER_READINGS.items():
        if key in config and config[key] not in usual:
            raise refusal("tokenizer-setting", f"'{key}': {shown(config[key])} is not supported", file=CONFIG_FILE)
    if has_segments(config, usual=False):
        message = f"'model_input_names': {TOKENIZER_CLASS} tells the model of no segments here"
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    if not folder.has(FILE):
        raise refusal("tokenizer-missing", f"{TOKENIZER_CLASS} needs {FILE}", file=FILE)
    if folder.has(JSON_FILE):
        raise refusal("tokenizer-conflict", f"{TOKENIZER_CLASS} does not read it, but {FILE}", file=JSON_FILE)
    raw = folder.read(FILE, MAX_MODEL_BYTES)
    pieces = {piece.text: i for i, piece in enumerate(read_sentencepiece_model(raw, FILE).pieces)}
    model = read_model(raw, FILE, pieces, UNIGRAM)
    tokens = read_tokens(folder, config, None, _TOKENS, rebuilds=True)
    added = {token.content: replace(token, normalized=False) for token in tokens.of(pieces)}
    ids = pieces | {text: token.id for text, token in added.items()}
    if sorted(ids.values()) != list(range(len(ids))) or any(pieces.get(text, ids[text]) != ids[text] for text in added):
        message = f"the ids of added tokens are neither those of pieces of {FILE} nor the next ones"
        raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    odd = next((text for text, token in added.items() if token.single_word or token.lstrip or token.rstrip), None)
    if odd is not None:  # the class drops some of these flags
        message = f"added token {shown(odd)} has single_word, lstrip or rstrip, not supported with {FILE}"
        raise refusal("added-token-unsupported", message, file=CONFIG_FILE)
    for key, value, file in tokens.extra:
        check_is_added(value, key, added, FILE, file)
    unknown_id = ids[tokens.special["unk_token"]]
    if unknown_id != model.unknown_id:
        message = f"unk_token is {shown(tokens.special['unk_token'])}, another piece than the unknown one of {FILE}"
        raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    first, second = TemplatePart("A", 0), TemplatePart("B", 0)
    special = [token.content for token in added.values() if token.special]
    return TokenizerSpec(
        normalizer=SentencePieceNormalizer(model.charsmap or None),
        segmenter=MetaspaceSegmenter(prepend="doubled", split=True, split_whitespace=False),
        model=unigram_of(model, ids, unknown_id),
        template=Template(single=(first,), pair=(first, second)),
        added_tokens=tuple(added.values()),
        json=written_texts(tuple(sorted(ids, key=ids.__getitem__)), unknown_id, special).json,
        notes=tokens.notes,
        sentencepiece=SentencePieceFile(raw, ids),
    )
