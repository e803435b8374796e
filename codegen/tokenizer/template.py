# SPDX-License-Identifier: Apache-2.0
"""The special tokens around texts and the padding behind them, as `etch::Template`."""

from __future__ import annotations

from ..errors import EtchError
from ..ir.template_spec import Template, TemplatePart
from .fields import Field, Part, boolean, signed, unsigned

MOST_PARTS = 8  # as in etch::Template
_PLACES: dict[object, str] = {"A": "TemplatePart::kFirst", "B": "TemplatePart::kSecond"}


def compile_template(spec: Template) -> Part:
    _check(spec.single, "single", ("A",))
    _check(spec.pair, "pair", ("A", "B"))
    fields: tuple[Field, ...] = (
        unsigned("single_count", len(spec.single)),
        unsigned("pair_count", len(spec.pair)),
        _parts("single", spec.single),
        _parts("pair", spec.pair),
    )
    padding = spec.padding
    if spec.cuts_first or padding is not None:
        fields += (boolean("cuts_first", spec.cuts_first),)
    if padding is not None:
        fields += (unsigned("padded", padding.tokens), signed("padding", padding.id))
    return Part("Template", fields)


def _check(parts: tuple[TemplatePart, ...], which: str, texts: tuple[str, ...]) -> None:
    if tuple(part.content for part in parts if isinstance(part.content, str)) != texts:
        raise EtchError("tokenizer-template", "front-end", f"the {which} template must hold {' then '.join(texts)}")
    if len(parts) > MOST_PARTS:
        message = f"the {which} template has {len(parts)} parts, at most {MOST_PARTS} are supported"
        raise EtchError("tokenizer-template", "front-end", message)
    for part in parts:
        if isinstance(part.content, int) and not 0 <= part.content < 2**31:
            message = f"the {which} template has a token of id {part.content}"
            raise EtchError("token-id-out-of-range", "front-end", message)
        if not 0 <= part.segment < 2**8:
            raise EtchError("tokenizer-template", "front-end", f"the {which} template has type {part.segment}")


def _id(part: TemplatePart) -> str:
    return _PLACES[part.content] if isinstance(part.content, str) else str(part.content)


def _parts(name: str, parts: tuple[TemplatePart, ...]) -> Field:
    return Field(
        name,
        group=tuple(
            Field(
                "text" if part.content in _PLACES else "special token",
                group=(
                    Field("id", literal=_id(part)),
                    unsigned("segment", part.segment),
                ),
            )
            for part in parts
        ),
    )
