# SPDX-License-Identifier: Apache-2.0
"""EsmcTokenizer, of proteins, as `transformers` 5.23 makes it: each character of a text is looked up among 33 tokens of
the class, which no file changes.

Its tokenizer.json, where there is one, has more added tokens at most; it calls these lookups BPE without merges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ....ir.tokenizer_spec import TokenizerSpec
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..character_tokenizers import character_spec
from ..folder_tokens import read_tokens
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import (
    SPECIAL_TOKENS_FILE,
    check_is_added,
    check_unsupported,
    has_segments,
    read_config,
    read_special_map,
)
from ..tokenizer_json.fields import FILE as JSON_FILE
from ..tokenizer_json.fields import notes_of
from ..tokenizer_json.template import template_of

TOKENIZER_CLASS = "EsmcTokenizer"
_PIECES = (*("<cls>", "<pad>", "<eos>", "<unk>"), *"LAGVSERTIDPKQNFYMHWCXBUZO.-|", "<mask>")
_VOCAB = {piece: i for i, piece in enumerate(_PIECES)}
# With their defaults, in the order in which `transformers` adds them. Without a name the first one is cls_token.
_TOKENS: dict[str, object] = {
    "bos_token": None,
    "eos_token": "<eos>",
    "unk_token": "<unk>",
    "sep_token": None,
    "pad_token": "<pad>",
    "cls_token": "<cls>",
    "mask_token": "<mask>",
    "chain_break_token": "|",
}
_PLAIN = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
_OF_VOCABULARY = ("cls_token", "eos_token", "unk_token")  # from which the class makes the tokenizer


def read_esmc_folder(folder: CheckpointFolder) -> TokenizerSpec:
    """The checked tokenizer."""
    config = read_config(folder)
    check_unsupported(config, has_template=True)
    if has_segments(config, usual=False):
        message = f"'model_input_names': {TOKENIZER_CLASS} tells the model of no segments here"
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    described = folder.read_json(JSON_FILE) if folder.has(JSON_FILE) else None
    if described is not None:
        _check_described(described)
    unused = () if described is None else notes_of(described)
    _check_of_class(config, read_special_map(folder))
    tokens = read_tokens(folder, config, described, _TOKENS, rebuilds=True)
    for key in _OF_VOCABULARY:
        if tokens.special.get(key) not in _VOCAB:
            message = f"the {key} {shown(tokens.special.get(key))} is none of the tokens of {TOKENIZER_CLASS}"
            raise refusal("missing-special-token", message, file=CONFIG_FILE)
    begin, end, unknown = (tokens.special[key] for key in _OF_VOCABULARY)
    single = f"{begin} $A {end}"
    # The class has no template of pairs: two texts stand side by side.
    template = template_of(single, single, _VOCAB) | {"pair": template_of("$A", "$A $B", _VOCAB)["pair"]}
    spec = character_spec(_PIECES, _VOCAB[unknown], (), template, None, added=tokens.of(_VOCAB))
    added = {token.content: token for token in spec.added_tokens}
    for key, value, file in tokens.extra:
        plain = value if isinstance(value, dict) else {"content": value, **_PLAIN}
        check_is_added(plain, key, added, JSON_FILE, file)
    return replace(spec, notes=(*tokens.notes, *unused, *_notes(described, unknown, template)))


def _check_of_class(config: dict[str, Any], special_map: dict[str, Any]) -> None:
    """Refuses two names of the token that only this class has: of all others that of the second file counts."""
    key = "chain_break_token"
    if key in config and special_map.get(key, config[key]) != config[key]:
        message = f"{key} is {shown(special_map[key])} here, {shown(config[key])} in {CONFIG_FILE}"
        raise refusal("tokenizer-conflict", message, file=SPECIAL_TOKENS_FILE)


def _check_described(described: dict[str, Any]) -> None:
    """Refuses a tokenizer.json from which other libraries would make other tokens than the class does."""
    model = described.get("model")
    said = {key: value for key, value in model.items() if value} if isinstance(model, dict) else {}
    unknown = said.pop("unk_token", None)
    other = [key for key in ("normalizer", "pre_tokenizer") if described.get(key) is not None]
    other += [] if said == {"type": "BPE", "vocab": _VOCAB} and isinstance(unknown, str) else ["model"]
    if other:
        message = f"{other[0]} is not that of {TOKENIZER_CLASS}, which transformers makes of its own"
        raise refusal("tokenizer-conflict", message, file=JSON_FILE)


def _notes(described: dict[str, Any] | None, unknown: str, template: dict[str, Any]) -> Iterator[str]:
    """What the class has otherwise than tokenizer.json."""
    if described is None:
        return
    if described["model"]["unk_token"] != unknown:
        yield f"model.unk_token is that of {TOKENIZER_CLASS}, not what {JSON_FILE} says"
    processor = described.get("post_processor")
    if not isinstance(processor, dict) or processor.get("single") != template["single"]:
        yield f"post_processor is that of {TOKENIZER_CLASS}, not what {JSON_FILE} says"
