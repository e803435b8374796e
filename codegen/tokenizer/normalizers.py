# SPDX-License-Identifier: Apache-2.0
"""The settings and tables of normalizers."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from ..errors import EtchError
from ..ir.normalizer_spec import (
    BertNormalizer,
    CharacterNormalizer,
    CharsmapNormalizer,
    FoldingNormalizer,
    Folds,
    FormCharsmapNormalizer,
    NoNormalizer,
    NormalFormNormalizer,
    SentencePieceNormalizer,
    SequenceNormalizer,
)
from .charsmap import read_charsmap
from .content_tables import compile_contents, content_arrays, content_fields
from .fields import Field, Part, boolean, signed, unsigned
from .folding import compile_folding
from .normal_form import compile_normal_form
from .sequence import compile_sequence, folding_field

# Their streams are stages within stages, and looking ahead copies them.
_CHARACTER_STACK, _CHARSMAP_STACK, _FOLDING_STACK, _FORM_STACK = 512, 1280, 2560, 1536
_FORM_CHARSMAP_STACK = 10_240
_NO_MAP = np.zeros(1, np.uint32), np.zeros(1, np.uint8)


@singledispatch
def compile_normalizer(spec: object) -> Part:
    raise TypeError(f"no tables for {type(spec).__name__}")


@compile_normalizer.register
def _(spec: NoNormalizer) -> Part:
    return Part("NoNormalizer", ())


@compile_normalizer.register
def _(spec: NormalFormNormalizer) -> Part:
    fields, arrays = compile_normal_form(spec.form)
    return Part("NormalFormNormalizer", (Field("form", group=fields),), arrays, stack_bytes=_FORM_STACK)


@compile_normalizer.register
def _(spec: BertNormalizer) -> Part:
    names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    return Part("BertNormalizer", tuple(boolean(name, getattr(spec, name)) for name in names))


@compile_normalizer.register
def _(spec: CharsmapNormalizer) -> Part:
    return _charsmap(spec, {c: chr(c) for c in range(0x80)})


@compile_normalizer.register
def _(spec: SentencePieceNormalizer) -> Part:
    charsmap = read_charsmap(spec.charsmap) if spec.charsmap else None
    if charsmap and charsmap.splits_characters:
        message = "a key of the compiled map ends within a character: the library would break it"
        raise EtchError("charsmap-malformed", "front-end", message)
    units, texts = (charsmap.units, charsmap.texts) if charsmap else _NO_MAP
    printed = range(0x20, 0x7F)
    plain = np.zeros(128, np.uint8)
    plain[printed] = [0 if charsmap and charsmap.begins_in_ascii(byte) else byte for byte in printed]
    codes = compile_contents({text.encode(): (number, 0) for text, number in spec.codes})
    fields = (
        *(Field(name, array=name) for name in ("units", "texts", "plain")),
        boolean("has_map", charsmap is not None),
        Field("codes", group=content_fields("code", codes)),
        signed("unknown_code", -1 if spec.unknown_code is None else spec.unknown_code),
    )
    arrays = (("units", units), ("texts", texts), ("plain", plain), *content_arrays("code", codes))
    return Part("SentencePieceNormalizer", fields, arrays, stack_bytes=_CHARACTER_STACK)


@compile_normalizer.register
def _(spec: FoldingNormalizer) -> Part:
    quotes = dict.fromkeys(map(ord, "`'"), "") if spec.joins_quotes else {}
    rest = _charsmap(spec.rest, compile_folding(spec.steps).ascii | quotes)
    folding, arrays = folding_field("folding", Folds(spec.joins_quotes, spec.steps))
    fields = (boolean("joins_spaces", spec.joins_spaces), folding, Field("rest", group=rest.fields))
    return Part("FoldingNormalizer", fields, (*arrays, *rest.arrays), stack_bytes=_FOLDING_STACK)


@compile_normalizer.register
def _(spec: CharacterNormalizer) -> Part:
    folding, arrays = folding_field("folding", Folds(joins_quotes=False, steps=spec.steps))
    return Part("CharacterNormalizer", (folding,), arrays, stack_bytes=_CHARACTER_STACK)


@compile_normalizer.register
def _(spec: SequenceNormalizer) -> Part:
    return compile_sequence(spec)


@compile_normalizer.register
def _(spec: FormCharsmapNormalizer) -> Part:
    form, form_arrays = compile_normal_form(spec.form)
    folding, folding_arrays = folding_field("folding", spec.folding, "folding_")
    becomes = compile_folding(spec.folding.steps).ascii if spec.folding else {c: chr(c) for c in range(0x80)}
    quotes = dict.fromkeys(map(ord, "`'"), "") if spec.folding and spec.folding.joins_quotes else {}
    rest = _charsmap(spec.rest, becomes | quotes, "charsmap_")
    fields = (Field("form", group=form), folding, Field("rest", group=rest.fields))
    arrays = (*form_arrays, *folding_arrays, *rest.arrays)
    return Part("FormCharsmapNormalizer", fields, arrays, stack_bytes=_FORM_CHARSMAP_STACK)


def _charsmap(spec: CharsmapNormalizer, before: dict[int, str], prefix: str = "") -> Part:
    """`before` says what ASCII has become when the map is applied; `prefix` begins the names of its arrays."""
    charsmap = read_charsmap(spec.charsmap) if spec.charsmap else None
    units, texts = (charsmap.units, charsmap.texts) if charsmap else _NO_MAP
    plain = np.zeros(128, np.uint8)
    for byte, text in before.items():
        is_plain = len(text) == 1 and 0x20 <= ord(text) < 0x7F and (text == " ") == (byte == 0x20)
        if is_plain and not (charsmap and charsmap.has_rule_for(ord(text))):
            plain[byte] = ord(text)
    names = ("strip_left_before", "strip_right_before", "strip_left_after", "strip_right_after")
    fields = (
        *(Field(name, array=f"{prefix}{name}") for name in ("units", "texts", "plain")),
        boolean("has_map", charsmap is not None),
        *(boolean(name, side) for name, side in zip(names, (*spec.strip_before, *spec.strip_after), strict=True)),
        unsigned("run_content", ord(spec.run_content or "\0")),
    )
    arrays = tuple((f"{prefix}{name}", array) for name, array in (("units", units), ("texts", texts), ("plain", plain)))
    return Part("CharsmapNormalizer", fields, arrays, stack_bytes=_CHARSMAP_STACK)
