# SPDX-License-Identifier: Apache-2.0
"""BigBird's, RemBERT's, XGLM's and XLNet's tokenizer.json beside what their classes in `transformers` 5.23 make of the
folder's files: the pieces, and the compiled map of all but the first, are those of tokenizer.json, the other parts the
class's own. tokenizer.json counts, what differs is said."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ....ir.normalizer_spec import CharsmapNormalizer, FoldingNormalizer
from ....ir.template_spec import Template, TemplatePart, bert_template
from ....ir.tokenizer_spec import METASPACE, MetaspaceSegmenter, TokenizerSpec
from ...refusal import refusal
from ..folder_tokens import ROBERTA_TOKENS, FolderTokens
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import flag_of, has_segments
from ..tokenizer_json.fields import FILE as JSON_FILE
from ..tokenizer_json.metaspace import prepend_of
from ..tokenizer_json.plain_normalizer import read_unigram_normalizer

_Steps = list[dict[str, Any]]


@dataclass(frozen=True)
class KeptClass:
    """One of them."""

    special_tokens: dict[str, object]  # by their keys, in the order in which they are added, with their defaults
    unknown: Callable[[TokenizerSpec], int]  # the piece of text that no other one has
    steps: Callable[[dict[str, Any]], _Steps]  # of the normalizer, by the settings, but for the compiled map
    map: Literal["none", "first", "last"] = "none"  # before them, or behind
    # By the id of a special token by its key, and the segment of a second text.
    template: Callable[[Callable[[str], int], int], Template] = lambda id_of, segment: bert_template(
        id_of("cls_token"), id_of("sep_token"), segment
    )
    adds: tuple[str, ...] = ()  # tokens besides, whether a file has them or not
    splits_whitespace: bool = False  # before spaces are marked


def _unknown_of_big_bird(spec: TokenizerSpec) -> int:
    pieces = list(zip(spec.unigram.pieces, spec.unigram.scores, strict=True))
    return pieces.index(("<unk>", 0.0)) if ("<unk>", 0.0) in pieces else 100


def _steps_of_big_bird(_: dict[str, Any]) -> _Steps:
    return [_runs(METASPACE)]


def _steps_of_rembert(config: dict[str, Any]) -> _Steps:
    quotes = [{"type": "Replace", "pattern": {"String": text}, "content": '"'} for text in ("``", "''")]
    accents = [] if flag_of(config, "keep_accents", True) else [{"type": "NFKD"}, {"type": "StripAccents"}]
    lower = [{"type": "Lowercase"}] if flag_of(config, "do_lower_case", False) else []
    return [*quotes, _runs(" "), *accents, *lower]


def _template_of_xglm(id_of: Callable[[str], int], segment: int) -> Template:
    end, first, second = TemplatePart(id_of("eos_token"), 0), TemplatePart("A", 0), TemplatePart("B", segment)
    return Template((end, first), (end, first, end, end, second))


def _steps_of_xlnet(config: dict[str, Any]) -> _Steps:
    """Whatever `keep_accents` says."""
    quotes = [{"type": "Replace", "pattern": {"String": text}, "content": '"'} for text in ("``", "''")]
    lower = [{"type": "Lowercase"}] if flag_of(config, "do_lower_case", False) else []
    return [*quotes, {"type": "NFKD"}, {"type": "StripAccents"}, *lower]


def _template_of_xlnet(id_of: Callable[[str], int], segment: int) -> Template:
    first, second, separate = TemplatePart("A", 0), TemplatePart("B", segment), id_of("sep_token")
    begin, end = (first, TemplatePart(separate, 0)), TemplatePart(id_of("cls_token"), 2 * segment)
    return Template((*begin, end), (*begin, second, TemplatePart(separate, segment), end))


def _runs(content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": content}


def _map_of(spec: TokenizerSpec) -> _Steps:
    """The compiled map as a step, where there is one."""
    normalizer = spec.normalizer.rest if isinstance(spec.normalizer, FoldingNormalizer) else spec.normalizer
    charsmap = normalizer.charsmap if isinstance(normalizer, CharsmapNormalizer) else None
    if charsmap is None:
        return []
    return [{"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()}]


_ENDS = {"sep_token": "[SEP]", "cls_token": "[CLS]"}
_STRIPPING_MASK = {"content": "[MASK]", "lstrip": True, "rstrip": False, "single_word": False, "normalized": False}
KEPT_CLASSES = {
    "BigBirdTokenizer": KeptClass(
        ROBERTA_TOKENS | _ENDS | {"mask_token": _STRIPPING_MASK}, _unknown_of_big_bird, _steps_of_big_bird
    ),
    "RemBertTokenizer": KeptClass(
        ROBERTA_TOKENS | _ENDS | {"bos_token": "[CLS]", "eos_token": "[SEP]", "mask_token": "[MASK]"},
        lambda _: 2,
        _steps_of_rembert,
        map="last",
    ),
    "XGLMTokenizer": KeptClass(
        {key: text for key, text in ROBERTA_TOKENS.items() if key != "mask_token"},
        lambda _: 3,
        lambda _: [_runs(" ")],
        map="first",
        template=_template_of_xglm,
        adds=tuple(f"<madeupword{i}>" for i in range(7)),
    ),
    "XLNetTokenizer": KeptClass(
        ROBERTA_TOKENS
        | {"sep_token": "<sep>", "cls_token": "<cls>", "mask_token": _STRIPPING_MASK | {"content": "<mask>"}},
        lambda _: 0,
        _steps_of_xlnet,
        map="last",
        template=_template_of_xlnet,
        adds=("<eop>", "<eod>"),
        splits_whitespace=True,
    ),
}


def kept_differences(config: dict[str, Any], name: str, spec: TokenizerSpec, tokens: FolderTokens) -> tuple[str, ...]:
    """Notes of what the class makes otherwise; what it is told to make otherwise is refused."""
    known = KEPT_CLASSES[name]
    before, behind = (_map_of(spec) if known.map == place else [] for place in ("first", "last"))
    steps = [*before, *known.steps(config), *behind]
    expected = read_unigram_normalizer({"type": "Sequence", "normalizers": steps})
    same_normalizer = spec.normalizer == expected
    if not same_normalizer and known.steps(config) != known.steps({}):
        message = f"do_lower_case and keep_accents ask for another normalizer than {JSON_FILE} has"
        raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    prepend: Literal["always", "never"] = "always" if flag_of(config, "add_prefix_space", True) else "never"
    if "add_prefix_space" in config and prepend_of(spec.segmenter) != prepend:
        raise refusal("tokenizer-conflict", f"add_prefix_space is not what {JSON_FILE} says", file=CONFIG_FILE)
    if spec.unigram.byte_fallback:
        message = f"{name} of transformers has no byte fallback, {JSON_FILE} has"
        raise refusal("tokenizer-conflict", message, file=JSON_FILE)
    ids = {token.content: token.id for token in spec.added_tokens}
    missing = [text for text in known.adds if text not in ids]
    if missing:
        message = f"{name} of transformers adds {missing[0]} to the tokens of {JSON_FILE}, which lacks it"
        raise refusal("tokenizer-conflict", message, file=JSON_FILE)
    segment = int(has_segments(config, usual=False))
    template = known.template(lambda key: ids.get(tokens.special[key], -1), segment)
    parts = [
        ("unknown piece", spec.unigram.unknown_id == known.unknown(spec)),
        ("normalizer", same_normalizer),
        (
            "pre_tokenizer",
            spec.segmenter == MetaspaceSegmenter(prepend, split=True, split_whitespace=known.splits_whitespace),
        ),
        ("post_processor", spec.template == template),
    ]
    return tuple(f"{name} of transformers has another {part}: {JSON_FILE} counts" for part, same in parts if not same)
