# SPDX-License-Identifier: Apache-2.0
"""Added tokens: two sorted sets, one matched on raw text, one on normalized text."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from ..errors import EtchError
from ..ir.normalizer_spec import NoNormalizer
from ..ir.tokenizer_spec import AddedToken, TokenizerSpec, Trimming
from ..library_tokenizer.wheel_tokenizer import WheelTokenizer, wheel_tokenizer
from .content_tables import ContentTables, compile_contents

# As in etch::AddedTokens.
SPECIAL, SINGLE_WORD, LEFT_STRIP, RIGHT_STRIP, TRIMMED, KEEPS_FIRST_SPACE = (1 << bit for bit in range(6))

# White_Space of Unicode, which tokens strip.
_WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"


def compile_added_tokens(spec: TokenizerSpec) -> tuple[ContentTables, ContentTables]:
    """Those matched on raw text, and those matched on normalized text."""
    tokens = [token for token in spec.added_tokens if token.content]
    wheel = wheel_tokenizer(spec)
    for token in tokens:
        _check(token, wheel.token_to_id(token.content))
    if isinstance(spec.normalizer, NoNormalizer):
        _check_one_pass(tokens)
        raw, normalized = [(token.content, token) for token in tokens], []
    else:
        if _keeps_white_space(wheel):
            _check_nothing_strips(tokens)
        normalize = wheel.normalizer.normalize_str if wheel.normalizer else str
        raw = [(token.content, token) for token in tokens if not token.normalized]
        normalized = [(normalize(token.content), token) for token in tokens if token.normalized]
    if spec.trimming is not None:
        _check_ends((*raw, *normalized))
    return _compile(raw, spec.trimming), _compile(normalized, spec.trimming)


def _check_one_pass(tokens: list[AddedToken]) -> None:
    """Where nothing is normalized, both kinds are looked for at once. `tokenizers` looks for one kind after the other,
    which is the same unless tokens of both could meet in a text."""
    first = [token for token in tokens if not token.normalized]
    second = [token for token in tokens if token.normalized]
    for one, other in product(first, second):
        meets = _overlaps(one.content, other.content) or _overlaps(other.content, one.content)
        across = (one.lstrip and other.rstrip) or (one.rstrip and other.lstrip)  # white space that both could have
        strips = one.lstrip or one.rstrip or other.lstrip or other.rstrip
        spaces = any(text[0].isspace() or text[-1].isspace() for text in (one.content, other.content))
        if meets or across or other.single_word or (strips and spaces):
            message = (
                f"added tokens {one.content!r} and {other.content!r} can meet, but one is normalized and one is not"
            )
            raise EtchError("added-token-unsupported", "front-end", message)


def _keeps_white_space(wheel: WheelTokenizer) -> bool:
    """Whether words may have some in them."""
    if wheel.pre_tokenizer is None:
        return True
    words = (word for c in _WHITE_SPACE for word in wheel.pre_tokenizer.pre_tokenize_str(f"a{c}b"))
    return any(begin <= 1 < end for _, (begin, end) in words)


def _check_nothing_strips(tokens: list[AddedToken]) -> None:
    """White space that is part of a word must not turn out to belong to a token when it has been read."""
    for token in tokens:
        if token.normalized and (token.lstrip or token.rstrip):
            message = f"added token {token.content!r} is normalized and strips white space, which words are made of"
            raise EtchError("added-token-unsupported", "front-end", message)


def _check_ends(patterns: Iterable[tuple[str, AddedToken]]) -> None:
    """Where offsets are trimmed, they leave out white space of the content, too."""
    for content, token in patterns:
        if content != content.strip().strip("\u0120"):
            message = f"added token {token.content!r} begins or ends with white space while offsets are trimmed"
            raise EtchError("added-token-unsupported", "front-end", message)


def _overlaps(left: str, right: str) -> bool:
    """Whether `right` begins in `left`."""
    return right in left or any(left.endswith(right[:size]) for size in range(1, len(right)))


def _check(token: AddedToken, id_in_use: int | None) -> None:
    if not 0 <= token.id < 2**31:
        raise EtchError("token-id-out-of-range", "front-end", f"added token {token.content!r} has id {token.id}")
    if token.id != id_in_use:
        # `tokenizers` takes the vocabulary's id, or numbers new tokens itself, whatever the file says.
        message = f"added token {token.content!r} has id {token.id} in the file, but `tokenizers` uses {id_in_use}"
        raise EtchError("added-token-id-mismatch", "front-end", message)
    if "\ufffd" in token.content:
        # Invalid UTF-8 reads as U+FFFD, but its bytes differ.
        raise EtchError("added-token-unsupported", "front-end", f"added token {token.content!r} contains U+FFFD")


def _compile(patterns: list[tuple[str, AddedToken]], trimming: Trimming | None) -> ContentTables:
    by_content: dict[bytes, AddedToken] = {}
    for content, token in patterns:
        if not content:
            message = f"nothing is left of added token {token.content!r} after normalization"
            raise EtchError("added-token-unsupported", "front-end", message)
        if content.encode() in by_content:
            # `tokenizers` then takes either, by the order of a hash map: another one in each run.
            message = f"added token {token.content!r} is the same as another one after normalization"
            raise EtchError("added-token-ambiguous", "front-end", message)
        by_content[content.encode()] = token
    swallows = any(token.rstrip for token in by_content.values())
    for text, token in patterns:
        if swallows and token.lstrip and text[0].isspace():
            # It could begin in what another token swallowed, and its stripped beginning lie behind its own.
            message = f"added token {token.content!r} has lstrip and begins with white space while another has rstrip"
            raise EtchError("added-token-unsupported", "front-end", message)
    return compile_contents({content: (token.id, _flags(token, trimming)) for content, token in by_content.items()})


def _flags(token: AddedToken, trimming: Trimming | None) -> int:
    return (
        SPECIAL * token.special
        | SINGLE_WORD * token.single_word
        | LEFT_STRIP * token.lstrip
        | RIGHT_STRIP * token.rstrip
        | TRIMMED * (trimming is not None)
        | KEEPS_FIRST_SPACE * (trimming is not None and trimming.keep_first_space)
    )
