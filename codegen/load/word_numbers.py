# SPDX-License-Identifier: Apache-2.0
"""Files by which a tokenizer gives each word of its vocabulary another number beside its id, as RoCBertTokenizer of
`transformers` 5.23 has them of shapes and pronunciations."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.normalizer_spec import BertNormalizer
from ..ir.tokenizer_spec import TokenizerSpec
from .files import CheckpointFolder
from .refusal import refusal, shown

_MAX_NUMBER = 1 << 24
_AROUND = "[UNK]"  # whose number the tokens around a text have, whatever the unknown one is called


def read_word_numbers(
    folder: CheckpointFolder, files: tuple[str, ...], tokenizer: TokenizerSpec
) -> dict[str, tuple[int, ...]]:
    """By file: the number of each id."""
    return {name: _numbers(folder.read_json(name), name, tokenizer) for name in files if _has(folder, name)}


def word_number_notes(numbers: Mapping[str, tuple[int, ...]], tokenizer: TokenizerSpec) -> tuple[str, ...]:
    """What the class of such a tokenizer does otherwise than that of BERT, which is the one here."""
    if not numbers:
        return ()
    normalizer = tokenizer.normalizer
    if not isinstance(normalizer, BertNormalizer) or not (normalizer.lowercase and normalizer.strip_accents):
        message = "RoCBertTokenizer composes characters where accents stay: only lower case without accents is the same"
        raise refusal("tokenizer-setting", message, file="tokenizer_config.json")
    return (
        "a capital sigma that ends a word becomes a small one of other places, in RoCBertTokenizer the one of ends; "
        "and characters that are new in Unicode are what tokenizers takes them for, not what the Python at hand does",
        "of two texts cut to an odd number of tokens the longer keeps one more, in RoCBertTokenizer always the first",
        "in a text the tokens that stand around texts have the shape and pronunciation of [UNK], as around them",
    )


def _has(folder: CheckpointFolder, name: str) -> bool:
    if not folder.has(name):
        raise refusal("tokenizer-missing", f"the folder has no {name}, which its tokenizer needs", file=name)
    return True


def _numbers(said: Mapping[str, object], name: str, tokenizer: TokenizerSpec) -> tuple[int, ...]:
    for word, number in said.items():
        if type(number) is not int or not 0 <= number < _MAX_NUMBER:
            message = f"the number of {shown(word)} must be an integer from 0, got {shown(number)}"
            raise refusal("config-type", message, file=name)
    texts = {i: piece for i, piece in enumerate(tokenizer.model.pieces) if isinstance(piece, str)}
    texts |= {token.id: token.content for token in tokenizer.added_tokens}
    unknown_id = getattr(tokenizer.model, "unknown_id", None)
    unknown = texts.get(unknown_id, _AROUND) if unknown_id is not None else _AROUND
    missing = next((word for word in (unknown, _AROUND) if word not in said), None)
    if missing is not None:
        raise refusal("missing-special-token", f"it has no {shown(missing)}", file=name)
    around = tokenizer.template.special_ids

    def number_of(index: int) -> int:
        number = said[_AROUND] if index in around else said.get(texts.get(index, unknown), said[unknown])
        assert isinstance(number, int)
        return number

    return tuple(map(number_of, range(max(texts) + 1)))
