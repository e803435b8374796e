# SPDX-License-Identifier: Apache-2.0
"""The tables of a text that is written: the pieces of its ids, where the tokenizer of what is read has others, and the
decoder that joins them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..ir.target_tokenizer import TargetTokenizer
from ..ir.tokenizer_spec import TokenizerSpec
from .decoder import compile_decoder
from .fields import Field
from .tables import TokenizerTables, compile_tokenizer

_PREFIX = "target_"  # of the names of its arrays: those of the source have the same


@dataclass(frozen=True)
class TargetTables:
    """As `TokenizerTables`, of two structs of the runtime."""

    model_type: str | None  # None: the model is that of the source
    model: tuple[Field, ...]
    decoder_type: str
    decoder: tuple[Field, ...]
    arrays: tuple[tuple[str, np.ndarray], ...]


def compile_target(target: TargetTokenizer, source: TokenizerSpec, tables: TokenizerTables) -> TargetTables:
    """`tables` are those of the source."""
    if target.spec is source:
        decoder = compile_decoder(source, target.decoder, tables)
        return TargetTables(None, (), decoder.cpp_type, *_named(decoder.fields, decoder.arrays))
    own = compile_tokenizer(target.spec)
    decoder = compile_decoder(target.spec, target.decoder, own)
    model = next(field.group for field in own.fields if field.name == "model") or ()
    used = _arrays_in(model)
    fields, arrays = _named(model, tuple((name, array) for name, array in own.arrays if name in used))
    decoder_fields, decoder_arrays = _named(decoder.fields, decoder.arrays)
    model_type = own.cpp_type.rpartition(", ")[2].removesuffix(">")
    return TargetTables(model_type, fields, decoder.cpp_type, decoder_fields, (*arrays, *decoder_arrays))


_Arrays = tuple[tuple[str, np.ndarray], ...]


def _named(fields: tuple[Field, ...], arrays: _Arrays) -> tuple[tuple[Field, ...], _Arrays]:
    """With the prefix."""
    return tuple(map(_with_prefix, fields)), tuple((f"{_PREFIX}{name}", array) for name, array in arrays)


def _with_prefix(field: Field) -> Field:
    array = None if field.array is None else f"{_PREFIX}{field.array}"
    group = None if field.group is None else tuple(map(_with_prefix, field.group))
    return replace(field, array=array, group=group)


def _arrays_in(fields: tuple[Field, ...]) -> set[str]:
    """The names of all arrays."""
    own = {field.array for field in fields if field.array is not None}
    return own.union(*(_arrays_in(field.group) for field in fields if field.group is not None))
