# SPDX-License-Identifier: Apache-2.0
"""BioGptTokenizer as `transformers` 5.23 makes it: English words by Moses' rules, merged by merges.txt and looked up in
vocab.json, where `</w>` ends the pieces that end a word. A tokenizer.json is read for its added tokens only."""

from __future__ import annotations

import json

from ....ir.tokenizer_spec import MosesSegmenter, NoNormalizer, TokenizerSpec
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..folder_tokens import read_tokens
from ..moses_library import LIBRARY, moses_tokenizer
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import check_are_added, check_unsupported, has_segments, read_config
from ..tokenizer_json.fields import check_vocab
from ..tokenizer_json.template import read_post_processor, template_of
from .byte_level import MERGES_FILE, VOCAB_FILE
from .symbol_merges import Merges, check_symbols, described, described_tokens, found_tokens, model_of, read_lines

TOKENIZER_CLASS = "BioGptTokenizer"
# In the order in which the class adds them.
_TOKENS: dict[str, object] = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    **dict.fromkeys(("cls_token", "mask_token")),
}
_NEEDED = ("unk_token", "sep_token")
_NOTE = f"the tables have Moses' list of English abbreviations (LGPL 2.1), as {LIBRARY} installs it"


def read_biogpt_folder(folder: CheckpointFolder) -> TokenizerSpec:
    """The checked tokenizer."""
    config = read_config(folder)
    check_unsupported(config, has_template=True)
    for file in (VOCAB_FILE, MERGES_FILE):
        if not folder.has(file):
            raise refusal("tokenizer-missing", f"{TOKENIZER_CLASS} needs {file}", file=file)
    moses_tokenizer()
    tokens = read_tokens(folder, config, described_tokens(folder), _TOKENS, rebuilds=True)
    missing = next((key for key in _NEEDED if key not in tokens.special), None)
    if missing is not None:
        message = f"{missing} is null: {TOKENIZER_CLASS} does not work without"
        raise refusal("missing-special-token", message, file=CONFIG_FILE)
    if has_segments(config, usual=False):
        message = f"'model_input_names' asks for token_type_ids, which no model of {TOKENIZER_CLASS} reads"
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    ids = folder.read_json(VOCAB_FILE)
    check_vocab(ids, tokens.special["unk_token"], VOCAB_FILE)
    added = found_tokens(ids, tokens, VOCAB_FILE, lambda _: False)
    merges = _read_merges(folder)
    texts = {token.content for token in added}
    check_symbols(merges, texts, MERGES_FILE, lambda _: False)
    in_all = ids | {token.content: token.id for token in added}
    begin = tokens.special["sep_token"]
    template = template_of(f"{begin} $A", f"{begin} $A {begin} $B", in_all)
    pieces = tuple(sorted(ids, key=ids.__getitem__))
    model = model_of(pieces, merges, ids[tokens.special["unk_token"]])
    by_content = {token.content: token for token in added if token.special}
    check_are_added(tokens.extra, by_content, VOCAB_FILE)
    return TokenizerSpec(
        normalizer=NoNormalizer(),
        segmenter=MosesSegmenter(),
        model=model,
        template=read_post_processor(template, in_all).template,
        added_tokens=added,
        json=json.dumps(described(model, merges, added, texts, template, {"type": "WhitespaceSplit"})),
        notes=(*tokens.notes, _NOTE),
    )


def _read_merges(folder: CheckpointFolder) -> Merges:
    """Two symbols a line, and what is of no use behind them; of a pair that is there twice the last place counts."""
    merges: Merges = {}
    for rank, line in enumerate(read_lines(folder, MERGES_FILE)[:-1]):
        fields = line.split()
        if line.startswith("#version"):
            continue
        if len(fields) < 2:
            raise refusal("tokenizer-merges", f"line {rank + 1} is {shown(line)}, no two symbols", file=MERGES_FILE)
        merges[fields[0], fields[1]] = rank
    return merges
