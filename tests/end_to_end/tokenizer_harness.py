# SPDX-License-Identifier: Apache-2.0
"""The same texts through the `tokenizers` wheel and through the C++ runtime, compared token by token."""

from __future__ import annotations

import codecs
import json
import os
import random
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from codegen.load.tokenizer_spec import AddedToken, WordPieceSpec
from codegen.tokenizer import Field, WordPieceTables, compile_wordpiece

ROOT = Path(__file__).resolve().parents[2]
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
UNLIMITED = 1 << 30  # more tokens than any text here has


@dataclass(frozen=True)
class Result:
    ids: np.ndarray
    offsets: np.ndarray  # [count, 2]
    segments: np.ndarray
    truncated: bool


def special_tokens(pieces: Sequence[str]) -> list[AddedToken]:
    return [AddedToken(text, pieces.index(text), True, False, False, False, False) for text in SPECIALS]


def make_spec(
    pieces: Sequence[str],
    added: Iterable[AddedToken] = (),
    *,
    lowercase: bool = True,
    strip_accents: bool | None = None,
    clean_text: bool = True,
    handle_chinese_chars: bool = True,
    prefix: str = "##",
    max_word_chars: int = 100,
) -> WordPieceSpec:
    """A specification and the tokenizer.json that means the same; `pieces` include SPECIALS."""
    tokens = sorted([*special_tokens(pieces), *added], key=lambda token: token.id)
    strip = lowercase if strip_accents is None else strip_accents
    ids = {text: i for i, text in enumerate(pieces[: pieces.index("[MASK]") + 1]) if text in SPECIALS}
    parts = {
        "version": "1.0",
        "added_tokens": [vars(token) for token in tokens],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": clean_text,
            "handle_chinese_chars": handle_chinese_chars,
            "strip_accents": strip_accents,
            "lowercase": lowercase,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "BertProcessing",
            "sep": ["[SEP]", ids["[SEP]"]],
            "cls": ["[CLS]", ids["[CLS]"]],
        },
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": prefix,
            "max_input_chars_per_word": max_word_chars,
            "vocab": {text: i for i, text in enumerate(pieces)},
        },
    }
    return WordPieceSpec(
        pieces=tuple(pieces),
        added_tokens=tuple(tokens),
        clean_text=clean_text,
        handle_chinese_chars=handle_chinese_chars,
        strip_accents=strip,
        lowercase=lowercase,
        continuing_prefix=prefix,
        max_input_chars_per_word=max_word_chars,
        unknown_id=ids["[UNK]"],
        classify_id=ids["[CLS]"],
        separate_id=ids["[SEP]"],
        json=json.dumps(parts),
        notes=(),
    )


@cache
def driver_path() -> Path:
    built = os.environ.get("ETCH_BUILD")
    if built:
        path = Path(built) / "bin" / "tokenizer_driver"
        assert path.is_file(), f"ETCH_BUILD is set, but there is no {path.name} in its bin folder"
        return path
    path = Path(tempfile.mkdtemp(prefix="etch-tokenizer-")) / "tokenizer_driver"
    sources = sorted((ROOT / "runtime" / "src" / "tokenizer").glob("*.cpp"))
    driver = ROOT / "tests" / "runtime" / "tokenizer" / "driver.cpp"
    options = ["-std=c++17", "-O2", f"-I{ROOT / 'runtime' / 'include'}"]
    subprocess.run([os.environ.get("CXX", "g++"), *options, *sources, driver, "-o", path], check=True)
    return path


