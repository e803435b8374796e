# SPDX-License-Identifier: Apache-2.0
"""The same texts through the `tokenizers` wheel and through the C++ runtime, compared token by token."""

from __future__ import annotations

import json
import os
import random
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np

from codegen.ir.normalizer_spec import BertNormalizer
from codegen.ir.target_tokenizer import DecoderSpec
from codegen.ir.template_spec import bert_template
from codegen.ir.tokenizer_spec import AddedToken, BertSegmenter, TokenizerSpec, WordPieceModel
from codegen.library_tokenizer.decoded import decoded
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.tokenizer import Field, TokenizerTables, compile_decoder, compile_tokenizer
from codegen.tokenizer.normalizers import compile_normalizer

ROOT = Path(__file__).resolve().parents[3]
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
UNLIMITED = 1 << 30  # more tokens than any text here has


@dataclass(frozen=True)
class Result:
    ids: np.ndarray
    offsets: np.ndarray  # [count, 2]
    segments: np.ndarray
    truncated: bool
    cut_word: bool = False


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
) -> TokenizerSpec:
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
    return TokenizerSpec(
        normalizer=BertNormalizer(clean_text, handle_chinese_chars, strip, lowercase),
        segmenter=BertSegmenter(),
        model=WordPieceModel(tuple(pieces), prefix, max_word_chars, ids["[UNK]"]),
        template=bert_template(ids["[CLS]"], ids["[SEP]"]),
        added_tokens=tuple(tokens),
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
    sources = sorted((ROOT / "runtime" / "src" / "tokenizer").rglob("*.cpp"))
    driver = ROOT / "tests" / "runtime" / "tokenizer" / "driver.cpp"
    options = ["-std=c++17", "-O2", f"-I{ROOT / 'runtime' / 'include'}", f"-I{ROOT / 'runtime' / 'src'}"]
    subprocess.run([os.environ.get("CXX", "g++"), *options, *sources, driver, "-o", path], check=True)
    return path


def run_driver(given: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    run = subprocess.run([driver_path(), *arguments], input=given, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr.decode(errors="replace")
    return run


class Runtime:
    """The C++ tokenizer, by way of the driver."""

    def __init__(self, spec: TokenizerSpec, tables: TokenizerTables | None = None) -> None:
        self.tables = tables or compile_tokenizer(spec)
        self._blob = tables_blob(self.tables)

    def encode(self, texts: Sequence[bytes], capacity: int = UNLIMITED, plain_text: bool = False) -> list[Result]:
        return self._run([_request(capacity, plain_text, text) for text in texts])

    def encode_pairs(
        self, pairs: Sequence[tuple[bytes, bytes]], capacity: int = UNLIMITED, plain_text: bool = False
    ) -> list[Result]:
        return self._run([_request(capacity, plain_text, *pair) for pair in pairs])

    def nanoseconds_per_byte(self, *texts: bytes, capacity: int = UNLIMITED, repeats: int = 10) -> float:
        """Of processor time; each text is tokenized so often before the next one."""
        run = self._call([_request(capacity, False, text) for text in texts], "--repeat", str(repeats))
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
        return run_driver(self._blob + b"".join(requests), *arguments)

    def _run(self, requests: list[bytes]) -> list[Result]:
        answer = self._call(requests).stdout
        results = []
        at = 0
        for _ in requests:
            status, flags, count = np.frombuffer(answer, np.uint32, 3, at).tolist()
            assert status == 0
            ids = np.frombuffer(answer, np.int32, count, at + 12)
            offsets = np.frombuffer(answer, np.uint32, 2 * count, at + 12 + 4 * count).reshape(-1, 2)
            segments = np.frombuffer(answer, np.uint8, count, at + 12 + 12 * count)
            results.append(Result(ids, offsets, segments, bool(flags & 1), bool(flags & 2)))
            at += 12 + 13 * count
        assert at == len(answer)
        return results


def with_flags_of(tables: TokenizerTables, spec: TokenizerSpec) -> TokenizerTables:
    """The tables for a specification that differs only in the normalizer: nothing else depends on it."""
    settings = compile_normalizer(spec.normalizer).fields
    fields = (replace(field, group=settings) if field.name == "normalizer" else field for field in tables.fields)
    return replace(tables, fields=tuple(fields))


def tables_blob(tables: TokenizerTables) -> bytes:
    name = tables.cpp_type.encode()
    fields = fields_blob(tables.fields, dict(tables.arrays))
    return len(name).to_bytes(8, "little") + name + bytes(-len(name) % 8) + fields


_RULES = ("kept", "isolated", "contiguous", "removed", "with_previous", "with_next")
_NAMED = (
    {"true": 1, "false": 0, "nullptr": 0, "never": 0, "first": 1, "always": 2, "doubled": 3}
    | {"kFirst": -1, "kSecond": -2}
    | {name: i for i, name in enumerate(_RULES)}
)


def fields_blob(fields: Iterable[Field], arrays: dict[str, np.ndarray]) -> bytes:
    def field(one: Field) -> bytes:
        if one.group is not None:
            return fields_blob(one.group, arrays)
        if one.array is not None:
            data = arrays[one.array].tobytes()
            return len(data).to_bytes(8, "little") + data + bytes(-len(data) % 8)
        value = _NAMED.get((one.literal or "").rpartition("::")[2])
        number = int((one.literal or "").rstrip("u"), 0) if value is None else value
        return (number % 2**64).to_bytes(8, "little")

    return b"".join(map(field, fields))


def _request(capacity: int, plain_text: bool, *texts: bytes) -> bytes:
    # NFKC makes 30 bytes and three spaces of three bytes; each byte may become a token, each space U+2581's three
    room = 13 * sum(map(len, texts)) + 8
    head = np.array([len(texts) - 1, plain_text, min(capacity, room)], np.uint32).tobytes()
    return head + b"".join(len(text).to_bytes(4, "little") + text for text in texts)


class Decoding:
    """The C++ decoder, by way of the driver."""

    def __init__(self, spec: TokenizerSpec, decoder: DecoderSpec) -> None:
        tables = compile_tokenizer(spec)
        self.part = compile_decoder(spec, decoder, tables)
        self._blob = tables_blob(tables) + fields_blob(self.part.fields, dict(self.part.arrays))

    def decode(self, sequences: Sequence[Sequence[int]], skip_special: bool = False) -> list[list[bytes]]:
        """Of each sequence the parts that the ids complete, and what is left behind them."""
        return self._answers([[skip_special, len(ids), *ids] for ids in sequences], sequences, "--decode")

    def join(self, behind: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[list[bytes]]:
        """The same where Moses' rules join words, each behind a prompt, without special tokens."""
        requests = [[True, len(prompt), *prompt, len(ids), *ids] for prompt, ids in behind]
        return self._answers(requests, [ids for _, ids in behind], "--join")

    def _answers(
        self, requests: Sequence[Sequence[int]], sequences: Sequence[Sequence[int]], option: str
    ) -> list[list[bytes]]:
        asked = b"".join(np.array(request, np.int64).astype(np.int32).tobytes() for request in requests)
        answer = run_driver(self._blob + asked, option).stdout
        decoded_parts = []
        at = 0
        for ids in sequences:
            sizes = np.frombuffer(answer, np.uint32, len(ids) + 1, at)
            ends = at + 4 * len(sizes) + np.cumsum(sizes)
            decoded_parts.append([answer[end - size : end] for size, end in zip(sizes, ends, strict=True)])
            at = int(ends[-1])
        assert at == len(answer)
        return decoded_parts


class Wheel:
    """The reference. Texts are bytes; what is not UTF-8 is replaced as Python does."""

    def __init__(self, spec: TokenizerSpec) -> None:
        self._tokenizer = wheel_tokenizer(spec)

    def encode(self, texts: Sequence[bytes], capacity: int = UNLIMITED, plain_text: bool = False) -> list[Result]:
        return self._encode([(text,) for text in texts], capacity, plain_text)

    def encode_pairs(
        self, pairs: Sequence[tuple[bytes, bytes]], capacity: int = UNLIMITED, plain_text: bool = False
    ) -> list[Result]:
        return self._encode(pairs, capacity, plain_text)

    def _encode(self, inputs: Sequence[tuple[bytes, ...]], capacity: int, plain_text: bool) -> list[Result]:
        self._tokenizer.encode_special_tokens = plain_text
        self._tokenizer.enable_truncation(capacity)
        readings = [[decoded(text) for text in texts] for texts in inputs]
        batch = [texts[0][0] if len(texts) == 1 else (texts[0][0], texts[1][0]) for texts in readings]
        results = []
        for encoding, texts in zip(self._tokenizer.encode_batch(batch), readings, strict=True):
            # By bytes() and fromiter(): np.array() asks each number for its type, which takes sweeps as long again.
            segments = np.frombuffer(bytes(encoding.type_ids), np.uint8)
            characters = np.fromiter(chain.from_iterable(encoding.offsets), np.int64).reshape(-1, 2)
            if len(texts) == 1:
                offsets = texts[0][1][characters]
            else:
                which = np.array([number or 0 for number in encoding.sequence_ids], np.uint8)
                offsets = _pair_offsets(characters, which, texts)
            offsets[np.frombuffer(bytes(encoding.special_tokens_mask), bool)] = 0
            ids = np.fromiter(encoding.ids, np.int32)
            results.append(Result(ids, offsets, segments, bool(encoding.overflowing)))
        return results


def _pair_offsets(characters: np.ndarray, which: np.ndarray, texts: Sequence[tuple[str, np.ndarray]]) -> np.ndarray:
    offsets = np.zeros_like(characters)
    for number, (_, begins) in enumerate(texts):
        offsets[which == number] = begins[characters[which == number]]
    return offsets


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
    spec: TokenizerSpec, texts: Sequence[bytes], capacity: int = UNLIMITED, plain_text: bool = False
) -> list[Result]:
    """Compares one after the other, single texts; gives the common results."""
    ours = Runtime(spec).encode(texts, capacity, plain_text)
    found = differences(texts, ours, Wheel(spec).encode(texts, capacity, plain_text))
    assert not found, f"{len(found)} of {len(texts)} texts differ\n" + "\n".join(found[:10])
    return ours


def assert_same_unless_cut(spec: TokenizerSpec, texts: Sequence[bytes], short: int = 300) -> None:
    """The same for what may have words that are longer than the fixed memory once they are normalized: these are cut,
    which is said, and may differ. No text of up to `short` bytes is cut."""
    ours = Runtime(spec).encode(texts)
    whole = [i for i, result in enumerate(ours) if not result.cut_word]
    assert all(len(texts[i]) > short for i in set(range(len(texts))).difference(whole))
    assert_same(spec, [texts[i] for i in whole])


def assert_same_however_short(spec: TokenizerSpec, texts: Sequence[bytes], single: range, pair: range) -> None:
    """The texts, and each with each, cut at these lengths."""
    ours, theirs = Runtime(spec), Wheel(spec)
    for capacity in single:
        assert not differences(texts, ours.encode(texts, capacity), theirs.encode(texts, capacity))
    pairs = [(a, b) for a in texts for b in texts]
    for capacity in pair:
        assert not differences(pairs, ours.encode_pairs(pairs, capacity), theirs.encode_pairs(pairs, capacity))


def assert_texts_of_pieces(spec: TokenizerSpec) -> None:
    """A piece without text has none in the runtime either."""
    assert Runtime(spec).pieces() == [(piece or "").encode() for piece in spec.model.pieces]


def random_source() -> random.Random:
    """Seeded by ETCH_SEED, else by the test's name where a sample is run, else afresh.

    The seed is printed, and pytest shows it with a failure.
    """
    drawn = random.SystemRandom().randrange(2**32)
    if sample := os.environ.get("ETCH_SAMPLE"):
        drawn = random.Random(f"{sample} {os.environ.get('PYTEST_CURRENT_TEST', '')}").randrange(2**32)
    seed = int(os.environ.get("ETCH_SEED") or drawn)
    print(f"ETCH_SEED={seed}")
    return random.Random(seed)
