# SPDX-License-Identifier: Apache-2.0
"""Byte-level BPE of a folder: tokenizer.json, or vocab.json with merges.txt, and what the files beside them say.

As `transformers` 5.23 reads them. A RobertaTokenizer, DebertaTokenizer, GPT2Tokenizer, GPTNeoXTokenizer, CLIPTokenizer,
LukeTokenizer, Qwen2Tokenizer, CohereTokenizer or BlenderbotTokenizer is rebuilt: vocabulary and merges are those of the
files, the other parts are the class's, with the settings of tokenizer_config.json. Of other classes tokenizer.json
counts as it is. Where it, which the `tokenizers` library follows by itself, says something else, that is a
`tokenizer-conflict`.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from ....ir.tokenizer_spec import END_OF_WORD, TokenizerSpec
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..folder_tokens import (
    BLENDERBOT_TOKENS,
    CLIP_TOKENS,
    COHERE_TOKENS,
    DEBERTA_TOKENS,
    GPT2_TOKENS,
    GPT_NEOX_TOKENS,
    LUKE_ENTITIES,
    LUKE_TOKENS,
    QWEN2_TOKENS,
    ROBERTA_TOKENS,
    STRIPPING,
    FolderTokens,
    read_tokens,
)
from ..tokenizer_config import (
    BLENDERBOT_TOKENIZER,
    CLIP_TOKENIZER,
    COHERE_TOKENIZER,
    DEBERTA_TOKENIZER,
    GPT2_TOKENIZER,
    GPT_NEOX_TOKENIZER,
    LLAMA_TOKENIZER,
    LUKE_TOKENIZER,
    QWEN2_TOKENIZER,
    ROBERTA_TOKENIZER,
    asked_ends,
    check_segments,
    check_unsupported,
    class_of,
    flag_of,
    has_segments,
    needs_json,
    read_config,
)
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_json.bpe import is_bpe
from ..tokenizer_json.byte_level import read_byte_level_json
from ..tokenizer_json.byte_level_segmenters import CLIP_EXPRESSION, QWEN2_EXPRESSION, split_by
from ..tokenizer_json.fields import FILE as JSON_FILE
from ..tokenizer_json.fields import check_vocab
from ..tokenizer_json.template import template_between, template_of, without_segments

VOCAB_FILE = "vocab.json"
MERGES_FILE = "merges.txt"
# That are rebuilt, and their own tokens.
_CLASSES = {
    ROBERTA_TOKENIZER: ROBERTA_TOKENS,
    DEBERTA_TOKENIZER: DEBERTA_TOKENS,
    GPT2_TOKENIZER: GPT2_TOKENS,
    GPT_NEOX_TOKENIZER: GPT_NEOX_TOKENS,
    QWEN2_TOKENIZER: QWEN2_TOKENS,
    CLIP_TOKENIZER: CLIP_TOKENS,
    LUKE_TOKENIZER: LUKE_TOKENS,
    COHERE_TOKENIZER: COHERE_TOKENS,
    BLENDERBOT_TOKENIZER: BLENDERBOT_TOKENS,
}
_MASK, _DECODER = "mask_token", "added_tokens_decoder"
_IN_JSON: dict[str, object] = dict.fromkeys(ROBERTA_TOKENS)  # keys that a file of any other class may have, or null
# Of their own: settings make one where there is no file.
_WITHOUT_TEMPLATE = (GPT2_TOKENIZER, GPT_NEOX_TOKENIZER, COHERE_TOKENIZER, BLENDERBOT_TOKENIZER)
_ENDS = {  # of a text
    **dict.fromkeys((ROBERTA_TOKENIZER, LUKE_TOKENIZER), ("cls_token", "sep_token")),
    CLIP_TOKENIZER: ("bos_token", "eos_token"),
}
_NFC = {"type": "NFC"}
_SPACES = {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}
_NORMALIZERS = {
    **dict.fromkeys((QWEN2_TOKENIZER, GPT_NEOX_TOKENIZER, COHERE_TOKENIZER), _NFC),
    CLIP_TOKENIZER: {"type": "Sequence", "normalizers": [_NFC, _SPACES, {"type": "Lowercase"}]},
}
# Classes whose part is other than that of files which models were trained with.
_KEPT = {DEBERTA_TOKENIZER: "template", CLIP_TOKENIZER: "segmenter"}
# By the fields of tokenizer.json; a normalizer is another one behind some pre-tokenizers, so it comes last.
_PARTS = {
    "segmenter": "pre_tokenizer",
    "model": "model",
    "template": "post_processor",
    "added_tokens": "added_tokens",
    "trimming": "trim_offsets",
    "normalizer": "normalizer",
}


def is_byte_level(folder: CheckpointFolder, described: dict[str, Any] | None) -> bool:
    """Whether a folder has such a tokenizer; `described` is its tokenizer.json."""
    if described is None:
        return folder.has(VOCAB_FILE) and folder.has(MERGES_FILE)
    return is_bpe(described.get("model"))


def read_byte_level_folder(
    folder: CheckpointFolder,
    described: dict[str, Any] | None = None,
    class_in_config: object = None,
    usual_class: str = ROBERTA_TOKENIZER,
    rows: int | None = None,
) -> TokenizerSpec:
    """The tokenizer of a folder whose tokenizer.json is `described`, or that has none. `class_in_config` and
    `usual_class` are as in `TokenizerConfig`, `rows` those of the word embedding."""
    config = read_config(folder)
    # A LlamaTokenizer is not rebuilt where the pieces are bytes, as in Llama 3.
    supported = *_CLASSES, LLAMA_TOKENIZER
    name = class_of(config, class_in_config, usual_class, supported=supported, model="byte-level BPE")
    check_unsupported(config, has_template=described is not None or name in _WITHOUT_TEMPLATE)
    rebuilds = name in _CLASSES
    of_luke = name == LUKE_TOKENIZER
    if described is None and (not rebuilds or of_luke):  # without which nothing says the ids of Luke's own tokens
        raise needs_json(config, class_in_config, usual_class)
    of_blenderbot = name == BLENDERBOT_TOKENIZER and described is None and _DECODER not in config
    if of_blenderbot and isinstance(mask := config.get(_MASK), str):
        config = config | {_MASK: {"content": mask, **STRIPPING}}
    tokens = read_tokens(
        folder, config, described, _CLASSES.get(name, _IN_JSON), rebuilds, null=name == COHERE_TOKENIZER
    )
    if of_blenderbot and any(token.content == tokens.special[_MASK] and not token.lstrip for token in tokens.named):
        message = f"{name} makes a bare {_MASK} strip the space before it, which another file has: say it in one"
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    if described is not None and of_luke:
        _check_no_entities(config)
        tokens, dropped = tokens.without(LUKE_ENTITIES, rows)
        described = _without(described, dropped)
    with_segments = name in (ROBERTA_TOKENIZER, LUKE_TOKENIZER) or has_segments(config, usual=name == DEBERTA_TOKENIZER)
    whole = None
    if described is not None:
        check_same_pieces(folder, described)
        whole = read_byte_level_json(described if with_segments else without_segments(described))
        check_segments(whole, with_segments=with_segments)
    if rebuilds:
        rebuilt = _rebuilt(folder, config, described, tokens, name)
        spec = read_byte_level_json(rebuilt if with_segments else without_segments(rebuilt))
        if whole is not None:
            spec = _agreed(spec, whole, name)
    else:
        assert whole is not None
        spec = whole
    tokens.check(spec)
    return replace(spec, notes=spec.notes + tokens.notes)


def read_pieces(folder: CheckpointFolder, described: dict[str, Any] | None) -> tuple[dict[str, int], Any]:
    """(vocabulary, merges), of `described` or of the two files of BPE; merges are not checked."""
    if described is not None:
        return described["model"]["vocab"], described["model"].get("merges")
    vocab, merges = folder.read_json(VOCAB_FILE), merge_lines(folder.read(MERGES_FILE))
    check_vocab(vocab, None, VOCAB_FILE)
    return vocab, merges


def _rebuilt(
    folder: CheckpointFolder, config: dict[str, Any], described: dict[str, Any] | None, tokens: FolderTokens, name: str
) -> dict[str, Any]:
    """The tokenizer.json of one of `_CLASSES`."""
    vocab, merges = read_pieces(folder, described)
    added = tokens.of(vocab)
    ids = vocab | {token.content: token.id for token in added}
    of_qwen2 = name == QWEN2_TOKENIZER
    silent = of_qwen2 and config.get("add_prefix_space") is None
    prefix = not silent and flag_of(config, "add_prefix_space", name == BLENDERBOT_TOKENIZER)
    segmenter = {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": not of_qwen2}
    if name in (QWEN2_TOKENIZER, COHERE_TOKENIZER):
        # The class adds its special tokens once more, by their texts; Cohere's those that it names itself.
        again = {text for key, text in tokens.special.items() if of_qwen2 or key not in tokens.said}
        plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        added = [replace(token, **plain) if token.content in again else token for token in added]
    if of_qwen2:
        segmenter = {"type": "Sequence", "pretokenizers": [split_by(QWEN2_EXPRESSION), segmenter]}
    if name == COHERE_TOKENIZER:
        digits = {"type": "Digits", "individual_digits": True}
        segmenter = {"type": "Sequence", "pretokenizers": [digits, segmenter]}
    of_clip, of_luke = name == CLIP_TOKENIZER, name == LUKE_TOKENIZER
    if of_clip:
        words = split_by(CLIP_EXPRESSION, "Removed", invert=True)
        segmenter = {"type": "Sequence", "pretokenizers": [words, segmenter | {"add_prefix_space": False}]}
    if name in _ENDS:
        classify, separate = ([tokens.special[key], ids[tokens.special[key]]] for key in _ENDS[name])
        post_processor: dict[str, Any] | None = {
            "type": "RobertaProcessing",
            "sep": separate,
            "cls": classify,
            "trim_offsets": of_luke or (not of_clip and flag_of(config, "trim_offsets", True)),
            "add_prefix_space": of_luke or (not of_clip and prefix),
        }
    elif name == DEBERTA_TOKENIZER:
        classify, separate = (tokens.special[key] for key in ("cls_token", "sep_token"))
        single = f"{classify} $A {separate}"
        post_processor = template_of(single, f"{single} {separate} $B {separate}", ids)
    elif described is None and name in _WITHOUT_TEMPLATE:
        post_processor = template_between(asked_ends(config, tokens.special), ids)
    else:
        post_processor = None if described is None else described.get("post_processor")
    return {
        "version": "1.0",
        "added_tokens": [asdict(token) for token in added],
        "normalizer": _NORMALIZERS.get(name),
        "pre_tokenizer": segmenter,
        "post_processor": post_processor,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": tokens.special["unk_token"] if of_clip else None,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": END_OF_WORD if of_clip else "",
            "fuse_unk": False,
            "vocab": vocab,
            "merges": merges,
        },
    }


def _check_no_entities(config: dict[str, Any]) -> None:
    """Refuses what marks entities in texts, which a caller has to name."""
    for key in ("task", "entity_token_1", "entity_token_2"):
        if config.get(key) is not None:
            raise refusal("tokenizer-setting", f"'{key}': {shown(config[key])} is not supported", file=CONFIG_FILE)


def _without(described: dict[str, Any], dropped: set[str]) -> dict[str, Any]:
    """A tokenizer.json without the added tokens of these texts; what is none is refused where it is read."""
    added = described.get("added_tokens")
    if not isinstance(added, list):
        return described
    kept = [one for one in added if not (isinstance(one, dict) and one.get("content") in dropped)]
    return described | {"added_tokens": kept}


def merge_lines(raw: bytes) -> list[str]:
    """The lines of merges.txt; those that begin with #version say nothing."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"not UTF-8: {error.reason} at byte {error.start}"
        raise refusal("vocab-not-utf8", message, file=MERGES_FILE) from None
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return [line for line in lines[: len(lines) - (not lines[-1])] if not line.startswith("#version")]