class Runtime:
    """The C++ tokenizer, by way of the driver."""

    def __init__(self, spec: WordPieceSpec, tables: WordPieceTables | None = None) -> None:
        self.tables = tables or compile_wordpiece(spec)
        self._blob = tables_blob(self.tables)

    def encode(self, texts: Sequence[bytes], capacity: int = UNLIMITED, plain_text: bool = False) -> list[Result]:
        return self._run([_request(capacity, plain_text, text) for text in texts])

    def encode_pairs(
        self, pairs: Sequence[tuple[bytes, bytes]], capacity: int = UNLIMITED, plain_text: bool = False
    ) -> list[Result]:
        return self._run([_request(capacity, plain_text, *pair) for pair in pairs])

    def nanoseconds_per_byte(self, text: bytes, capacity: int = UNLIMITED, repeats: int = 10) -> float:
        run = self._call([_request(capacity, False, text)], "--repeat", str(repeats))
        return float(run.stderr)

    def pieces(self) -> list[bytes]:
        """The text of each id."""
        answer = self._call([], "--pieces").stdout
        texts = []
        at = 0
        while at < len(answer):
            end = at + 4 + int.from_bytes(answer[at : at + 4], "little")
            texts.append(answer[at + 4 : end])
            at = end
        return texts

    def _call(self, requests: list[bytes], *arguments: str) -> subprocess.CompletedProcess[bytes]:
        run = subprocess.run(
            [driver_path(), *arguments], input=self._blob + b"".join(requests), capture_output=True, check=False
        )
        assert run.returncode == 0, run.stderr.decode(errors="replace")
        return run

    def _run(self, requests: list[bytes]) -> list[Result]:
        answer = self._call(requests).stdout
        results = []
        at = 0
        for _ in requests:
            status, truncated, count = np.frombuffer(answer, np.uint32, 3, at).tolist()
            assert status == 0
            ids = np.frombuffer(answer, np.int32, count, at + 12)
            offsets = np.frombuffer(answer, np.uint32, 2 * count, at + 12 + 4 * count).reshape(-1, 2)
            segments = np.frombuffer(answer, np.uint8, count, at + 12 + 12 * count)
            results.append(Result(ids, offsets, segments, bool(truncated)))
            at += 12 + 13 * count
        assert at == len(answer)
        return results


def with_flags_of(tables: WordPieceTables, spec: WordPieceSpec) -> WordPieceTables:
    """The tables for a specification that differs only in the normalizer's flags: nothing else depends on them."""
    names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    fields = (
        replace(field, literal=str(getattr(spec, field.name)).lower()) if field.name in names else field
        for field in tables.fields
    )
    return replace(tables, fields=tuple(fields))


def tables_blob(tables: WordPieceTables) -> bytes:
    arrays = dict(tables.arrays)

    def field(one: Field) -> bytes:
        if one.group is not None:
            return b"".join(map(field, one.group))
        if one.array is not None:
            data = arrays[one.array].tobytes()
            return len(data).to_bytes(8, "little") + data + bytes(-len(data) % 8)
        value = {"true": 1, "false": 0, "nullptr": 0}.get(one.literal or "")
        return (int((one.literal or "").rstrip("u"), 0) if value is None else value).to_bytes(8, "little")

    return b"".join(map(field, tables.fields))


def _request(capacity: int, plain_text: bool, *texts: bytes) -> bytes:
    room = sum(map(len, texts)) + 3  # no character makes more tokens than it has bytes
    head = np.array([len(texts) - 1, plain_text, min(capacity, room)], np.uint32).tobytes()
    return head + b"".join(len(text).to_bytes(4, "little") + text for text in texts)


class Wheel:
    """The reference. Texts are bytes; what is not UTF-8 is replaced as Python does."""

    def __init__(self, spec: WordPieceSpec) -> None:
        self._tokenizer = Tokenizer.from_str(spec.json)

    def encode(self, texts: Sequence[bytes], capacity: int = UNLIMITED, plain_text: bool = False) -> list[Result]:
        return self._encode([(text,) for text in texts], capacity, plain_text)

    def encode_pairs(
        self, pairs: Sequence[tuple[bytes, bytes]], capacity: int = UNLIMITED, plain_text: bool = False
    ) -> list[Result]:
        return self._encode(pairs, capacity, plain_text)

    def _encode(self, inputs: Sequence[tuple[bytes, ...]], capacity: int, plain_text: bool) -> list[Result]:
        self._tokenizer.encode_special_tokens = plain_text
        self._tokenizer.enable_truncation(capacity)
        decoded = [[decode(text) for text in texts] for texts in inputs]
        batch = [texts[0][0] if len(texts) == 1 else (texts[0][0], texts[1][0]) for texts in decoded]
        results = []
        for encoding, texts in zip(self._tokenizer.encode_batch(batch), decoded, strict=True):
            segments = np.array(encoding.type_ids, np.uint8)
            characters = np.array(encoding.offsets, np.int64).reshape(-1, 2)
            offsets = texts[0][1][characters] if len(texts) == 1 else _pair_offsets(characters, segments, texts)
            offsets[np.array(encoding.special_tokens_mask, bool)] = 0
            results.append(Result(np.array(encoding.ids, np.int32), offsets, segments, bool(encoding.overflowing)))
        return results


