# SPDX-License-Identifier: Apache-2.0
"""What `transformers` makes of the settings of a WordPiece tokenizer, held against the tokenizer itself.

`transformers` rebuilds a BertTokenizer from tokenizer_config.json and the class's defaults, and takes from
tokenizer.json nothing but the vocabulary and the added tokens with their flags, unless added_tokens_decoder has these
(5.23; version 4 overrides three settings in the same way). The `tokenizers` library by itself follows tokenizer.json.
Where the two would tokenize differently there is no right answer to choose: a `tokenizer-conflict`, which the owner of
the checkpoint resolves by editing one of the two files.
"""

from __future__ import annotations

from ...errors import EtchError
from ..files import CheckpointFolder
from ..refusal import refusal, shown
from .tokenizer_config import (
    ADDED_TOKENS_FILE,
    AS_IN_JSON_CLASSES,
    BERT_TOKENIZER,
    FILE,
    SPECIAL_TOKENS_FILE,
    check_is_added,
    check_same_token,
    check_unsupported,
    class_of,
    content_of,
    decoded_tokens,
    extra_tokens,
    has_segments,
    needs_json,
    read_config,
    read_special_map,
)
from .tokenizer_json.fields import FILE as JSON_FILE
from .tokenizer_json.spelled_word_piece import TokenizerParts
from .word_piece_tokens import FUNNEL, MPNET, SPECIAL_TOKENS, SPLINTER, TOKENS_OF_CLASSES

SETTINGS = {"do_lower_case": True, "strip_accents": None, "tokenize_chinese_chars": True}
_REBUILT_CLASSES = (BERT_TOKENIZER, "DistilBertTokenizer", "ElectraTokenizer", FUNNEL, MPNET, SPLINTER)
_WITHOUT_SEGMENTS = (
    "DistilBertTokenizer",
    FUNNEL,
    MPNET,
    SPLINTER,
    *AS_IN_JSON_CLASSES,
)  # unless `model_input_names` asks for them


class WordPieceConfig:
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
        self.first_type = 2 if name == FUNNEL else 0  # of the token before a text, its segment where they are told
        self.special_tokens = TOKENS_OF_CLASSES.get(name, SPECIAL_TOKENS)  # with their defaults
        self._clean_text = self.values.get("clean_text", True) if name == FUNNEL else True  # built into others
        self.separators = 2 if name == MPNET else 1  # between two texts
        self.mask_strips = name == MPNET  # the class gives the mask token the white space before it
        check_unsupported(self.values, has_template=folder.has(JSON_FILE))
        # Behind the first of two texts.
        self.behind_first = (self._question(), ".") if name == SPLINTER else ()
        if self.behind_first and self.values.get("padding_side", "right") != "right":
            message = f"'padding_side': {shown(self.values['padding_side'])} puts the question behind its context"
            raise refusal("tokenizer-setting", message, file=FILE)
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

    def _question(self) -> str:
        """Splinter's token. `transformers` reads that of the file where it is a token with flags, not where it is a
        text alone: then its class's own stands."""
        asked, usual = self.special_token("question_token"), self.special_tokens["question_token"]
        if isinstance(self.values.get("question_token"), str) and asked != usual:
            message = f"'question_token' is the text {shown(asked)}, which `transformers` reads as {shown(usual)}"
            raise refusal("tokenizer-setting", message, file=FILE)
        return asked

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
        flags_count = parts.file != JSON_FILE  # which has the flags of the tokens that it lists, whatever names them
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
                check_is_added(values.get(key, usual), key, added, parts.file, file, flags_count=flags_count)
                if key == "mask_token" and self.mask_strips and not added[named].lstrip:
                    message = f"{key} {shown(named)} strips the white space before it, {parts.file} says it does not"
                    raise refusal("tokenizer-conflict", message, file=file)
            for key, value in extra_tokens(values, self.special_tokens, file):
                check_is_added(value, key, added, parts.file, file, flags_count=flags_count)

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
