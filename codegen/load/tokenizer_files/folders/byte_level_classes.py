# SPDX-License-Identifier: Apache-2.0
"""Classes of `transformers` 5.23 with byte-level BPE: what tokenizer.json each makes of pieces, merges and settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from ....ir.tokenizer_spec import END_OF_WORD
from ..folder_tokens import (
    BLENDERBOT_TOKENS,
    CLIP_TOKENS,
    COHERE_TOKENS,
    DEBERTA_TOKENS,
    GPT2_TOKENS,
    GPT_NEOX_TOKENS,
    LUKE_TOKENS,
    QWEN2_TOKENS,
    ROBERTA_TOKENS,
    FolderTokens,
)
from ..tokenizer_config import (
    BLENDERBOT_TOKENIZER,
    CLIP_TOKENIZER,
    COHERE_TOKENIZER,
    DEBERTA_TOKENIZER,
    GPT2_TOKENIZER,
    GPT_NEOX_TOKENIZER,
    LUKE_TOKENIZER,
    QWEN2_TOKENIZER,
    QWEN3_5_TOKENIZER,
    ROBERTA_TOKENIZER,
    asked,
    asked_ends,
    flag_of,
)
from ..tokenizer_json.byte_level_segmenters import CLIP_EXPRESSION, QWEN2_EXPRESSION, QWEN3_5_EXPRESSION, split_by
from ..tokenizer_json.template import template_between, template_of

_Values = dict[str, Any]
_Template = Callable[[_Values, FolderTokens, dict[str, int]], _Values]  # by the configuration, the tokens and all ids
_PREFIX = "add_prefix_space"
_says_prefix = partial(flag_of, key=_PREFIX, usual=False)


@dataclass(frozen=True)
class ByteLevelClass:
    """One of them."""

    special_tokens: dict[str, object]  # by their keys, with their defaults, in the order in which they are added
    template: _Template | None = None  # None: that of tokenizer.json
    adds_ends: bool = False  # where settings ask for them and no tokenizer.json says what is around a text
    normalizer: _Values | None = None
    front: tuple[_Values, ...] = ()  # the pre-tokenizers before that of bytes
    of_bytes: dict[str, bool] = field(default_factory=dict)  # settings of that one
    prefix: Callable[[_Values], bool] = _says_prefix  # whether a space comes before texts
    # Texts of special tokens that it adds once more, without flags: those that it names itself, or all.
    again: Callable[[FolderTokens], set[str]] = lambda tokens: set()
    marks_ends: bool = False  # of words, and knows an unknown piece
    kept: str | None = None  # the part that is other than that of files which models were trained with


def _between(begin: str, end: str, trims: bool | None = None) -> _Template:
    """Each text between the tokens of these keys. `trims`: whether offsets are trimmed, also of a space that is put
    before texts; None: as settings say."""

    def template(config: _Values, tokens: FolderTokens, ids: dict[str, int]) -> _Values:
        classify, separate = ([tokens.special[key], ids[tokens.special[key]]] for key in (begin, end))
        return {
            "type": "RobertaProcessing",
            "sep": separate,
            "cls": classify,
            "trim_offsets": flag_of(config, "trim_offsets", True) if trims is None else trims,
            _PREFIX: _says_prefix(config) if trims is None else trims,
        }

    return template


def _template_of_deberta(_: _Values, tokens: FolderTokens, ids: dict[str, int]) -> _Values:
    classify, separate = (tokens.special[key] for key in ("cls_token", "sep_token"))
    single = f"{classify} $A {separate}"
    return template_of(single, f"{single} {separate} $B {separate}", ids)


_NFC = {"type": "NFC"}
_SPACES = {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}
CLASSES = {
    ROBERTA_TOKENIZER: ByteLevelClass(ROBERTA_TOKENS, _between("cls_token", "sep_token")),
    LUKE_TOKENIZER: ByteLevelClass(LUKE_TOKENS, _between("cls_token", "sep_token", trims=True)),
    DEBERTA_TOKENIZER: ByteLevelClass(DEBERTA_TOKENS, _template_of_deberta, kept="template"),
    CLIP_TOKENIZER: ByteLevelClass(
        CLIP_TOKENS,
        _between("bos_token", "eos_token", trims=False),
        normalizer={"type": "Sequence", "normalizers": [_NFC, _SPACES, {"type": "Lowercase"}]},
        front=(split_by(CLIP_EXPRESSION, "Removed", invert=True),),
        of_bytes={_PREFIX: False},
        marks_ends=True,
        kept="segmenter",
    ),
    GPT2_TOKENIZER: ByteLevelClass(GPT2_TOKENS, adds_ends=True, kept="segmenter"),
    GPT_NEOX_TOKENIZER: ByteLevelClass(GPT_NEOX_TOKENS, adds_ends=True, normalizer=_NFC),
    QWEN2_TOKENIZER: ByteLevelClass(
        QWEN2_TOKENS,
        normalizer=_NFC,
        front=(split_by(QWEN2_EXPRESSION),),
        of_bytes={"use_regex": False},
        prefix=partial(asked, key=_PREFIX),
        again=lambda tokens: set(tokens.special.values()),
    ),
    QWEN3_5_TOKENIZER: ByteLevelClass(
        QWEN2_TOKENS,
        normalizer=_NFC,
        front=(split_by(QWEN3_5_EXPRESSION),),
        of_bytes={"use_regex": False},
        prefix=partial(asked, key=_PREFIX),
    ),
    COHERE_TOKENIZER: ByteLevelClass(
        COHERE_TOKENS,
        adds_ends=True,
        normalizer=_NFC,
        front=({"type": "Digits", "individual_digits": True},),
        again=lambda tokens: {text for key, text in tokens.special.items() if key not in tokens.said},
    ),
    BLENDERBOT_TOKENIZER: ByteLevelClass(
        BLENDERBOT_TOKENS, adds_ends=True, prefix=partial(flag_of, key=_PREFIX, usual=True)
    ),
}


def has_its_prefix(made: ByteLevelClass, config: _Values, described: _Values) -> bool:
    """Whether a tokenizer.json puts a space before texts as the class does, whatever else its pre-tokenizer is."""
    found = described.get("pre_tokenizer")
    steps = found.get("pretokenizers") if isinstance(found, dict) else None
    each = steps if isinstance(steps, list) else [found]
    of_bytes = [step for step in each if isinstance(step, dict) and step.get("type") == "ByteLevel"]
    return all(step.get(_PREFIX, True) is _of_bytes(made, config)[_PREFIX] for step in of_bytes)


def _of_bytes(made: ByteLevelClass, config: _Values) -> _Values:
    """The class's pre-tokenizer of bytes."""
    usual = {"type": "ByteLevel", _PREFIX: made.prefix(config), "trim_offsets": True, "use_regex": True}
    return usual | made.of_bytes


def rebuilt(
    made: ByteLevelClass,
    config: _Values,
    described: _Values | None,
    tokens: FolderTokens,
    vocab: dict[str, int],
    merges: object,
) -> _Values:
    """The tokenizer.json of a class; `described` is that of the folder, where it has one."""
    added, again = tokens.of(vocab), made.again(tokens)
    added = [token.plain if token.content in again else token for token in added]
    ids = vocab | {token.content: token.id for token in added}
    of_bytes = _of_bytes(made, config)
    if made.template is not None:
        template: _Values | None = made.template(config, tokens, ids)
    elif described is not None:
        template = described.get("post_processor")
    else:
        template = template_between(asked_ends(config, tokens.special), ids) if made.adds_ends else None
    return {
        "version": "1.0",
        "added_tokens": [asdict(token) for token in added],
        "normalizer": made.normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*made.front, of_bytes]} if made.front else of_bytes,
        "post_processor": template,
        "decoder": {"type": "ByteLevel", _PREFIX: True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": tokens.special["unk_token"] if made.marks_ends else None,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": END_OF_WORD if made.marks_ends else "",
            "fuse_unk": False,
            "vocab": vocab,
            "merges": merges,
        },
    }
