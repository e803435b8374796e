# SPDX-License-Identifier: Apache-2.0
"""BertGenerationTokenizer of a folder, as `transformers` 5.23 has it: the `sentencepiece` library finds the pieces of a
text by spiece.model, whose numbers are their ids, and nothing stands around them."""

from __future__ import annotations

from dataclasses import replace

from ....ir.template_spec import Template, TemplatePart
from ....ir.tokenizer_spec import TokenizerSpec
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..folder_tokens import read_tokens
from ..sentencepiece_model import UNIGRAM, read_sentencepiece_model
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import check_are_added, read_config
from .looked_up_pieces import read_model, unigram_of
from .sentencepiece_class import read_file, spec_of

TOKENIZER_CLASS, FILE = "BertGenerationTokenizer", "spiece.model"
# With their defaults, in the order in which `transformers` adds them.
_TOKENS: dict[str, object] = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "sep_token": "<::::>",
    "pad_token": "<pad>",
}


def read_bert_generation_folder(folder: CheckpointFolder) -> TokenizerSpec:
    """The checked tokenizer."""
    config = read_config(folder)
    raw = read_file(folder, config, TOKENIZER_CLASS, FILE)
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
    check_are_added(tokens.extra, added, FILE)
    unknown_id = ids[tokens.special["unk_token"]]
    if unknown_id != model.unknown_id:
        message = f"unk_token is {shown(tokens.special['unk_token'])}, another piece than the unknown one of {FILE}"
        raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    first, second = TemplatePart("A", 0), TemplatePart("B", 0)
    template = Template(single=(first,), pair=(first, second))
    return spec_of(
        raw, model.charsmap, unigram_of(model, ids, unknown_id), ids, tuple(added.values()), template, tokens.notes
    )
