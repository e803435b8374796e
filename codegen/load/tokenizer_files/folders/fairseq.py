# SPDX-License-Identifier: Apache-2.0
r"""PhobertTokenizer and BertweetTokenizer as `transformers` 5.23 makes them: words by `\S+\n?`, merged by bpe.codes of
fastBPE and looked up in vocab.txt, a dictionary of fairseq, where `@@` ends what a word goes on behind. A
tokenizer.json is read for its added tokens only."""

from __future__ import annotations

import json

from ....ir.normalizer_spec import NoNormalizer
from ....ir.tokenizer_spec import AddedToken, LineWordSegmenter, TokenizerSpec, goes_on
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..folder_tokens import ROBERTA_TOKENS, FolderTokens, read_tokens
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import check_are_added, check_unsupported, flag_of, read_config
from ..tokenizer_json.template import read_post_processor, template_of
from ..vocab_text import FILE as VOCAB_FILE
from .symbol_merges import Merges, check_symbols, described, described_tokens, found_tokens, model_of, read_lines

CODES_FILE = "bpe.codes"
_BERTWEET = "BertweetTokenizer"
CLASSES = ("PhobertTokenizer", _BERTWEET)
_FIRST = ("bos_token", "pad_token", "eos_token", "unk_token")  # have the ids from 0 on
# What Python's expressions take for no white space.
_NO_SPACE = r"[^\t-\r\x{1c}-\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]"


def read_fairseq_folder(folder: CheckpointFolder, name: str) -> TokenizerSpec:
    """The checked tokenizer of one of `CLASSES`."""
    config = read_config(folder)
    check_unsupported(config, has_template=True)
    if name == _BERTWEET and flag_of(config, "normalization", False):
        message = (
            "'normalization': true rewrites texts by expressions that are not supported here: set it to false, and "
            f"give the model texts that normalizeTweet() of {_BERTWEET} has made"
        )
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    for file in (VOCAB_FILE, CODES_FILE):
        if not folder.has(file):
            raise refusal("tokenizer-missing", f"{name} needs {file}", file=file)
    tokens = read_tokens(folder, config, described_tokens(folder), ROBERTA_TOKENS, rebuilds=True)
    ids = _read_vocab(folder, tokens)
    added = found_tokens(ids, tokens, VOCAB_FILE, goes_on)
    merges = _read_codes(folder)
    texts = {token.content for token in added} | {tokens.special[key] for key in _FIRST}
    check_symbols(merges, texts, CODES_FILE, goes_on)
    begin, end = tokens.special["cls_token"], tokens.special["sep_token"]
    in_all = ids | {token.content: token.id for token in added}
    template = template_of(f"{begin} $A {end}", f"{begin} $A {end} {end} $B {end}", in_all)
    model = model_of(tuple(ids), merges, ids[tokens.special["unk_token"]], marks_goes_on=True)
    words = {"type": "Split", "pattern": {"Regex": f"{_NO_SPACE}+\\n?"}, "behavior": "Removed", "invert": True}
    by_content = {token.content: token for token in added if token.special}
    check_are_added(tokens.extra, by_content, VOCAB_FILE)
    return TokenizerSpec(
        normalizer=NoNormalizer(),
        segmenter=LineWordSegmenter(),
        model=model,
        template=read_post_processor(template, in_all).template,
        added_tokens=added,
        json=json.dumps(described(model, merges, added, texts, template, words)),
        notes=(*tokens.notes, *_notes(added, name)),
    )


def _read_vocab(folder: CheckpointFolder, tokens: FolderTokens) -> dict[str, int]:
    """The ids of the first tokens, and of the words behind them."""
    ids = {tokens.special[key]: i for i, key in enumerate(_FIRST)}
    if len(ids) < len(_FIRST):
        raise refusal("tokenizer-conflict", f"two of {', '.join(_FIRST)} are one token", file=CONFIG_FILE)
    lines = read_lines(folder, VOCAB_FILE)
    for number, line in enumerate(lines[:-1] if lines[-1] == "" else lines):
        word, space, _ = line.strip().rpartition(" ")
        if not space:
            message = f"line {number + 1} is {shown(line)}, no word with a number behind it"
            raise refusal("vocab-gap", message, file=VOCAB_FILE)
        if word in ids:
            raise refusal("vocab-duplicate-piece", f"the word {shown(word)} is there twice", file=VOCAB_FILE)
        ids[word] = len(ids)
    return ids


def _read_codes(folder: CheckpointFolder) -> Merges:
    """Two symbols and a number a line; of a pair that is there twice the last place counts."""
    merges: Merges = {}
    for rank, line in enumerate(read_lines(folder, CODES_FILE)[:-1]):
        fields = line.split()
        if len(fields) != 3:
            message = (
                f"line {rank + 1} is {shown(line)}, not two symbols and a number. save_pretrained of {_BERTWEET} "
                "writes no numbers, and the library then merges nothing: take the file that the model was trained with"
            )
            raise refusal("tokenizer-merges", message, file=CODES_FILE)
        merges[fields[0], fields[1]] = rank
    return merges


def _notes(added: tuple[AddedToken, ...], name: str) -> tuple[str, ...]:
    """What `transformers` makes otherwise of special tokens that a text has."""
    if not any(token.lstrip or token.rstrip for token in added):
        return ()
    return (f"a line feed beside U+001C to U+001F and a token that strips white space stays, {name} strips it",)
