# SPDX-License-Identifier: Apache-2.0
"""PLBartTokenizer of a folder, as `transformers` 5.23 has it: the `sentencepiece` library finds the pieces of a text by
sentencepiece.bpe.model, whose ids are those of fairseq: one more than their numbers. Tokens of programming languages
and a mask are behind them; a text is followed by its end and, where a setting says one, by its language."""

from __future__ import annotations

from typing import Any

from ....ir.template_spec import Template, TemplatePart
from ....ir.tokenizer_spec import AddedToken, CharacterBpeModel, TokenizerSpec, UnigramModel
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..folder_tokens import ROBERTA_TOKENS, FolderTokens, read_tokens
from ..sentencepiece_model import BPE, CONTROL, UNIGRAM, UNKNOWN, read_sentencepiece_model
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import content_of, read_config
from .looked_up_pieces import normal_pieces, read_model, unigram_of
from .m2m import FILE, bpe_of, check_bpe, language_codes
from .sentencepiece_class import read_file, spec_of

TOKENIZER_CLASS = "PLBartTokenizer"
_FIRST = (("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL))  # pieces, in whose place are
_FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>")
_UNKNOWN_ID = _FAIRSEQ.index("<unk>")
_MASK = "<mask>"
_BASE = "base"
# By `language_codes`, in the order of their ids.
_CODES = {_BASE: ("java", "python", "en_XX"), "multi": ("java", "python", "en_XX", "javascript", "php", "ruby", "go")}
_LANGUAGES: dict[str, str | None] = {_BASE: None, "multi": "en_XX"}  # where no file says one


def read_plbart_folder(folder: CheckpointFolder) -> TokenizerSpec:
    """The checked tokenizer."""
    config = read_config(folder)
    raw = read_file(folder, config, TOKENIZER_CLASS, FILE)
    kind = language_codes(config, _CODES, _BASE)
    ids = _ids(raw, kind)
    tokens = read_tokens(folder, config, None, ROBERTA_TOKENS, rebuilds=True)
    _check_tokens(tokens, ids)
    special = [*_FAIRSEQ, *(text for text in ids if _is_behind(text, kind))]
    added = tuple(AddedToken(text, ids[text], special=True) for text in special)  # whose flags the class drops
    read = read_sentencepiece_model(raw, FILE)
    found: CharacterBpeModel | UnigramModel
    model = read_model(raw, FILE, ids, BPE if read.model_type == BPE else UNIGRAM)
    if model.model_type == BPE:
        check_bpe(model, ids, special)
        found = bpe_of(normal_pieces(model), ids, _UNKNOWN_ID, special)
    else:
        found = unigram_of(model, ids, _UNKNOWN_ID)
    end = [ids["</s>"]]
    if (language := _language(config, kind)) is not None:
        end.append(ids[language])
    notes = tokens.notes
    if _MASK not in ids:
        notes += (f"{_MASK} in a text is no token here, {TOKENIZER_CLASS} reads it as unknown",)
    single, pair = (tuple(TemplatePart(part, 0) for part in (*texts, *end)) for texts in ("A", "AB"))
    return spec_of(raw, model.charsmap, found, ids, added, Template(single, pair), notes)


def _ids(raw: bytes, kind: str) -> dict[str, int]:
    """Of pieces, and of tokens behind them."""
    pieces = read_sentencepiece_model(raw, FILE).pieces
    if tuple((piece.text, piece.type) for piece in pieces[: len(_FIRST)]) != _FIRST:
        message = f"its first pieces are not {', '.join(text for text, _ in _FIRST)}, the first that of unknown text"
        raise refusal("sentencepiece-setting", message, file=FILE)
    behind = [_token(code) for code in _CODES[kind]] + [_MASK] * (kind == _BASE)
    texts = [*_FAIRSEQ, *(piece.text for piece in pieces[len(_FIRST) :]), *behind]
    ids = {text: i for i, text in enumerate(texts)}
    if len(ids) != len(texts):
        twice = next(text for i, text in enumerate(texts) if ids[text] != i)
        message = f"it has the piece {shown(twice)}, which {TOKENIZER_CLASS} has elsewhere"
        raise refusal("tokenizer-conflict", message, file=FILE)
    return ids


def _token(code: str) -> str:
    return f"__{code}__"


def _is_behind(text: str, kind: str) -> bool:
    return text == _MASK or text in map(_token, _CODES[kind])


def _check_tokens(tokens: FolderTokens, ids: dict[str, int]) -> None:
    """Refuses others than the class's own, which the files may name again."""
    for key, usual in ROBERTA_TOKENS.items():
        if tokens.special.get(key) != usual:
            message = f"{key} is {shown(tokens.special.get(key))}, only {shown(usual)} is supported"
            raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    own = {text: number for text, number in ids.items() if text in ROBERTA_TOKENS.values() or text.startswith("__")}
    for token in tokens.decoded:
        if own.get(token.content) != token.id:
            message = f"added token {shown(token.content)} ({token.id}) is none of {TOKENIZER_CLASS}"
            raise refusal("added-token-unsupported", message, file=CONFIG_FILE)
    for key, value, file in tokens.extra:
        text = content_of(value, key, file)
        if text not in own:
            message = f"{key}: {shown(text)} is none of the tokens of {TOKENIZER_CLASS}"
            raise refusal("added-token-unsupported", message, file=file)


def _language(config: dict[str, Any], kind: str) -> str | None:
    """The token behind the end of a text."""
    said = config.get("src_lang")
    if said is None:
        said = _LANGUAGES[kind]
    if said is None:
        return None
    tokens = {code: _token(code) for code in _CODES[kind]}
    token = tokens.get(said, said) if isinstance(said, str) else None
    if token not in tokens.values():
        message = f"'src_lang': {shown(said)} is none of {', '.join(tokens)}"
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    return token
