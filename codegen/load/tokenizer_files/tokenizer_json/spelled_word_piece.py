# SPDX-License-Identifier: Apache-2.0
"""A WordPiece tokenizer as its files spell it, between reading and checking, and the JSON that spells it again."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from ....ir.tokenizer_spec import AddedToken, Trimming


def _bert_decoder() -> dict[str, object]:
    """Of BERT's classes."""
    return {"type": "WordPiece", "prefix": "##", "cleanup": True}


@dataclass(frozen=True)
class TokenizerParts:
    """What tokenizer.json, or vocab.txt with tokenizer_config.json, define together."""

    file: str  # where it came from, for messages
    vocab: dict[str, int]
    added_tokens: tuple[AddedToken, ...]
    clean_text: bool
    handle_chinese_chars: bool
    strip_accents: bool | None
    lowercase: bool
    continuing_prefix: str
    max_input_chars_per_word: int
    unknown_token: str
    classify_token: str
    separate_token: str
    second_segment: int  # of the second text of a pair
    separators: int  # between the two
    notes: tuple[str, ...]
    trimming: Trimming | None = None
    first_segment: int = 0  # of the token before a text
    behind_first: tuple[str, ...] = ()  # tokens between the first of two texts and its separator
    decoder: object = field(default_factory=_bert_decoder)  # as tokenizer.json has it, read where a model writes texts

    def to_json(self) -> str:
        """A tokenizer.json with exactly these parts: no truncation, no padding."""
        classify, separate = self.classify_token, self.separate_token
        template = {
            "type": "TemplateProcessing",
            **bert_processor(
                classify, separate, self.second_segment, self.separators, self.first_segment, self.behind_first
            ),
            "special_tokens": {
                token: {"id": token, "ids": [self.vocab[token]], "tokens": [token]}
                for token in (classify, separate, *self.behind_first)
            },
        }
        return json.dumps(
            {
                "version": "1.0",
                "truncation": None,
                "padding": None,
                "added_tokens": [
                    {
                        "id": token.id,
                        "content": token.content,
                        "single_word": token.single_word,
                        "lstrip": token.lstrip,
                        "rstrip": token.rstrip,
                        "normalized": token.normalized,
                        "special": token.special,
                    }
                    for token in self.added_tokens
                ],
                "normalizer": {
                    "type": "BertNormalizer",
                    "clean_text": self.clean_text,
                    "handle_chinese_chars": self.handle_chinese_chars,
                    "strip_accents": self.strip_accents,
                    "lowercase": self.lowercase,
                },
                "pre_tokenizer": {"type": "BertPreTokenizer"},
                "post_processor": self._trimming(template),
                "decoder": self.decoder,
                "model": {
                    "type": "WordPiece",
                    "unk_token": self.unknown_token,
                    "continuing_subword_prefix": self.continuing_prefix,
                    "max_input_chars_per_word": self.max_input_chars_per_word,
                    "vocab": self.vocab,
                },
            }
        )

    def _trimming(self, template: dict[str, Any]) -> dict[str, Any]:
        """`template`, behind what trims offsets where they are trimmed."""
        if self.trimming is None:
            return template
        keeps = self.trimming.keep_first_space
        trims = {"type": "ByteLevel", "add_prefix_space": keeps, "trim_offsets": True, "use_regex": True}
        return {"type": "Sequence", "processors": [trims, template]}


def bert_processor(
    classify: str,
    separate: str,
    second_segment: int = 1,
    separators: int = 1,
    first_segment: int = 0,
    behind_first: tuple[str, ...] = (),
) -> dict[str, list[dict[str, dict[str, object]]]]:
    """`[CLS] A [SEP]` and `[CLS] A [SEP] B [SEP]`, B and its separator of a type of their own and so many separators
    before it, [CLS] of type 0 or of its own, as tokenizer.json spells it; in pairs with tokens behind A."""

    def special(token: str, type_id: int) -> dict[str, dict[str, object]]:
        return {"SpecialToken": {"id": token, "type_id": type_id}}

    def sequence(name: str, type_id: int) -> dict[str, dict[str, object]]:
        return {"Sequence": {"id": name, "type_id": type_id}}

    single = [special(classify, first_segment), sequence("A", 0), special(separate, 0)]
    begin, first_text, end = single
    first = [begin, first_text, *(special(token, 0) for token in behind_first), *[end] * separators]
    return {"single": single, "pair": [*first, sequence("B", second_segment), special(separate, second_segment)]}
