# SPDX-License-Identifier: Apache-2.0
"""How many tokens a text may have where the user does not say it."""

from __future__ import annotations

from .config import FILE as CONFIG
from .files import CheckpointFolder
from .limits import Limits
from .refusal import refusal, shown
from .tokenizer_files.tokenizer_config import FILE as TOKENIZER_CONFIG

SENTENCE_FILE = "sentence_bert_config.json"
MIN_TOKENS = 3  # [CLS], one token, [SEP]
_OF_SENTENCES = f"{SENTENCE_FILE} max_seq_length"
_UNLIMITED = 1_000_000  # transformers writes 10^30 for "no limit"


def default_max_tokens(folder: CheckpointFolder, limits: Limits, max_target: int | None = None) -> tuple[int, str]:
    """(the default, where it comes from). sentence-transformers' own file wins, but for more tokens than the model has
    positions: published folders say 514 of the 512 that RoBERTa has for a text, where that library fails. Else the
    smaller of the two limits.

    Without an encoder the positions are also those of the `max_target` tokens that are written behind the text, but for
    the last one, which nothing reads: of half of them where nobody says how many."""
    positions, least = limits.positions, MIN_TOKENS
    source = f"{CONFIG} {limits.positions_key}"
    if not limits.has_encoder:
        positions -= positions // 2 if max_target is None else max_target - 1
        source, least = f"{source}, less what is written", 1
        if positions < least:
            message = f"{max_target} tokens that are written leave a text none of the {limits.positions} positions"
            raise refusal("max-tokens-out-of-range", f"{message} ({limits.positions_key})", file=CONFIG)
    value = positions
    sentence = folder.read_json_if_present(SENTENCE_FILE) or {}
    if sentence.get("max_seq_length") is not None:
        asked, said = _length(sentence["max_seq_length"], "max_seq_length", SENTENCE_FILE), _OF_SENTENCES
        if asked > positions and not limits.endless:
            source = f"{source}, less than {said} {asked}"
        else:
            value, source = asked, said
    else:
        limit = tokenizer_length(folder)
        if limit is not None and limit[0] < value:
            value, source = limit[0], f"{TOKENIZER_CONFIG} {limit[1]}"
    if value < least:
        raise refusal(
            "max-tokens-out-of-range",
            f"{source} is {value}; expected {least}..{positions} ({limits.positions_key})",
            file=source.split()[0],
        )
    return value, source


def tokenizer_length(folder: CheckpointFolder) -> tuple[int, str] | None:
    """(the tokens at which the tokenizer cuts, the key that says it); None where nothing does."""
    tokenizer = folder.read_json_if_present(TOKENIZER_CONFIG) or {}
    key = next((key for key in ("model_max_length", "max_len") if tokenizer.get(key) is not None), None)
    if key is None:
        return None
    limit = _length(tokenizer[key], key, TOKENIZER_CONFIG)
    return (limit, key) if limit < _UNLIMITED else None


def _length(value: object, key: str, file: str) -> int:
    number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else 0
    if number < 1 or number != int(number):
        raise refusal("config-type", f"'{key}' must be an integer from 1, got {shown(value)}", file=file)
    return int(number)
