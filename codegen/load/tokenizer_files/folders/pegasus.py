# SPDX-License-Identifier: Apache-2.0
"""PEGASUS's tokenizer.json beside what its class in `transformers` 5.23 makes of the folder's files: pieces and the
compiled map are those of tokenizer.json, the tokens of its training are settings, other parts are the class's own."""

from __future__ import annotations

import json
from typing import Any

from ....ir.normalizer_spec import CharsmapNormalizer
from ....ir.target_tokenizer import DecoderSpec
from ....ir.template_spec import Template, TemplatePart
from ....ir.tokenizer_spec import METASPACE, MetaspaceSegmenter, TokenizerSpec
from ...refusal import refusal, shown
from ..folder_tokens import FolderTokens
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import content_of
from ..tokenizer_json.decoder import read_decoder
from ..tokenizer_json.fields import FILE as JSON_FILE

CLASS = "PegasusTokenizer"
TOKENS: dict[str, object] = {
    "pad_token": "<pad>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "mask_token": "<mask_2>",
}
_SENTENCE_MASK, _OFFSET = "<mask_1>", 103  # where no file says it
_MOST_OFFSET = 10_000
_ENDS = (False, False)  # of a text, whose white space stays


def pegasus_vocabulary(pieces: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Of SentencePiece's pieces, as it is in tokenizer.json."""
    first = (("<pad>", 0.0), ("</s>", 0.0), (_SENTENCE_MASK, 0.0), ("<mask_2>", 0.0))
    return [*first, *((text, -100.0) for text in _training(_OFFSET)), *pieces[2:]]


def pegasus_differences(config: dict[str, Any], spec: TokenizerSpec, tokens: FolderTokens) -> tuple[str, ...]:
    """Notes of what the class makes otherwise; what it is told to make otherwise is refused."""
    _check_tokens(config, spec, tokens)
    unknown, scores = spec.unigram.unknown_id, spec.unigram.scores
    is_unknown = spec.unigram.pieces[unknown] == tokens.special["unk_token"] and scores[unknown] == 0 and unknown > 0
    if not is_unknown or spec.unigram.byte_fallback:
        message = (
            f"{CLASS} of transformers has {shown(tokens.special['unk_token'])}, of score 0 and not the first piece"
        )
        raise refusal("tokenizer-conflict", f"{message}, for unknown text, {JSON_FILE} something else", file=JSON_FILE)
    end = next(token.id for token in spec.added_tokens if token.content == tokens.special["eos_token"])
    first, second, last = TemplatePart("A", 0), TemplatePart("B", 0), TemplatePart(end, 0)
    charsmap = spec.normalizer.charsmap if isinstance(spec.normalizer, CharsmapNormalizer) else None
    # Without a map the class makes spaces of line ends, which is no form of this normalizer.
    same_normalizer = charsmap is not None and spec.normalizer == CharsmapNormalizer(_ENDS, charsmap, _ENDS, " ")
    decoder = read_decoder(json.loads(spec.json).get("decoder"))
    parts = [
        ("normalizer", same_normalizer),
        ("pre_tokenizer", spec.segmenter == MetaspaceSegmenter("always", split=True, split_whitespace=False)),
        ("post_processor", spec.template == Template((first, last), (first, second, last))),
        ("decoder", decoder == DecoderSpec(space=METASPACE, drops_first_spaces=True)),
    ]
    return tuple(f"{CLASS} of transformers has another {part}: {JSON_FILE} counts" for part, same in parts if not same)


def _check_tokens(config: dict[str, Any], spec: TokenizerSpec, tokens: FolderTokens) -> None:
    """What the class adds to tokenizer.json."""
    offset = config.get("offset", _OFFSET)
    if type(offset) is not int or not 0 <= offset <= _MOST_OFFSET:
        message = f"'offset' must be a number up to {_MOST_OFFSET}, got {shown(offset)}"
        raise refusal("config-type", message, file=CONFIG_FILE)
    sentence = config.get("mask_token_sent", _SENTENCE_MASK)
    wanted = [tokens.special["eos_token"]]
    wanted += [] if sentence is None else [content_of(sentence, "mask_token_sent", CONFIG_FILE)]
    special = {token.content for token in spec.added_tokens if token.special}
    missing = next((text for text in (*wanted, *_training(offset)) if text not in special), None)
    if missing is not None:
        message = f"{CLASS} of transformers adds {shown(missing)}, {JSON_FILE} does not list it"
        raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)


def _training(offset: int) -> list[str]:
    """Pieces that stand before those of a text."""
    return [f"<unk_{i}>" for i in range(2, offset)]
