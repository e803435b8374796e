# SPDX-License-Identifier: Apache-2.0
"""GGUF files that are damaged, or lie: each is refused by name, or is a model; none takes time or memory that its size
does not account for."""

from __future__ import annotations

import resource
import shutil
import struct
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

gguf = pytest.importorskip("gguf")

from gguf import GGMLQuantizationType as Type  # noqa: E402
from gguf_files import write_gguf  # noqa: E402

from codegen import cli  # noqa: E402
from codegen.convert.gguf.file import open_gguf  # noqa: E402
from codegen.convert.gguf.folder import write_folder  # noqa: E402
from codegen.errors import EtchError  # noqa: E402
from codegen.readable import check_readable  # noqa: E402

RECORDED = Path(__file__).resolve().parents[1]
VARIANTS = {
    "generation/llama/texts": "llama-bpe",
    "generation/gemma2/own": None,
    "generation/gpt2/texts": "gpt-2",
    "generation/phi3/long": None,
    "recorded/bert/poolings": None,
}
_SECONDS = 5  # each takes hundredths


def written(variant: str, folder: Path) -> bytes:
    pre = VARIANTS[variant]
    add: Callable[[gguf.GGUFWriter], None] = lambda writer: pre and writer.add_tokenizer_pre(pre)  # noqa: E731
    return write_gguf(RECORDED / variant, folder / "whole.gguf", lambda _: Type.F16, add=add).read_bytes()


def code_of(raw: bytes, folder: Path) -> str | None:
    """Of the refusal; None where it is a model, which may be another one."""
    (folder / "model.gguf").write_bytes(raw)
    out = folder / "out"
    out.mkdir()
    begin = time.process_time()
    try:
        write_folder(folder / "model.gguf", out)
        check_readable(out, lambda _: None)
        return None
    except EtchError as error:
        assert str(error)
        return error.code
    finally:
        shutil.rmtree(out)
        assert time.process_time() - begin < _SECONDS


@pytest.mark.parametrize("variant", VARIANTS)
def test_wherever_a_file_is_cut(variant: str, tmp_path: Path) -> None:
    raw = written(variant, tmp_path)
    for length in np.random.default_rng(1).integers(0, len(raw), 60):
        code = code_of(raw[:length], tmp_path)
        assert code == "gguf-malformed" or length > len(raw) - 32, length  # behind the last tensor it is filled up


@pytest.mark.parametrize("variant", VARIANTS)
def test_any_damage_is_refused_or_read(variant: str, tmp_path: Path) -> None:
    """Bits of the header, its numbers, and bytes anywhere."""
    random = np.random.default_rng(2)
    raw = written(variant, tmp_path)
    header = raw.rindex(b".weight") + 64
    numbers = [b"\xff" * 8, b"\0" * 8, b"\xff\xff\xff\x7f\0\0\0\0", b"\0\0\0\0\1\0\0\0"]
    refused = 0
    for _ in range(50):
        damaged = [bytearray(raw) for _ in range(3)]
        for place in random.integers(0, header, random.integers(1, 4)):
            damaged[0][place] ^= 1 << int(random.integers(0, 8))
        place = int(random.integers(0, header - 8))
        damaged[1][place : place + 8] = numbers[int(random.integers(0, len(numbers)))]
        for place in random.integers(0, len(raw), 3):
            damaged[2][place] = random.integers(0, 256)
        refused += sum(code_of(bytes(each), tmp_path) is not None for each in damaged)
    assert refused > 40


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def number(key: str, value: int) -> bytes:
    return text(key) + struct.pack("<II", 4, value)


def file_of(*keys: bytes, tensors: tuple[bytes, ...] = (), version: int = 3, data: bytes = b"") -> bytes:
    raw = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(keys)) + b"".join(keys) + b"".join(tensors)
    return raw + b"\0" * (-len(raw) % 32) + data


def tensor(name: str, dimensions: tuple[int, ...], kind: int = 0, offset: int = 0) -> bytes:
    return text(name) + struct.pack(f"<I{len(dimensions)}QIQ", len(dimensions), *dimensions, kind, offset)


