# SPDX-License-Identifier: Apache-2.0
"""Byte-level BPE (`gpt2`). Where words are parted the file says by a name alone, `tokenizer.ggml.pre`, that of a
tokenizer whose expressions llama.cpp has (src/llama-vocab.cpp); here they are as the tokenizer.json of that model has
them, with its normalizer, which llama.cpp leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ....load.refusal import shown
from ....load.tokenizer_files.tokenizer_json.byte_level_segmenters import CL100K_EXPRESSION, QWEN2_EXPRESSION
from ....load.tokenizer_files.tokenizer_json.template import template_between
from .tokens import Tokens

_PRE, _MERGES = "tokenizer.ggml.pre", "tokenizer.ggml.merges"


@dataclass(frozen=True)
class _Pre:
    expression: str | None = None  # GPT-2's where there is none
    digits: bool = False  # each a word of its own
    normalizer: str | None = None
    ignore_merges: bool = False
    begins: bool = False  # texts begin with bos where the file does not say it

    def segmenter(self) -> dict[str, Any]:
        """The pre_tokenizer."""
        bytes_of = {
            "type": "ByteLevel",
            "add_prefix_space": False,
            "trim_offsets": True,
            "use_regex": self.expression is None,
        }
        front: list[dict[str, Any]] = []
        if self.digits:
            front.append({"type": "Digits", "individual_digits": True})
        if self.expression is not None:
            pattern = {"Regex": self.expression}
            front.append({"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False})
        return {"type": "Sequence", "pretokenizers": [*front, bytes_of]} if front else bytes_of


_GPT2 = _Pre()
_LLAMA3 = _Pre(CL100K_EXPRESSION, ignore_merges=True, begins=True)
_QWEN2 = _Pre(QWEN2_EXPRESSION, normalizer="NFC")
_DIGITS = _Pre(digits=True)
_PRES = {
    **dict.fromkeys(("gpt-2", "phi-2"), _GPT2),
    **dict.fromkeys(("llama3", "llama-v3", "llama-bpe"), _LLAMA3),
    "qwen2": _QWEN2,
    **dict.fromkeys(("smollm", "starcoder"), _DIGITS),
    "olmo": _Pre(normalizer="NFC"),
    "dbrx": _Pre(CL100K_EXPRESSION),
}


def byte_level(tokens: Tokens) -> dict[str, Any]:
    """The tokenizer.json."""
    meta = tokens.meta
    name = meta.text(_PRE, "default")
    if name not in _PRES:
        message = f"{_PRE} {shown(name)} does not say where words are parted (read: {', '.join(_PRES)})"
        raise meta.refuse("gguf-tokenizer", message)
    pre = _PRES[name]
    vocab = tokens.in_vocabulary()
    ids = vocab | {token.content: token.id for token in tokens.added()}
    ends = tokens.asked_ends(pre.begins, end=False)
    trims = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}
    return tokens.described(
        normalizer=None if pre.normalizer is None else {"type": pre.normalizer},
        pre_tokenizer=pre.segmenter(),
        post_processor=template_between(ends, ids) if ends else trims,
        decoder={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        model={
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": pre.ignore_merges,
            "vocab": vocab,
            "merges": _merges(tokens, vocab),
        },
    )


def _merges(tokens: Tokens, vocab: dict[str, int]) -> list[list[str]]:
    """Pairs of pieces, each two words of a text; the space within is no character of ByteLevel's."""
    found = []
    for merge in tokens.meta.texts(_MERGES):
        pair = merge.split(" ")
        if len(pair) != 2 or not all(half in vocab for half in pair) or "".join(pair) not in vocab:
            raise tokens.meta.refuse("gguf-tokenizer", f"{_MERGES}: {shown(merge)} is no pair of pieces that make one")
        found.append(pair)
    return found
