# SPDX-License-Identifier: Apache-2.0
"""The host's side of the code for GPUs keeps the promises of the runtime: of the C library it needs the same four
functions, beside them only the CUDA runtime and cuBLASLt; no allocator, no exceptions, no state, no start-up code."""

from __future__ import annotations

import re

from archives import Object, objects_of
from classify_program import built_file
from test_promise_symbols import ETCH, FORBIDDEN, LIBRARY_FUNCTIONS, LINKER, STATE

CUDA = re.compile(r"cuda[A-Z]\w+|cublasLt[A-Z]\w+")
SOURCES = {"compute", "device", "matmul", "runner", "session", "status_of", "tokenizer", "upload", "weights"}


def objects() -> tuple[Object, ...]:
    return objects_of(built_file("libetch_cuda_on_host.a"))


def test_every_source_was_read() -> None:
    assert {one.name.split(".")[0] for one in objects()} == SOURCES


def test_only_cuda_and_four_library_functions_are_needed() -> None:
    needed = {s.name for one in objects() for s in one.symbols if s.kind in "Uwv"}
    assert "cudaMallocHost" in needed
    foreign = {name for name in needed if not ETCH.match(name) and not CUDA.fullmatch(name)} - LINKER
    assert foreign <= LIBRARY_FUNCTIONS, sorted(foreign - LIBRARY_FUNCTIONS)


def test_nothing_of_an_allocator_or_of_exceptions_is_named() -> None:
    named = {s.name for one in objects() for s in one.symbols if FORBIDDEN.search(s.name)}
    assert not {name for name in named if not ETCH.match(name) and not CUDA.fullmatch(name)}, sorted(named)


def test_no_object_has_state_or_start_up_code() -> None:
    found = [f"{one}: {name} {size}" for one in objects() for name, size in one.sections if STATE.match(name) and size]
    assert not found, found
