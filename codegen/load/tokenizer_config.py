# SPDX-License-Identifier: Apache-2.0
"""tokenizer_config.json and its companions: what `transformers` would make of them, held against the tokenizer.

`transformers` rebuilds a BertTokenizer from tokenizer_config.json and the class's defaults, and takes from
tokenizer.json nothing but the vocabulary (5.23; version 4 overrides three settings in the same way). The `tokenizers`
library by itself follows tokenizer.json. Where the two would tokenize differently there is no right answer to choose:
a `tokenizer-conflict`, which the owner of the checkpoint resolves by editing one of the two files.
"""

from __future__ import annotations

from typing import Any

from .files import CheckpointFolder
from .refusal import refusal, shown
from .tokenizer_json import read_added_token
from .tokenizer_parts import TokenizerParts
from .tokenizer_spec import AddedToken

FILE = "tokenizer_config.json"
SPECIAL_TOKENS_FILE = "special_tokens_map.json"
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
_REBUILT_CLASSES = ("BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer")
_AS_IN_JSON_CLASSES = ("PreTrainedTokenizer", "TokenizersBackend")


class TokenizerConfig:
    """The parsed tokenizer_config.json, or the class's defaults where there is none."""

    def __init__(self, folder: CheckpointFolder) -> None:
        self.values = folder.read_json_if_present(FILE) or {}
        if "auto_map" in self.values:
            raise refusal("remote-code", "'auto_map' asks for code that comes with the checkpoint", file=FILE)
        self.rebuilds = self._rebuilds()
        self._check_unsupported()
        self._special_map = folder.read_json_if_present(SPECIAL_TOKENS_FILE) or {}
        self._added = folder.read_json_if_present(ADDED_TOKENS_FILE) or {}

    def setting(self, key: str) -> bool | None:
        """One of `SETTINGS`, checked, with its default."""
        value = self.values.get(key, SETTINGS[key])
        if not isinstance(value, bool) and not (key == "strip_accents" and value is None):
            raise refusal("config-type", f"'{key}' must be true/false, got {shown(value)}", file=FILE)
        return value

    def special_token(self, key: str) -> str:
        """The text of one of `SPECIAL_TOKENS`, with its default."""
        return _content(self.values.get(key, SPECIAL_TOKENS[key]), key, FILE)

    def check_against(self, parts: TokenizerParts) -> None:
        """Refuse every difference between these files and `parts` that would change what a text becomes."""
        self._check_settings(parts)
        self._check_special_tokens(parts)
        self._check_added_tokens(parts)

    def _rebuilds(self) -> bool:
        """Whether `transformers` rebuilds the tokenizer instead of using tokenizer.json as it is."""
        name = self.values.get("tokenizer_class")
        if name is None:
            return True
        plain = name.removesuffix("Fast") if isinstance(name, str) else None
        if plain not in _REBUILT_CLASSES + _AS_IN_JSON_CLASSES:
            raise refusal(
                "tokenizer-class",
                f"tokenizer class {shown(name)} is not supported (supported: {', '.join(_REBUILT_CLASSES)})",
                file=FILE,
            )
        return plain in _REBUILT_CLASSES

    def _check_unsupported(self) -> None:
        for key, usual in (
            ("do_basic_tokenize", (True,)),
            ("truncation_side", ("right",)),
            ("never_split", (None, [])),
        ):
            if key in self.values and self.values[key] not in usual:
                raise refusal("tokenizer-setting", f"'{key}': {shown(self.values[key])} is not supported", file=FILE)

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
                ("clean_text", True, parts.clean_text),
                ("max_input_chars_per_word", 100, parts.max_input_chars_per_word),
                ("continuing_subword_prefix", "##", parts.continuing_prefix),
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
            for key, usual in SPECIAL_TOKENS.items():
                if key in values and values[key] is None:
                    continue
                if key not in values and not (self.rebuilds and values is self.values):
                    continue
                named = _content(values.get(key, usual), key, file)
                if role.get(key, named) != named:
                    raise refusal(
                        "tokenizer-conflict",
                        f"{key} is {shown(named)} here, {shown(role[key])} in {parts.file}",
                        file=file,
                    )
                _check_is_added(values.get(key, usual), key, added, parts.file, file)
            for key in ("additional_special_tokens", "extra_special_tokens"):
                extra = values.get(key) or []
                for item in extra.values() if isinstance(extra, dict) else _listed(extra, key, file):
                    _check_is_added(item, key, added, parts.file, file)

    def _check_added_tokens(self, parts: TokenizerParts) -> None:
        added = {token.content: token for token in parts.added_tokens}
        decoder = self.values.get("added_tokens_decoder") or {}
        if not isinstance(decoder, dict):
            raise refusal("config-type", "'added_tokens_decoder' must be an object", file=FILE)
        for number, item in decoder.items():
            where = "added_tokens_decoder"
            if not number.isascii() or not number.isdigit() or str(int(number[:20])) != number:
                raise refusal("config-type", f"'{where}' has the key {shown(number)}, not an id", file=FILE)
            token = read_added_token(item, where, FILE, int(number))
            if added.get(token.content) != token:
                raise refusal(
                    "tokenizer-conflict",
                    f"added token {shown(token.content)} ({number}) is not the same in {parts.file}",
                    file=FILE,
                )
        for content, number in self._added.items():
            known = added[content].id if content in added else parts.vocab.get(content)
            if type(number) is not int or number != known:
                raise refusal(
                    "tokenizer-conflict",
                    f"{shown(content)} has the id {shown(number)} here, {shown(known)} in {parts.file}",
                    file=ADDED_TOKENS_FILE,
                )


def _check_is_added(value: object, key: str, added: dict[str, AddedToken], theirs: str, file: str) -> None:
    content = _content(value, key, file)
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


def _content(value: object, key: str, file: str) -> str:
    """A special token is written as a string or as an object with `content`."""
    content = value.get("content") if isinstance(value, dict) else value
    if not isinstance(content, str) or not content:
        raise refusal("config-type", f"'{key}' must be a non-empty string, got {shown(value)}", file=file)
    return content


def _listed(value: Any, key: str, file: str) -> list[object]:
    if not isinstance(value, list):
        raise refusal("config-type", f"'{key}' must be a list, got {shown(value)}", file=file)
    return value