def _pair_offsets(characters: np.ndarray, segments: np.ndarray, texts: Sequence[tuple[str, np.ndarray]]) -> np.ndarray:
    offsets = np.zeros_like(characters)
    for segment, (_, begins) in enumerate(texts):
        offsets[segments == segment] = begins[characters[segments == segment]]
    return offsets


def decode(text: bytes) -> tuple[str, np.ndarray]:
    """The text, and the byte at which each of its characters begins; one more for its end."""
    malformed: list[tuple[int, int]] = []  # bytes that are read as one U+FFFD

    def replace(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        malformed.append((error.start, error.end))
        return "\ufffd", error.end

    codecs.register_error("etch-replace", replace)
    decoded = text.decode("utf-8", "etch-replace")
    assert decoded == text.decode("utf-8", "replace")
    sizes = []
    at = 0
    for begin, end in [*malformed, (len(text), len(text))]:
        scalars = np.frombuffer(text[at:begin].decode().encode("utf-32-le"), np.uint32)
        sizes.append(1 + (scalars >= 0x80) + (scalars >= 0x800) + (scalars >= 0x10000))
        sizes.append(np.array([end - begin]))
        at = end
    return decoded, np.concatenate([[0], np.cumsum(np.concatenate(sizes[:-1]))])


def differences(texts: Sequence, ours: Sequence[Result], theirs: Sequence[Result]) -> list[str]:
    """A description of each text for which the two differ in anything."""
    found = []
    for text, our, their in zip(texts, ours, theirs, strict=True):
        same = (
            np.array_equal(our.ids, their.ids)
            and np.array_equal(our.offsets, their.offsets)
            and np.array_equal(our.segments, their.segments)
            and our.truncated == their.truncated
        )
        if not same:
            found.append(_describe(text, our, their))
    return found


def _describe(text: object, our: Result, their: Result) -> str:
    count = min(len(our.ids), len(their.ids))
    unequal = (our.ids[:count] != their.ids[:count]) | (our.offsets[:count] != their.offsets[:count]).any(axis=1)
    first = int(np.argmax(unequal)) if unequal.any() else count
    near = slice(max(first - 1, 0), first + 3)
    shown = repr(text)
    if isinstance(text, bytes) and first < len(our.offsets):
        begin = int(our.offsets[near][0, 0])
        shown = f"...{text[max(begin - 10, 0) : begin + 60]!r} at {begin}" if len(text) > 80 else shown
    return (
        f"{shown}: token {first}, ours {our.ids[near].tolist()} {our.offsets[near].tolist()} {our.truncated}, "
        f"the wheel's {their.ids[near].tolist()} {their.offsets[near].tolist()} {their.truncated}"
    )


def assert_same(
    spec: WordPieceSpec, texts: Sequence[bytes], capacity: int = UNLIMITED, plain_text: bool = False
) -> list[Result]:
    """Compares one after the other, single texts; gives the common results."""
    ours = Runtime(spec).encode(texts, capacity, plain_text)
    found = differences(texts, ours, Wheel(spec).encode(texts, capacity, plain_text))
    assert not found, f"{len(found)} of {len(texts)} texts differ\n" + "\n".join(found[:10])
    return ours


def random_source() -> random.Random:
    """Seeded by ETCH_SEED or afresh; the seed is printed, and pytest shows it with a failure."""
    seed = int(os.environ.get("ETCH_SEED") or random.SystemRandom().randrange(2**32))
    print(f"ETCH_SEED={seed}")
    return random.Random(seed)
