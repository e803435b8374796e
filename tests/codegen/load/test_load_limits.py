# SPDX-License-Identifier: Apache-2.0
"""Refusals are quick and small however large the file, and no change of a byte ends in anything but a refusal."""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from malformed import CONFIG, MAX_SECONDS, TOKENIZER, TOKENIZER_CONFIG, WEIGHTS, load_and_take
from sampling import one_in
from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors, write_tiny_checkpoint

from codegen.errors import EtchError
from codegen.load.folder import load_checkpoint

MAX_BYTES = 1 << 30
REPOSITORY = Path(__file__).parents[3]
MEASURE = """
import sys, time
from codegen.errors import EtchError
from codegen.load.folder import load_checkpoint
start = time.process_time()  # of this process: a busy machine must not fail the test
try:
    tensors = load_checkpoint(sys.argv[1]).tensors
    taken = [tensors.take(name, tensors.info(name)[1]) for name in tensors.names]
    code = "accepted"
except EtchError as error:
    code = error.code
seconds = time.process_time() - start
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(code, seconds, int(peak) * 1024)
"""
MIB = 1 << 20
EMOJI = "\U0001f600".encode()


def weights(header: bytes, size: int | None = None) -> Callable[[Path], None]:
    """A weights file with this header, sparse up to `size`."""

    def apply(folder: Path) -> None:
        with (folder / WEIGHTS).open("wb") as file:
            file.write(struct.pack("<Q", len(header)) + header)
            if size is not None:
                file.truncate(size)

    return apply


def text(name: str, content: Callable[[], bytes]) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(content())


