# SPDX-License-Identifier: Apache-2.0
"""The tables of a decoder, in the order of `etch::Decoder`'s fields: three bytes an id, on top of the model's trie."""

from __future__ import annotations

import numpy as np
from tokenizers import Tokenizer

from ..errors import EtchError
from ..ir.byte_pieces import bytes_of
from ..ir.target_tokenizer import DecoderSpec
from ..ir.tokenizer_spec import TokenizerSpec
from . import trie
from .fields import Field, Part, boolean, byte_array, unsigned
from .joined_words import joined_words
from .tables import TokenizerTables, texts_by_id

SPECIAL, GLUED, GOES_ON, ABSENT, ENDS = 1, 2, 4, 8, 16  # as in etch::Decoder
LONGEST_PIECE = 1024  # as in runtime/src/tokenizer/piece_text.hpp

# What `tokenizers` replaces in a token with a space before it, one after the other.
_CLEAN_UP = (
    (" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"),
    (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"),
)  # fmt: skip


def compile_decoder(spec: TokenizerSpec, decoder: DecoderSpec, tables: TokenizerTables) -> Part:
    """`tables` are those of the same tokenizer, whose trie has the texts."""
    shown = texts_by_id(spec)
    texts = _texts(spec, decoder, shown)
    key_of = {i: key for key, i in reversed(list(enumerate(_ids_of_keys(tables))))}
    key_count = len(_ids_of_keys(tables))
    others: list[bytes] = []
    keys, flags = [], []
    special = {token.id for token in spec.added_tokens if token.special}
    for i, text in enumerate(texts):
        if text is not None and text == shown[i] and i in key_of:
            keys.append(key_of[i])
        else:
            keys.append(key_count + len(others))
            others.append(text or b"")
        flags.append(ABSENT if text is None else _flags(text, decoder) | SPECIAL * (i in special))
        if len(text or b"") > LONGEST_PIECE:
            message = f"the token {i} has {len(text or b'')} bytes, at most {LONGEST_PIECE} are decoded"
            raise EtchError("piece-too-long", "front-end", message)
    key_bits = trie.value_bits(max(key_count + len(others), 1))
    arrays = (
        ("keys", trie.packed(np.array(keys, np.uint32), key_bits)),
        ("flags", np.array(flags, np.uint8)),
        ("others", byte_array(b"".join(others))),
        ("other_begins", np.cumsum([0, *map(len, others)]).astype(np.uint32)),
        ("space", byte_array(decoder.space.encode())),
    )
    fields = (
        *(Field(name, array=name) for name, _ in arrays),
        unsigned("key_bits", key_bits),
        unsigned("id_count", len(texts)),
        unsigned("space_size", len(decoder.space.encode())),
        unsigned("prefix_size", len(decoder.prefix.encode())),
        unsigned("strip", decoder.strip),
        boolean("drops_first_spaces", decoder.drops_first_spaces),
        boolean("byte_fallback", decoder.byte_fallback),
        boolean("drops_last_spaces", decoder.drops_last_spaces),
        boolean("drops_malformed", decoder.drops_malformed),
    )
    part = Part("Decoder", fields, arrays)
    return part if decoder.moses is None else joined_words(part, decoder.moses)


def _texts(spec: TokenizerSpec, decoder: DecoderSpec, shown: list[bytes]) -> list[bytes | None]:
    """What each token reads as alone; None where there is no such token."""
    spells_bytes = any(isinstance(piece, bytes) for piece in spec.model.pieces)
    if spells_bytes != decoder.bytes:
        kind = "ByteLevel" if spells_bytes else "another decoder than ByteLevel"
        raise EtchError("tokenizer-decoder", "front-end", f"the decoder of {spec.summary} must be {kind}")
    tokens = map(Tokenizer.from_str(spec.json).id_to_token, range(len(shown)))
    if decoder.moses is not None:
        texts = ((decoder.absent if token is None else token).replace(" ", "") for token in tokens)
        return [text.encode() for text in texts]
    return [None if token is None else bytes_of(token) if decoder.bytes else token.encode() for token in tokens]


def _flags(text: bytes, decoder: DecoderSpec) -> int:
    """Of a token, which is not UTF-8 only where its bytes are read as they are."""
    if decoder.moses is not None:
        return 0
    if decoder.glued:
        return GLUED | _ends(text, decoder)
    if decoder.prefix and text.startswith(decoder.prefix.encode()):
        inside = text[len(decoder.prefix.encode()) :]
        if decoder.clean_up and any(_cleaned(one.decode()).encode() != one for one in (inside, text)):
            raise _refused(text)
        return GLUED | GOES_ON
    if not decoder.clean_up:
        return 0
    behind = _cleaned(" " + text.decode()).encode()
    if _cleaned(text.decode()).encode() != text or behind not in (b" " + text, text):
        raise _refused(text)
    return GLUED if behind == text else 0


def _ends(text: bytes, decoder: DecoderSpec) -> int:
    """Whether a token ends a word, where that is marked."""
    if not decoder.ends_words:
        return 0
    space = decoder.space.encode()
    inside = text.removesuffix(space)
    if not inside or space in inside or inside.endswith(b" "):
        raise _refused(text)  # of the last token the library drops what is its own alone
    return ENDS * (inside != text)


def _cleaned(token: str) -> str:
    for dirty, clean in _CLEAN_UP:
        token = token.replace(dirty, clean)
    return token


def _refused(text: bytes) -> EtchError:
    return EtchError("tokenizer-decoder", "front-end", f"the token {text.decode()!r} cannot be decoded exactly")


def _ids_of_keys(tables: TokenizerTables) -> list[int]:
    """By key of the model's trie."""
    model = next(field.group for field in tables.fields if field.name == "model") or ()
    described = next(field.group for field in model if field.name == "trie") or ()
    numbers = {field.name: int(field.literal.rstrip("u")) for field in described if field.literal is not None}
    packed = dict(tables.arrays)["packed_ids"]
    return trie.unpacked(packed, numbers["key_count"], numbers["id_bits"]).tolist()