def check_same_pieces(folder: CheckpointFolder, described: dict[str, Any]) -> None:
    """Where the folder has the older files beside tokenizer.json, they must agree: different tools read either."""
    model = described["model"]
    if folder.has(VOCAB_FILE) and folder.read_json(VOCAB_FILE) != model.get("vocab"):
        raise refusal("tokenizer-conflict", f"{JSON_FILE} has another vocabulary", file=VOCAB_FILE)
    merges = model.get("merges")
    if folder.has(MERGES_FILE) and isinstance(merges, list):
        spelled = [" ".join(map(str, pair)) if isinstance(pair, list) else pair for pair in merges]
        if merge_lines(folder.read(MERGES_FILE)) != spelled:
            raise refusal("tokenizer-conflict", f"{JSON_FILE} has other merges", file=MERGES_FILE)


def _agreed(rebuilt: TokenizerSpec, whole: TokenizerSpec, name: str) -> TokenizerSpec:
    """What tokenizer.json says, refused where the class has other parts. Since version 5 DeBERTa's has two separators
    between two texts, and CLIP's finds the texts of special tokens as words; before they had not."""
    other = [part for part in _PARTS if getattr(rebuilt, part) != getattr(whole, part)]
    if other == [_KEPT.get(name)]:
        note = f"{name} of transformers has another {_PARTS[other[0]]}: {JSON_FILE} counts"
        return replace(whole, notes=(*whole.notes, note))
    if other:
        raise refusal(
            "tokenizer-conflict",
            f"{name} of transformers has another {_PARTS[other[0]]} than {JSON_FILE} says; make {CONFIG_FILE} and "
            f"{JSON_FILE} agree",
            file=JSON_FILE,
        )
    return rebuilt