def one_tensor(size: int) -> bytes:
    return b'{"x":{"dtype":"F32","shape":[%d],"data_offsets":[0,%d]}}' % (size // 4, size)


def padded(opening: bytes, filler: bytes, closing: bytes, size: int) -> bytes:
    count = (size - len(opening) - len(closing)) // len(filler)
    return opening + filler * count + closing


HEAVY: dict[str, tuple[Callable[[Path], None], str]] = {
    "64 MiB of empty lists": (text(CONFIG, lambda: padded(b'{"a":[', b"[],", b"0]}", 64 * MIB)), "json-too-large"),
    "64 MiB of empty objects": (text(TOKENIZER, lambda: padded(b'{"a":[', b"{},", b"0]}", 64 * MIB)), "json-too-large"),
    "a million objects": (
        text(TOKENIZER, lambda: b'{"a":[' + b'{"a":0},' * 499_990 + b"0]}"),
        "tokenizer-field",
    ),
    "64 MiB of opening brackets": (text(CONFIG, lambda: b"[" * (64 * MIB)), "json-too-large"),
    "64 MiB in one string": (text(CONFIG, lambda: padded(b'{"a":"', b"x", b'"}', 64 * MIB)), "config-missing"),
    "64 MiB in one wide string": (
        text(TOKENIZER, lambda: padded(b'{"' + EMOJI, b"x", b'":0}', 64 * MIB)),
        "tokenizer-field",
    ),
    "64 MiB of escapes": (
        text(TOKENIZER, lambda: padded(b'{"' + EMOJI, b"\\u4e2d", b'":0}', 64 * MIB - 8)),
        "tokenizer-field",
    ),
    "64 MiB number": (text(CONFIG, lambda: padded(b'{"a":', b"9", b"}", 64 * MIB)), "json-number-too-long"),
    "16 MiB of empty lines": (text("vocab.txt", lambda: b"\n" * (16 * MIB)), "vocab-too-large"),
    "16 MiB of wide lines": (
        text("vocab.txt", lambda: padded(EMOJI, b"x" * 23 + b"\n", b"", 16 * MIB)),
        "tokenizer-conflict",
    ),
    "64 MiB vocab.txt": (text("vocab.txt", lambda: b"\n" * (64 * MIB)), "file-too-large"),
    "100 MiB header of spaces": (weights(padded(b"{", b" ", b"}", 100 * MIB)), "accepted"),
    "100 MiB header, one name": (weights(padded(b'{"', b"x", b'":0}', 100 * MIB)), "safetensors-entry"),
    "100 MiB header, wide name": (weights(padded(b'{"' + EMOJI, b"x", b'":0}', 100 * MIB)), "json-too-large"),
    "64 MiB header, wide name": (weights(padded(b'{"' + EMOJI, b"x", b'":0}', 64 * MIB)), "safetensors-entry"),
    "100 MiB header of entries": (weights(padded(b'{"a":0', b',"b":0', b"}", 100 * MIB)), "json-too-large"),
    "1 TiB of zeros": (weights(one_tensor(1 << 40), 1 << 40), "file-too-large"),
    "1 TiB claimed": (weights(one_tensor(1 << 40)), "safetensors-data-truncated"),
    "600 MiB tensor": (weights(one_tensor(600 * MIB), 8 + len(one_tensor(600 * MIB)) + 600 * MIB), "accepted"),
}


@pytest.mark.parametrize("name", one_in(3, HEAVY))
def test_time_and_memory(name: str, tmp_path: Path) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("peak memory is read from /proc")
    change, code = HEAVY[name]
    write_tiny_checkpoint(tmp_path)
    change(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    found, seconds, peak = done.stdout.split()
    assert found == code
    assert float(seconds) < MAX_SECONDS
    assert int(peak) < MAX_BYTES


@pytest.mark.parametrize("name", [CONFIG, TOKENIZER, TOKENIZER_CONFIG, WEIGHTS])
def test_changed_bytes_never_end_in_a_traceback(name: str, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    good = (tmp_path / name).read_bytes()
    limit = min(len(good), 8 + 4096)  # of the weights, mostly the header
    source = random.Random(name)
    refused = 0
    for _ in range(300):
        bad = bytearray(good)
        for _ in range(source.randint(1, 3)):
            place = source.randrange(min(limit, len(bad)))
            kind = source.randrange(4)
            if kind == 0:
                bad[place] = source.randrange(256)
            elif kind == 1:
                bad[place : place + source.randrange(1, 9)] = b""
            elif kind == 2:
                other = source.randrange(limit)
                bad[place:place] = good[other : other + source.randrange(1, 40)]
            else:
                bad[place:place] = source.choice(
                    [b"null", b"-1", b"1e9", b"[]", b"{}", b'""', b"true", b"NaN", b'"', b","]
                )
        (tmp_path / name).write_bytes(bytes(bad))
        try:
            load_and_take(tmp_path)
        except EtchError as error:
            assert error.stage == "load"
            assert error.file is not None or error.code in {"tokenizer-missing"}
            refused += 1
    assert refused > 100


def swap_value(values: object, source: random.Random) -> object:
    """A JSON value with one place replaced by a value of another kind."""
    if isinstance(values, dict) and values and source.random() < 0.9:
        key = source.choice(sorted(values))
        return {**values, key: swap_value(values[key], source)}
    if isinstance(values, list) and values and source.random() < 0.9:
        place = source.randrange(len(values))
        return [*values[:place], swap_value(values[place], source), *values[place + 1 :]]
    return source.choice(
        [None, True, False, 0, 1, -1, 2.5, 10**12, 1e300, "", "x", "[SEP]", [], [1], ["a"], {}, {"a": 1}]
    )


@pytest.mark.parametrize("name", [CONFIG, TOKENIZER, TOKENIZER_CONFIG, WEIGHTS])
def test_changed_values_never_end_in_a_traceback(name: str, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    if name == WEIGHTS:
        good, data = read_raw_safetensors(tmp_path / name)
    else:
        good, data = json.loads((tmp_path / name).read_text()), b""
    source = random.Random(name)
    refused = 0
    for _ in range(500):
        bad = swap_value(good, source)
        if name == WEIGHTS:
            write_raw_safetensors(tmp_path / name, json.dumps(bad).encode(), data)
        else:
            (tmp_path / name).write_text(json.dumps(bad))
        try:
            load_and_take(tmp_path)
        except EtchError:
            refused += 1
    assert refused > (20 if name == TOKENIZER_CONFIG else 100)


def test_a_real_checkpoint() -> None:
    models = os.environ.get("ETCH_MODELS")
    if not models:
        pytest.skip("ETCH_MODELS is not set")
    folder = Path(models) / "minilm_l6_agnews"
    checkpoint = load_and_take(folder)
    assert checkpoint.config.labels() == ("World", "Sports", "Business", "Sci/Tech")
    assert checkpoint.default_max_tokens == 512
    assert len(checkpoint.tokenizer.model.pieces) == 30522
    assert checkpoint.notes == ("tokenizer.json truncates at 96 tokens: not used",)
    assert load_checkpoint(folder).digest == checkpoint.digest
