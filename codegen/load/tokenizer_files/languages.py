# SPDX-License-Identifier: Apache-2.0
"""The languages of a translator of many: the code that its tokenizer puts beside a text, and the one that a target
begins with. A folder may leave both to each call, `src_lang` and `forced_bos_token_id` of the library; a model here
reads one language and writes one, which `--languages` names."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...errors import EtchError
from ...ir.template_spec import Template, TemplatePart
from ...ir.tokenizer_spec import TokenizerSpec

Languages = tuple[str, str]  # of a text, and of what is written
_CODE = re.compile(r"[a-z]{2,3}_[A-Za-z]{2,4}")  # en_XX of mBART, eng_Latn of NLLB
_MARKED = re.compile(r"__([a-z]{2,3}|en_XX|java|javascript|python|ruby)__")  # of M2M-100, PLBART
_MOST_NAMED = 8


@dataclass(frozen=True)
class Written:
    """The language of what is written, by its token, among those of all languages."""

    token: int
    all_tokens: Collection[int]

    def over(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Settings of generation with it: the token that a target begins with where that is a language's already, as
        mBART's first models have it, else the one behind that."""
        begins = values.get("decoder_start_token_id") in self.all_tokens
        return {**values, ("decoder_start_token_id" if begins else "forced_bos_token_id"): self.token}


def language_tokens(spec: TokenizerSpec) -> dict[str, int]:
    """The tokens of languages by their codes."""
    found = ((_code_of(token.content), token.id) for token in spec.added_tokens if token.special)
    return {code: number for code, number in found if code is not None}


def _code_of(text: str) -> str | None:
    """That a token stands for, a programming language's as well."""
    if (marked := _MARKED.fullmatch(text)) is not None:
        return marked[1]
    return text if _CODE.fullmatch(text) else None


def language_of(spec: TokenizerSpec) -> str | None:
    """Whose code is put beside a text; None where there is not one."""
    found = [code for code, token in language_tokens(spec).items() if token in spec.template.special_ids]
    return found[0] if len(found) == 1 else None


def written_language(spec: TokenizerSpec, language: str) -> Written:
    """EtchError where the tokenizer has no such token."""
    tokens = language_tokens(spec)
    return Written(_token(tokens, language), frozenset(tokens.values()))


def reading(spec: TokenizerSpec, language: str) -> TokenizerSpec:
    """The tokenizer of texts in this language. EtchError where it puts none beside a text."""
    tokens, code = language_tokens(spec), language_of(spec)
    if code is None or not (spec.sentencepiece is not None or _has_template(spec.json)):
        raise none_to_choose()
    before, after = tokens[code], _token(tokens, language)

    def renamed(parts: tuple[TemplatePart, ...]) -> tuple[TemplatePart, ...]:
        return tuple(replace(part, content=after) if part.content == before else part for part in parts)

    template = Template(renamed(spec.template.single), renamed(spec.template.pair), spec.template.cuts_first)
    text = spec.json if spec.sentencepiece is not None else json_reading(spec.json, language)
    return replace(spec, template=template, json=text)


def _has_template(text: str) -> bool:
    """Whether a tokenizer.json says it in a form that can be changed."""
    return (json.loads(text).get("post_processor") or {}).get("type") == "TemplateProcessing"


def none_to_choose() -> EtchError:
    """What to tell where texts have no code."""
    message = "--languages is for translators of many: this tokenizer puts no code of a language beside a text"
    return EtchError("option-conflict", "arguments", message)


def json_reading(text: str, language: str) -> str:
    """A tokenizer.json with a template, of texts in this language."""
    described = json.loads(text)
    processor = described["post_processor"]
    ids = {token["content"]: token["id"] for token in described["added_tokens"]}
    for parts in (processor["single"], processor["pair"]):
        for part in parts:
            if _CODE.fullmatch(part.get("SpecialToken", {}).get("id", "")):
                part["SpecialToken"]["id"] = language
    others = {name: token for name, token in processor["special_tokens"].items() if not _CODE.fullmatch(name)}
    processor["special_tokens"] = others | {language: {"id": language, "ids": [ids[language]], "tokens": [language]}}
    return json.dumps(described, ensure_ascii=False)


def languages_notes(spec: TokenizerSpec, begin: Collection[int | None]) -> tuple[str, ...]:
    """What is read and written by a folder of many languages; `begin` are the tokens that a target begins with."""
    code, tokens = language_of(spec), language_tokens(spec)
    if code is None:
        return ()
    written = next((name for name, token in tokens.items() if token in begin), None)
    if written is None:
        return (f"no setting says in which of {len(tokens)} languages to write: --languages {code},TO",)
    return (f"{code} is read, {written} written; --languages FROM,TO: others of {len(tokens)}",)


def _token(tokens: Mapping[str, int], language: str) -> int:
    if language in tokens:
        return tokens[language]
    near = difflib.get_close_matches(language, tokens, n=_MOST_NAMED, cutoff=0.4)
    named = ", ".join(near or [*tokens][:_MOST_NAMED])
    more = " and others" if len(tokens) > _MOST_NAMED else ""
    message = f"--languages: the tokenizer has no '{language}', but {named}{more}"
    raise EtchError("option-conflict", "arguments", message if tokens else f"--languages: no '{language}' is known")
