# SPDX-License-Identifier: Apache-2.0
"""tokenizer_config.json and its companions, as `transformers` reads them: the class that it makes, and with what."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ...errors import EtchError
from ...ir.tokenizer_spec import AddedToken, TokenizerSpec
from ..files import CheckpointFolder
from ..refusal import refusal, shown
from .tokenizer_json.fields import FILE as JSON_FILE
from .tokenizer_json.fields import read_added_token

FILE = "tokenizer_config.json"
SPECIAL_TOKENS_FILE = "special_tokens_map.json"
EXTRA_TOKENS = ("additional_special_tokens", "extra_special_tokens", "model_specific_special_tokens")
ADDED_TOKENS_FILE = "added_tokens.json"

BERT_TOKENIZER, ROBERTA_TOKENIZER, LLAMA_TOKENIZER = "BertTokenizer", "RobertaTokenizer", "LlamaTokenizer"
GPT2_TOKENIZER, QWEN2_TOKENIZER, DEBERTA_TOKENIZER = "GPT2Tokenizer", "Qwen2Tokenizer", "DebertaTokenizer"
QWEN3_5_TOKENIZER = "Qwen3_5Tokenizer"
GPT_NEOX_TOKENIZER, CLIP_TOKENIZER, LUKE_TOKENIZER = "GPTNeoXTokenizer", "CLIPTokenizer", "LukeTokenizer"
COHERE_TOKENIZER, BLENDERBOT_TOKENIZER = "CohereTokenizer", "BlenderbotTokenizer"
GEMMA_TOKENIZER, SIGLIP_TOKENIZER, SIGLIP2_TOKENIZER = "GemmaTokenizer", "SiglipTokenizer", "Siglip2Tokenizer"
# Other names that `transformers` 5.23 has for them.
_OTHER_NAMES = {
    **dict.fromkeys(
        (
            *("ConvBertTokenizer", "LayoutLMTokenizer", "LxmertTokenizer", "MobileBertTokenizer"),
            "SqueezeBertTokenizer",
        ),
        BERT_TOKENIZER,
    ),
    "RoCBertTokenizer": BERT_TOKENIZER,  # what it does otherwise is in word_numbers.py
    **dict.fromkeys(("DPRContextEncoderTokenizer", "DPRQuestionEncoderTokenizer"), BERT_TOKENIZER),
    **dict.fromkeys(("BartTokenizer", "LEDTokenizer", "LongformerTokenizer", "MvpTokenizer"), ROBERTA_TOKENIZER),
    "BloomTokenizer": "TokenizersBackend",
    "CodeGenTokenizer": GPT2_TOKENIZER,  # which differs in a template that says nothing
}
AS_IN_JSON_CLASSES = ("PreTrainedTokenizer", "TokenizersBackend")
AS_IN_JSON = "tokenizer.json"  # of families that have it as it is, whatever class a folder names
AS_QWEN3_5 = "Qwen 3.5's"  # whatever class a folder names
# The class of families for which `transformers` does not ask what a folder names, by what their `Limits` say.
_WHATEVER_IS_SAID = {
    **{name: name for name in (QWEN2_TOKENIZER, SIGLIP2_TOKENIZER)},
    AS_IN_JSON: "TokenizersBackend",
    AS_QWEN3_5: QWEN3_5_TOKENIZER,
}


def read_config(folder: CheckpointFolder) -> dict[str, Any]:
    """tokenizer_config.json, or nothing where there is none. A tokenizer of the checkpoint's own code is refused at
    once, though the library takes another one where nobody trusts that code: the one that the model was trained with
    may have other tokens around texts, as that of gte-Qwen2 does."""
    values = folder.read_json_if_present(FILE) or {}
    own = values.get("auto_map")
    if (own.get("AutoTokenizer") if isinstance(own, dict) else own) is not None:
        message = (
            "'auto_map' asks for a tokenizer of code that comes with the checkpoint, which is never run: where it "
            "makes what the class of tokenizer_class makes, remove the key"
        )
        raise refusal("remote-code", message, file=FILE)
    return values


def read_special_map(folder: CheckpointFolder) -> dict[str, Any]:
    """special_tokens_map.json, or nothing where there is none. `transformers` takes whatever it holds for a setting."""
    values = folder.read_json_if_present(SPECIAL_TOKENS_FILE) or {}
    settings = (key for key in values if key.startswith("add_") or not key.endswith("_token"))
    other = next((key for key in settings if key not in EXTRA_TOKENS), None)
    if other is not None:
        message = f"'{other}' is no special token: a setting belongs into {FILE}"
        raise refusal("tokenizer-setting", message, file=SPECIAL_TOKENS_FILE)
    return values


def class_of(
    values: dict[str, Any],
    class_in_config: object,
    usual_class: str,
    *,
    supported: tuple[str, ...],
    model: str = "WordPiece",
) -> str:
    """The class that `transformers` makes: one of `supported`, which are rebuilt and have this kind of model, or one
    that uses tokenizer.json as it is."""
    name, file = _said_class(values, class_in_config, usual_class)
    plain = _plain_name(name)
    if plain is None or plain not in supported + AS_IN_JSON_CLASSES:
        raise refusal(
            "tokenizer-class",
            f"tokenizer class {shown(name)} is not supported with {model} (supported: {', '.join(supported)})",
            file=file,
        )
    return plain


def needs_json(values: dict[str, Any], class_in_config: object, usual_class: str) -> EtchError:
    """The refusal of a folder without tokenizer.json whose class is not made of other files; raise it."""
    name, file = _said_class(values, class_in_config, usual_class)
    return refusal("tokenizer-class", f"{shown(name)} needs {JSON_FILE}, which is missing", file=file)


def class_name(values: dict[str, Any], class_in_config: object, usual_class: str) -> str | None:
    """The class that `transformers` makes, whatever it is; None where what names it is no text."""
    return _plain_name(_said_class(values, class_in_config, usual_class)[0])


def _said_class(values: dict[str, Any], class_in_config: object, usual_class: str) -> tuple[object, str | None]:
    """And the file that says it."""
    name = values.get("tokenizer_class")
    if usual_class in _WHATEVER_IS_SAID:
        return _WHATEVER_IS_SAID[usual_class], None
    if name is not None:
        return name, FILE
    return (usual_class, None) if class_in_config is None else (class_in_config, "config.json")


def _plain_name(name: object) -> str | None:
    plain = name.removesuffix("Fast") if isinstance(name, str) else None
    return _OTHER_NAMES.get(plain, plain) if plain is not None else None


def flag_of(values: dict[str, Any], key: str, usual: bool) -> bool:
    """A setting, `usual` where the file does not have it."""
    value = values.get(key, usual)
    if not isinstance(value, bool):
        raise refusal("config-type", f"'{key}' must be true/false, got {shown(value)}", file=FILE)
    return value


def asked(values: dict[str, Any], key: str, usual: bool = False) -> bool:
    """A setting that may be null."""
    return usual if values.get(key) is None else flag_of(values, key, usual)


def asked_ends(values: dict[str, Any], special: dict[str, str]) -> dict[str, str]:
    """The tokens that `add_bos_token` and `add_eos_token` ask for, of those that the tokenizer has."""
    ends = {key: special.get(f"{key}_token") for key in ("bos", "eos") if asked(values, f"add_{key}_token")}
    return {key: text for key, text in ends.items() if text is not None}


def has_segments(values: dict[str, Any], usual: bool) -> bool:
    """Whether `transformers` tells the model the segments of a pair: where it does not, all are 0."""
    names = values.get("model_input_names")
    if names is None:
        return usual
    found = listed(names, "model_input_names", FILE)
    if not all(isinstance(item, str) for item in found):
        raise refusal("config-type", "'model_input_names' must be a list of strings", file=FILE)
    return "token_type_ids" in found


def check_segments(spec: TokenizerSpec, *, with_segments: bool) -> None:
    """Refuses segments that tokenizer.json gives to pairs where the model is not told of them."""
    if not with_segments and spec.template.segments > 1:
        message = "the model is not told of the segments that pairs have here; TemplateProcessing can leave them out"
        raise refusal("tokenizer-template", message, file=JSON_FILE)


def check_unsupported(values: dict[str, Any], *, has_template: bool = False) -> None:
    """Refuses settings that make another tokenizer of any class. `has_template`: whether that of tokenizer.json, or of
    the class, counts before `add_bos_token` and `add_eos_token`."""
    added = () if has_template else (("add_bos_token", (None, False)), ("add_eos_token", (None, False)))
    for key, usual in (
        ("do_basic_tokenize", (True,)),
        ("truncation_side", ("right",)),
        ("never_split", (None, [])),
        ("split_special_tokens", (False,)),
        *added,
    ):
        if key in values and values[key] not in usual:
            raise refusal("tokenizer-setting", f"'{key}': {shown(values[key])} is not supported", file=FILE)


def extra_tokens(values: dict[str, Any], usual: Collection[str], file: str) -> Iterator[tuple[str, object]]:
    """Tokens that a file names beside the `usual` ones, each with its key."""
    for key, value in values.items():
        if key.endswith("_token") and key not in usual and isinstance(value, (str, dict)):
            yield key, value
    for key in EXTRA_TOKENS:
        extra = values.get(key) or []
        for item in extra.values() if isinstance(extra, dict) else listed(extra, key, file):
            yield key, item


def check_is_added(
    value: object, key: str, added: dict[str, AddedToken], theirs: str, file: str, *, flags_count: bool = True
) -> None:
    """Refuses a special token, as text or object with flags, that is not one of `added`, which `theirs` lists."""
    content = content_of(value, key, file)
    token = added.get(content)
    if token is None or not token.special:
        raise refusal(
            "tokenizer-conflict",
            f"transformers takes {key} {shown(content)} for a special token, {theirs} does not list it as one",
            file=file,
        )
    flags = value if isinstance(value, dict) and flags_count else {}
    for flag in ("single_word", "lstrip", "rstrip", "normalized"):
        if flag in flags and flags[flag] is not getattr(token, flag):
            raise refusal(
                "tokenizer-conflict",
                f"{key} {shown(content)} has {flag} = {shown(flags[flag])}, {theirs} says "
                f"{shown(getattr(token, flag))}",
                file=file,
            )


def check_are_added(extra: Iterable[tuple[str, object, str]], added: dict[str, AddedToken], theirs: str) -> None:
    """The same of tokens that files name beside the known ones: the key, the value and the file of each."""
    for key, value, file in extra:
        check_is_added(value, key, added, theirs, file)


def decoded_tokens(values: dict[str, Any]) -> dict[int, AddedToken]:
    """Those of `added_tokens_decoder`, by id; none where the file does not have it."""
    key = "added_tokens_decoder"
    decoder = values.get(key, {})
    if not isinstance(decoder, dict):
        raise refusal("config-type", f"'{key}' must be an object by ids, got {shown(decoder)}", file=FILE)
    for number in decoder:
        if not number.isascii() or not number.isdigit() or str(int(number[:20])) != number:
            raise refusal("config-type", f"'{key}' has the key {shown(number)}, not an id", file=FILE)
    return {int(number): read_added_token(item, key, FILE, int(number)) for number, item in decoder.items()}


def check_same_token(token: AddedToken, added: dict[str, AddedToken], theirs: str) -> None:
    """Refuses a token of `added_tokens_decoder` that is not, or is otherwise, among `added`, which `theirs` lists."""
    if added.get(token.content) != token:
        message = f"added token {shown(token.content)} ({token.id}) is not the same in {theirs}"
        raise refusal("tokenizer-conflict", message, file=FILE)


def content_of(value: object, key: str, file: str) -> str:
    """The text of a special token. A special token is written as a string or as an object with `content`."""
    content = value.get("content") if isinstance(value, dict) else value
    if not isinstance(content, str) or not content:
        raise refusal("config-type", f"'{key}' must be a non-empty string, got {shown(value)}", file=file)
    return content


def listed(value: Any, key: str, file: str) -> list[object]:
    """A value that must be a list."""
    if not isinstance(value, list):
        raise refusal("config-type", f"'{key}' must be a list, got {shown(value)}", file=file)
    return value
