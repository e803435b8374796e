# SPDX-License-Identifier: Apache-2.0
"""tokenizer_config.json and its companions: what `transformers` would make of them, held against the tokenizer.

`transformers` rebuilds a BertTokenizer from tokenizer_config.json and the class's defaults, and takes from
tokenizer.json nothing but the vocabulary (5.23; version 4 overrides three settings in the same way). The `tokenizers`
library by itself follows tokenizer.json. Where the two would tokenize differently there is no right answer to choose:
a `tokenizer-conflict`, which the owner of the checkpoint resolves by editing one of the two files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ...errors import EtchError
from ...ir.tokenizer_spec import AddedToken, TokenizerSpec
from ..files import CheckpointFolder
from ..refusal import refusal, shown
from .tokenizer_json.fields import FILE as JSON_FILE
from .tokenizer_json.fields import read_added_token
from .tokenizer_json.spelled_word_piece import TokenizerParts

FILE = "tokenizer_config.json"
SPECIAL_TOKENS_FILE = "special_tokens_map.json"
EXTRA_TOKENS = ("additional_special_tokens", "extra_special_tokens", "model_specific_special_tokens")
ADDED_TOKENS_FILE = "added_tokens.json"

# (key in tokenizer_config.json, what BertTokenizer assumes without it)
SPECIAL_TOKENS = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
SETTINGS = {"do_lower_case": True, "strip_accents": None, "tokenize_chinese_chars": True}
MPNET_SPECIAL_TOKENS = SPECIAL_TOKENS | {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "cls_token": "<s>",
    "mask_token": "<mask>",
}
FUNNEL_SPECIAL_TOKENS = {key: f"<{key.removesuffix('_token')}>" for key in SPECIAL_TOKENS}
FUNNEL_SPECIAL_TOKENS |= {"bos_token": "<s>", "eos_token": "</s>"}
_FUNNEL = "FunnelTokenizer"  # BERT's words, special tokens and a first segment of its own
_MPNET = "MPNetTokenizer"  # BERT's words, RoBERTa's special tokens
_SPECIAL_TOKENS = {_MPNET: MPNET_SPECIAL_TOKENS, _FUNNEL: FUNNEL_SPECIAL_TOKENS}
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
_REBUILT_CLASSES = (BERT_TOKENIZER, "DistilBertTokenizer", "ElectraTokenizer", _FUNNEL, _MPNET)
_AS_IN_JSON_CLASSES = ("PreTrainedTokenizer", "TokenizersBackend")
# Whose texts are rewritten by rules that no tokenizer.json has, before their words are found.
_BY_MOSES = ("FSMTTokenizer",)
AS_IN_JSON = "tokenizer.json"  # of families that have it as it is, whatever class a folder names
AS_QWEN3_5 = "Qwen 3.5's"  # whatever class a folder names
# The class of families for which `transformers` does not ask what a folder names, by what their `Limits` say.
_WHATEVER_IS_SAID = {
    **{name: name for name in (QWEN2_TOKENIZER, SIGLIP2_TOKENIZER)},
    AS_IN_JSON: "TokenizersBackend",
    AS_QWEN3_5: QWEN3_5_TOKENIZER,
}
_WITHOUT_SEGMENTS = (
    "DistilBertTokenizer",
    _FUNNEL,
    _MPNET,
    *_AS_IN_JSON_CLASSES,
)  # unless `model_input_names` asks for them


class TokenizerConfig:
    """The parsed tokenizer_config.json, or the class's defaults where there is none. `class_in_config` is what
    config.json calls the tokenizer, which counts where tokenizer_config.json does not name it, `usual_class` what the
    family has where neither does."""

    def __init__(
        self, folder: CheckpointFolder, class_in_config: object = None, usual_class: str = BERT_TOKENIZER
    ) -> None:
        self.values = read_config(folder)
        self._classes = class_in_config, usual_class
        name = class_of(self.values, class_in_config, usual_class, supported=_REBUILT_CLASSES)
        self.rebuilds = name in _REBUILT_CLASSES
        self.second_segment = int(has_segments(self.values, name not in _WITHOUT_SEGMENTS))  # of a pair
        self.first_type = 2 if name == _FUNNEL else 0  # of the token before a text, its segment where they are told
        self.special_tokens = _SPECIAL_TOKENS.get(name, SPECIAL_TOKENS)  # with their defaults
        self._clean_text = self.values.get("clean_text", True) if name == _FUNNEL else True  # built into others
        self.separators = 2 if name == _MPNET else 1  # between two texts
        self.mask_strips = name == _MPNET  # the class gives the mask token the white space before it
        check_unsupported(self.values, has_template=folder.has(JSON_FILE))
        self._special_map = read_special_map(folder)
        self._added = folder.read_json_if_present(ADDED_TOKENS_FILE) or {}

    def setting(self, key: str) -> bool | None:
        """One of `SETTINGS`, checked, with its default."""
        value = self.values.get(key, SETTINGS[key])
        if not isinstance(value, bool) and not (key == "strip_accents" and value is None):
            raise refusal("config-type", f"'{key}' must be true/false, got {shown(value)}", file=FILE)
        return value

    def special_token(self, key: str) -> str:
        """The text of one of `special_tokens`, with its default."""
        return content_of(self.values.get(key, self.special_tokens[key]), key, FILE)

    def needs_json(self) -> EtchError:
        """As the function of this name."""
        return needs_json(self.values, *self._classes)

    def check_against(self, parts: TokenizerParts) -> None:
        """Refuse every difference between these files and `parts` that would change what a text becomes."""
        self._check_settings(parts)
        self._check_special_tokens(parts)
        self._check_added_tokens(parts)

    def _check_settings(self, parts: TokenizerParts) -> None:
        def resolved(strip_accents: bool | None, lowercase: bool | None) -> bool | None:
            return lowercase if strip_accents is None else strip_accents

        lowercase = self.setting("do_lower_case")
        pairs: list[tuple[str, object, object]] = [
            ("do_lower_case", lowercase, parts.lowercase),
            (
                "strip_accents",
                resolved(self.setting("strip_accents"), lowercase),
                resolved(parts.strip_accents, parts.lowercase),
            ),
            ("tokenize_chinese_chars", self.setting("tokenize_chinese_chars"), parts.handle_chinese_chars),
        ]
        if self.rebuilds:  # not settable there: the class has them built in
            pairs += [
                ("clean_text", self._clean_text, parts.clean_text),
                ("max_input_chars_per_word", 100, parts.max_input_chars_per_word),
                ("continuing_subword_prefix", "##", parts.continuing_prefix),
                ("separators between two texts", self.separators, parts.separators),
            ]
        for key, ours, theirs in pairs:
            if not self.rebuilds and key not in self.values:
                continue
            if ours != theirs:
                source = f"{FILE} says" if key in self.values else "transformers assumes"
                raise refusal(
                    "tokenizer-conflict",
                    f"{source} {key} = {shown(ours)}, {parts.file} says {shown(theirs)}; make them agree",
                    file=FILE,
                )

    def _check_special_tokens(self, parts: TokenizerParts) -> None:
        added = {token.content: token for token in parts.added_tokens}
        role = {
            "unk_token": parts.unknown_token,
            "cls_token": parts.classify_token,
            "sep_token": parts.separate_token,
        }
        for values, file in ((self.values, FILE), (self._special_map, SPECIAL_TOKENS_FILE)):
            for key, usual in self.special_tokens.items():
                if key in values and values[key] is None:
                    message = f"'{key}': null is not supported: {parts.file} has {shown(role.get(key, usual))}"
                    raise refusal("tokenizer-setting", message, file=file)
                if key not in values and not (self.rebuilds and values is self.values):
                    continue
                named = content_of(values.get(key, usual), key, file)
                if self.rebuilds and named != self.special_token(key):
                    message = f"{key} is {shown(named)} here, {shown(self.special_token(key))} in {FILE}"
                    raise refusal("tokenizer-conflict", message, file=file)
                if role.get(key, named) != named:
                    raise refusal(
                        "tokenizer-conflict",
                        f"{key} is {shown(named)} here, {shown(role[key])} in {parts.file}",
                        file=file,
                    )
                check_is_added(values.get(key, usual), key, added, parts.file, file)
                if key == "mask_token" and self.mask_strips and not added[named].lstrip:
                    message = f"{key} {shown(named)} strips the white space before it, {parts.file} says it does not"
                    raise refusal("tokenizer-conflict", message, file=file)
            for key, value in extra_tokens(values, self.special_tokens, file):
                check_is_added(value, key, added, parts.file, file)

    def _check_added_tokens(self, parts: TokenizerParts) -> None:
        added = {token.content: token for token in parts.added_tokens}
        for token in decoded_tokens(self.values).values():
            check_same_token(token, added, parts.file)
        for content, number in self._added.items():
            known = added[content].id if content in added else parts.vocab.get(content)
            if type(number) is not int or number != known:
                raise refusal(
                    "tokenizer-conflict",
                    f"{shown(content)} has the id {shown(number)} here, {shown(known)} in {parts.file}",
                    file=ADDED_TOKENS_FILE,
                )
            if content not in added:
                raise refusal(
                    "tokenizer-conflict",
                    f"{shown(content)} is an added token here, an ordinary piece in {parts.file}",
                    file=ADDED_TOKENS_FILE,
                )


def read_config(folder: CheckpointFolder) -> dict[str, Any]:
    """tokenizer_config.json, or nothing where there is none; remote code is refused at once."""
    values = folder.read_json_if_present(FILE) or {}
    if "auto_map" in values:
        raise refusal("remote-code", "'auto_map' asks for code that comes with the checkpoint", file=FILE)
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
    if plain in _BY_MOSES:
        message = f"{shown(name)} rewrites texts by Moses' rules, which only Python has: no other class reads its files"
        raise refusal("tokenizer-class", message, file=file)
    if plain is None or plain not in supported + _AS_IN_JSON_CLASSES:
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


def check_is_added(value: object, key: str, added: dict[str, AddedToken], theirs: str, file: str) -> None:
    """Refuses a special token, as text or object with flags, that is not one of `added`, which `theirs` lists."""
    content = content_of(value, key, file)
    token = added.get(content)
    if token is None or not token.special:
        raise refusal(
            "tokenizer-conflict",
            f"transformers takes {key} {shown(content)} for a special token, {theirs} does not list it as one",
            file=file,
        )
    flags = value if isinstance(value, dict) else {}
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
