# SPDX-License-Identifier: Apache-2.0
"""What the archives need, hold and export: no allocator, no state, no exceptions, no instruction that changes bits."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from archives import all_objects, archives, instructions_of, objects_of, run
from classify_program import ROOT, build_folder, tool

# The four that GCC and clang may call in any program.
LIBRARY_FUNCTIONS = {"memcpy", "memmove", "memset", "memcmp"}
ETCH = re.compile(r"_Z\w*4etch|etch_\w+$")  # the namespace's mangled names, the tables' labels
# How position-independent code finds constants: made by the linker, not a function.
LINKER = {"_GLOBAL_OFFSET_TABLE_"}
FORBIDDEN = re.compile(
    r"malloc|calloc|realloc|\bfree\b|_?sbrk|mmap|_Zn[wa]|_Zd[la]|__cxa_|__gxx_personality|_Unwind|getenv|printf|puts"
    r"|abort|exit|__stack_chk|__tls_get_addr|pthread"
)
ISA_OBJECTS = re.compile(r"(avx\w+|sse\w+|neon\w*|rvv|amx\w*)\.cpp\.o$")
WIDE_OBJECTS = re.compile(r"(avx\w+|amx\w*)\.cpp\.o$")
# Constants that hold addresses are written once, by the loader, and read-only from then on: .data.rel.ro is allowed.
STATE = re.compile(r"\.(data(?!\.rel\.ro)|bss|tdata|tbss|(preinit|init|fini)(_array)?|ctors|dtors)(\..*)?$")
FUSED = re.compile(r"v?fn?m(add|sub|addsub|subadd)(\d{3})?[ps][sdh]$|fn?m(add|sub|la|ls)$|vfn?m[as]\b")


def test_only_four_library_functions_are_needed() -> None:
    needed = {s.name for one in all_objects() for s in one.symbols if s.kind in "Uwv"}
    foreign = {name for name in needed if not ETCH.match(name)} - LINKER
    assert foreign <= LIBRARY_FUNCTIONS, sorted(foreign - LIBRARY_FUNCTIONS)


def command_of(source: str) -> list[str]:
    """How the build compiles a source of the runtime, without the name of its object."""
    commands = json.loads((build_folder() / "compile_commands.json").read_text())
    taken = next((one for one in commands if one["file"].endswith(f"runtime/src/{source}")), None)
    if taken is None:
        pytest.skip(f"the build compiles no {source}")
    words = shlex.split(taken["command"])
    at = words.index("-o")
    return words[:at] + words[at + 2 :]


@pytest.mark.parametrize("source", ["kernels/avx2/avx2.cpp", "tokenizer/models/byte_level_bpe.cpp"])
def test_a_compiler_that_hardens_adds_no_call(source: str, tmp_path: Path) -> None:
    """As Ubuntu's does by itself: boards' libraries lack what it would call, and no stack budget holds it."""
    compiler, *words = command_of(source)
    done = run(compiler, "-fstack-protector-all", "-D_FORTIFY_SOURCE=3", *words, "-o", tmp_path / "hard.o")
    assert done.returncode == 0, done.stderr
    needed = run(tool("nm"), "-u", tmp_path / "hard.o").stdout.split()[1::2]
    assert needed and {name for name in needed if not ETCH.match(name)} - LINKER <= LIBRARY_FUNCTIONS


PARTS_OF_FAST_MATH = [
    ("-ffast-math",),
    ("-ffast-math", "-fno-finite-math-only"),  # by which __FAST_MATH__ is not defined
    ("-funsafe-math-optimizations",),
    ("-ffinite-math-only",),
]
CLANG_TELLS = [("-ffast-math",), ("-ffinite-math-only",)]
HARMLESS = ("-fno-finite-math-only",)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_fast_math_among_the_users_flags_changes_no_instruction(compiler: str, tmp_path: Path) -> None:
    """They come before those of etch, which take it back, also from a compiler that defines no macro of its parts."""
    words = [word for word in command_of("similarity.cpp")[1:] if not word.startswith("-fcallgraph-info")]
    made = []
    for flags in [(), *PARTS_OF_FAST_MATH]:
        done = run(tool(compiler), *flags, *words, "-o", tmp_path / "fast.o")
        assert done.returncode == 0, done.stderr
        made.append((tmp_path / "fast.o").read_bytes())
    assert all(each == made[0] for each in made)


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        *product(["g++"], [*PARTS_OF_FAST_MATH, ("-freciprocal-math",), ("-fno-signed-zeros",), HARMLESS]),
        *product(["clang++"], [*CLANG_TELLS, HARMLESS]),
    ],
)
def test_fast_math_behind_them_stops_the_compiler(name: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    """Of GCC the macros tell every part, of clang the one without infinities."""
    compiler = tool(name)
    if name == "g++" and "clang" in run(compiler, "--version").stdout:
        pytest.skip("this g++ is clang")
    (tmp_path / "user.cpp").write_text('#include "etch/version.hpp"\n')
    include = f"-I{ROOT / 'runtime/include'}"
    done = run(compiler, "-std=c++17", "-fsyntax-only", include, *flags, tmp_path / "user.cpp")
    stopped = "#error" in done.stderr and "-ffast-math and its parts change results" in done.stderr
    assert (done.returncode != 0, stopped) == ((False, False) if flags == HARMLESS else (True, True))


def test_what_is_needed_of_etch_is_in_the_archives() -> None:
    defined = {s.name for one in all_objects() for s in one.symbols if s.kind not in "Uwv"}
    needed = {s.name for one in all_objects() for s in one.symbols if s.kind == "U" and ETCH.match(s.name)}
    assert needed <= defined, sorted(needed - defined)


def test_nothing_of_an_allocator_or_of_exceptions_is_named() -> None:
    named = {f"{one}: {s.name}" for one in all_objects() for s in one.symbols if FORBIDDEN.search(s.name)}
    # Names that merely contain a word, such as a function called abortable, would be ours.
    assert not {name for name in named if not ETCH.match(name.split(": ")[1])}, sorted(named)


def test_no_object_has_state_or_start_up_code() -> None:
    found = [
        f"{one}: {name} {size}" for one in all_objects() for name, size in one.sections if STATE.match(name) and size
    ]
    assert not found, found


def test_the_sections_were_read() -> None:
    names = Counter(name.split("._Z")[0] for one in all_objects() for name, size in one.sections if size)
    assert names[".text"] > 50
    assert names[".data.rel.ro"] > 2  # the kernel sets
    assert names[".rodata.etch_agnews"] == 1


# What a set lends, and to which: nothing else may need it.
LENT = re.compile(r"_ZN4etch4abi\d+\d+(avx2|avx512_vnni)6common\d+\w+$")
BORROWERS = {"avx2": {"avx_vnni.cpp.o"}, "avx512_vnni": {"amx_int8.cpp.o"}}


def test_objects_for_an_instruction_set_export_their_kernel_set_only() -> None:
    isa_objects = [one for one in all_objects() if ISA_OBJECTS.search(one.name)]
    for one in isa_objects:
        weak = [s.name for s in one.symbols if s.kind in "WwVvu"]
        assert not weak, f"{one}: the linker could take these for older processors: {weak}"
        exported = [s.name for s in one.symbols if s.kind.isupper() and s.kind != "U" and not LENT.match(s.name)]
        sets = [name for name in exported if re.fullmatch(r"_ZN4etch4abi\d+\d+k[A-Z]\w+E", name)]
        assert sets and sets == exported, exported
    if "libetch.a" in {path.name for path in archives()} and _is_x86():
        expected = {"amx_int8", "avx2", "avx512_vnni", "avx_vnni", "sse2"}
        assert {one.name.removesuffix(".cpp.o") for one in isa_objects} == expected


def test_what_a_set_lends_is_needed_by_its_borrowers_only() -> None:
    for one in all_objects():
        for symbol in one.symbols:
            if lent := LENT.match(symbol.name):
                borrows = symbol.kind == "U" and one.name in BORROWERS[lent[1]]
                assert borrows or one.name == f"{lent[1]}.cpp.o", f"{one}: {symbol}"


def test_no_fused_multiply_add() -> None:
    for archive in archives():
        for name, instructions in instructions_of(archive).items():
            fused = {mnemonic for mnemonic, _ in instructions if FUSED.match(mnemonic)}
            assert not fused, f"{archive.name}({name}): {fused}"


def test_wide_instructions_only_in_their_objects() -> None:
    for archive in archives():
        for name, instructions in instructions_of(archive).items():
            if not _is_x86():
                continue
            wide = {m for m, operands in instructions if re.search(r"%[yz]mm", operands) or _is_vex(m)}
            assert bool(wide) == bool(WIDE_OBJECTS.search(name)), f"{archive.name}({name}): {sorted(wide)[:5]}"
            if name.startswith(("avx2.", "avx_vnni.")):
                beyond = {
                    m for m, operands in instructions if re.search(r"%zmm|%k[0-7]|%[xy]mm(1[6-9]|[23]\d)", operands)
                }
                assert not beyond, f"{archive.name}({name}): beyond AVX2: {beyond}"


def _is_x86() -> bool:
    return any("rsp" in operands for rows in instructions_of(archives()[0]).values() for _, operands in rows[:200])


def _is_vex(mnemonic: str) -> bool:
    # Of the instructions without VEX prefix only the segment and virtual machine ones begin with v.
    return mnemonic.startswith("v") and mnemonic not in {"verr", "verw", "vmcall", "vmlaunch"}


def test_the_disassembly_was_read() -> None:
    counts = {name: len(rows) for archive in archives() for name, rows in instructions_of(archive).items()}
    assert sum(counts.values()) > 5000
    with_code = {one.name for archive in archives() for one in objects_of(archive) if _has_code(one.sections)}
    assert with_code <= {name for name, count in counts.items() if count}


def _has_code(sections: tuple[tuple[str, int], ...]) -> bool:
    return any(name.startswith(".text") and size for name, size in sections)
