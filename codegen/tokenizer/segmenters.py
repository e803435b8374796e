# SPDX-License-Identifier: Apache-2.0
"""The settings of segmenters."""

from __future__ import annotations

from functools import singledispatch

from ..load.tokenizer_spec import (
    BertSegmenter,
    ByteLevelSegmenter,
    Cl100kSegmenter,
    DigitsSegmenter,
    MetaspaceSegmenter,
    SingleCharacterSegmenter,
    WhitespaceSegmenter,
)
from .fields import Field, Part, boolean, unsigned


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
    return Part("WhitespaceSegmenter", (boolean("splits_words", spec.splits_words),))


@compile_segmenter.register
def _(spec: SingleCharacterSegmenter) -> Part:
    return Part("SingleCharacterSegmenter", ())
