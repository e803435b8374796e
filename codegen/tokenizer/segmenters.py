# SPDX-License-Identifier: Apache-2.0
"""The settings of segmenters."""

from __future__ import annotations

from functools import singledispatch

from ..ir.split_spec import ExpressionSegmenter
from ..ir.tokenizer_spec import (
    BertSegmenter,
    ByteLevelSegmenter,
    Cl100kSegmenter,
    ClipSegmenter,
    DigitsSegmenter,
    LineWordSegmenter,
    MetaspaceSegmenter,
    MosesSegmenter,
    NormalizedMosesSegmenter,
    SingleCharacterSegmenter,
    SplitSegmenter,
    WhitespaceSegmenter,
    WordSegmenter,
)
from .expressions import compile_expressions
from .fields import Field, Part, boolean, unsigned
from .moses import compile_moses
from .normalized_moses import compile_normalized_moses
from .splits import compile_splits

_WHITESPACE = ("splits_words", "whole_words")


@singledispatch
def compile_segmenter(spec: object) -> Part:
    raise TypeError(f"no tables for {type(spec).__name__}")


@compile_segmenter.register
def _(spec: BertSegmenter) -> Part:
    return Part("BertSegmenter", ())


@compile_segmenter.register
def _(spec: ByteLevelSegmenter) -> Part:
    return Part("ByteLevelSegmenter", (boolean("add_prefix_space", spec.add_prefix_space),))


@compile_segmenter.register
def _(spec: MetaspaceSegmenter) -> Part:
    prepend = Field("prepend", literal=f"PrependScheme::{spec.prepend}")
    flags = (boolean(name, getattr(spec, name)) for name in ("split", "split_whitespace"))
    return Part("MetaspaceSegmenter", (prepend, *flags))


@compile_segmenter.register
def _(spec: DigitsSegmenter) -> Part:
    fields = (boolean("add_prefix_space", spec.add_prefix_space), boolean("individual", spec.individual))
    return Part("DigitsSegmenter", fields)


@compile_segmenter.register
def _(spec: Cl100kSegmenter) -> Part:
    return Part("Cl100kSegmenter", (unsigned("most_digits", spec.most_digits),))


@compile_segmenter.register
def _(spec: WhitespaceSegmenter) -> Part:
    rule = Field("punctuation", literal=f"PunctuationRule::{spec.punctuation}")
    return Part("WhitespaceSegmenter", (*(boolean(name, getattr(spec, name)) for name in _WHITESPACE), rule))


@compile_segmenter.register
def _(spec: SingleCharacterSegmenter) -> Part:
    return Part("SingleCharacterSegmenter", ())


@compile_segmenter.register
def _(spec: LineWordSegmenter) -> Part:
    return Part("LineWordSegmenter", ())


@compile_segmenter.register
def _(spec: MosesSegmenter) -> Part:
    return compile_moses()


@compile_segmenter.register
def _(spec: NormalizedMosesSegmenter) -> Part:
    return compile_normalized_moses(spec)


@compile_segmenter.register
def _(spec: WordSegmenter) -> Part:
    names = ("add_prefix_space", "whole_words")
    return Part("WordSegmenter", tuple(boolean(name, getattr(spec, name)) for name in names))


@compile_segmenter.register
def _(spec: ClipSegmenter) -> Part:
    words = compile_segmenter(SplitSegmenter(spec.splits, ByteLevelSegmenter(add_prefix_space=False)))
    return Part("ClipSegmenter", (Field("words", group=words.fields),), words.arrays)


@compile_segmenter.register
def _(spec: ExpressionSegmenter) -> Part:
    return compile_expressions(spec)


@compile_segmenter.register
def _(spec: SplitSegmenter) -> Part:
    inner = compile_segmenter(spec.inner)
    fields, arrays = compile_splits(spec.splits)
    return Part(f"SplitSegmenter<{inner.cpp_type}>", (*fields, Field("inner", group=inner.fields)), arrays)