KEY = number("general.alignment", 32)
LIES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "has 0 bytes"),
    "another file": (b"GGML" + bytes(40), "does not begin with 'GGUF'"),
    "version 1": (file_of(version=1), "its version is 1"),
    "version 4": (file_of(version=4), "its version is 4"),
    "big-endian": (file_of(version=3 << 24), "big-endian"),
    "many keys": (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60), "at most 65536 of each"),
    "many tensors": (b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 0), "at most 65536 of each"),
    "a long key": (file_of(struct.pack("<Q", 1 << 62) + bytes(64)), "a key has 4611686018427387904 bytes"),
    "no UTF-8": (file_of(struct.pack("<Q", 2) + b"\xff\xfe" + bytes(32)), "a key is not UTF-8"),
    "a key twice": (file_of(KEY, KEY), "is there twice"),
    "an unknown type": (file_of(text("a") + struct.pack("<II", 13, 0)), "an unknown type, 13"),
    "an array of arrays": (file_of(text("a") + struct.pack("<IIQ", 9, 9, 1) + bytes(32)), "an unknown type, 9"),
    "a long array": (file_of(text("a") + struct.pack("<IIQ", 9, 0, 1 << 62)), "behind the end of the file"),
    "an array that wraps": (file_of(text("a") + struct.pack("<IIQ", 9, 10, (1 << 61) + 1)), "behind the end"),
    "a long list": (file_of(text("a") + struct.pack("<IIQ", 9, 8, 1 << 61)), "behind the end of the file"),
    "a long text": (file_of(text("a") + struct.pack("<IQ", 8, 1 << 27) + bytes(32)), "behind the end of the file"),
    "neither true nor false": (file_of(text("a") + struct.pack("<IB", 7, 2)), "neither true nor false"),
    "an alignment of 0": (file_of(number("general.alignment", 0)), "a power of two"),
    "an alignment of 24": (file_of(number("general.alignment", 24)), "a power of two"),
    "a large alignment": (file_of(number("general.alignment", 1 << 31)), "a power of two"),
    "no dimensions": (file_of(tensors=(tensor("w", ()),)), "0 dimensions"),
    "many dimensions": (file_of(tensors=(tensor("w", (1,) * 5),)), "5 dimensions"),
    "a dimension of 0": (file_of(tensors=(tensor("w", (4, 0)),)), "has no values"),
    "large dimensions": (file_of(tensors=(tensor("w", (1 << 32, 1 << 32)),)), "or too many"),
    "dimensions that wrap": (file_of(tensors=(tensor("w", (1 << 63, 2)),)), "or too many"),
    "half a block": (file_of(tensors=(tensor("w", (48,), 8),)), "in blocks of 32"),
    "an unknown kind": (file_of(tensors=(tensor("w", (4,), 77),)), "has the number 77"),
    "a removed kind": (file_of(tensors=(tensor("w", (32,), 4),)), "has the number 4"),
    "a tensor twice": (file_of(tensors=(tensor("w", (4,)), tensor("w", (4,)))), "have this name"),
    "an offset between": (file_of(tensors=(tensor("w", (4,), 0, 8),), data=bytes(64)), "no multiple of 32"),
    "an offset behind": (file_of(tensors=(tensor("w", (4,), 0, 1 << 62),), data=bytes(64)), "the file has 64 bytes"),
    "one in the other": (
        file_of(tensors=(tensor("v", (16,)), tensor("w", (4,), 0, 32)), data=bytes(64)),
        "overlap another tensor's",
    ),
    "no architecture": (file_of(KEY), "'general.architecture' is missing"),
    "an architecture that is a number": (file_of(number("general.architecture", 1)), "must be a text, got 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", LIES)
def test_lies_of_a_header(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw, part = LIES[name]
    file = tmp_path / "model.gguf"
    file.write_bytes(raw)
    assert cli.main(["convert", str(file), "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert told.startswith("etch: error[gguf-")
    assert part in told
    assert not (tmp_path / "out").exists()


def test_texts_that_take_more_memory_than_the_file(tmp_path: Path) -> None:
    """Of Python each empty one takes six times what it takes there."""
    count = (1 << 22) + 1
    raw = file_of(text("a") + struct.pack("<IIQ", 9, 8, count) + bytes(8 * count))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert code_of(raw, tmp_path) == "gguf-malformed"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20  # KiB


@pytest.mark.parametrize("key", ["block_count", "attention.head_count", "context_length", "embedding_length"])
def test_numbers_that_would_ask_for_more_than_there_is(key: str, tmp_path: Path) -> None:
    raw = written("generation/gemma2/own", tmp_path)
    place = raw.index(f"gemma2.{key}".encode()) + len(f"gemma2.{key}") + 4
    assert code_of(raw[:place] + struct.pack("<I", (1 << 31) - 1) + raw[place + 4 :], tmp_path) is not None


def test_version_2_is_read_as_3(tmp_path: Path) -> None:
    raw = written("generation/gemma2/own", tmp_path)
    assert code_of(raw[:4] + struct.pack("<I", 2) + raw[8:], tmp_path) is None


def test_a_pipe_and_a_link(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "model.gguf")
    with pytest.raises(EtchError) as caught, open_gguf(tmp_path / "model.gguf"):
        pass
    assert caught.value.code == "not-a-regular-file"
    written("generation/gemma2/own", tmp_path)
    (tmp_path / "link.gguf").symlink_to(tmp_path / "whole.gguf")  # as a cache of the Hub has them
    with open_gguf(tmp_path / "link.gguf") as file:
        assert file.name == "link.gguf"
