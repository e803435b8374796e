# SPDX-License-Identifier: Apache-2.0
"""Model names become a namespace, file names and symbols: what is allowed, what is refused."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hostile import HOSTILE

from codegen.errors import EtchError
from codegen.names import checked_name, name_from_folder

ROOT = Path(__file__).resolve().parents[2]
ALLOWED = ("a", "agnews", "minilm_l6_agnews", "x9", "a_b_c", "b" * 40)
KEYWORDS = (
    *("class", "int", "namespace", "new", "default", "operator", "this", "not", "xor_eq", "char8_t", "char16_t"),
    *("char32_t", "wchar_t", "thread_local", "co_await", "constinit", "requires", "asm", "auto", "float", "void"),
    *(
        "restrict",
        "linux",
        "unix",
        "errno",
        "stdout",
        "static_assert",
        "reinterpret_cast",
        "export",
        "typename",
        "bool",
        "true",
    ),
)
OWN_NAMES = (
    *("etch", "std", "abi1", "abi", "tokenizer", "ops", "argmax", "piece", "cuda", "agnews_cuda"),
    *("scalar", "sse2", "avx2", "avx_vnni", "avx512_vnni", "amx_int8", "plain", "dsp", "mve"),
    *("neon", "neon_dotprod", "neon_i8mm", "wasm_simd", "rvv"),
)
MALFORMED = (
    "",
    "A",
    "Agnews",
    "9x",
    "_x",
    "x_",
    "a__b",
    "a-b",
    "a b",
    "a.b",
    "é",
    "ａ",
    "a\n",
    "a\0",
    "b" * 41,
    "../x",
)


@pytest.mark.parametrize("name", ALLOWED)
def test_allowed(name: str) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize("name", [*KEYWORDS, *OWN_NAMES, *MALFORMED, *HOSTILE], ids=lambda name: repr(name)[:30])
def test_refused(name: str) -> None:
    with pytest.raises(EtchError) as caught:
        checked_name(name)
    error = caught.value
    assert (error.code, error.stage) == ("name-not-allowed", "arguments")
    assert str(error).isprintable()
    assert len(str(error)) < 800


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("agnews", "agnews"),
        ("MiniLM-L6.v2", "minilm_l6_v2"),
        ("--my model--", "my_model"),
        ("a  b", "a_b"),
        ("x/../y", "y"),
        ("x/.", "x"),
        ("...x..", "x"),
    ],
)
def test_from_a_folder(folder: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    assert name_from_folder(tmp_path / folder, pytest.fail) == name


@pytest.mark.parametrize(
    ("folder", "name"),
    [("café", "cafe"), ("cafe\u0301", "cafe"), ("Modèle n°2", "modele_n_2"), ("Größe", "grosse"), ("søk-Å", "s_k_a")],
)
def test_from_a_folder_of_other_letters(folder: str, name: str, tmp_path: Path) -> None:
    """The user is told the name: `ø` has no letter of ASCII, and not everybody would write `ö` as `o`."""
    said: list[str] = []
    assert name_from_folder(tmp_path / folder, said.append) == name
    assert said == [f"name         {name}, of the folder '{folder}' (--name NAME: another one)"]


def test_from_a_folder_that_is_a_link_to_itself(tmp_path: Path) -> None:
    """What is wrong with it is said where it would be written."""
    (tmp_path / "loop").symlink_to("loop")
    assert name_from_folder(tmp_path / "loop", pytest.fail) == "loop"
    assert name_from_folder(tmp_path / "loop" / "model", pytest.fail) == "model"


@pytest.mark.parametrize("folder", ["9lives", "class", "東京", "-", "b" * 41, "/"])
def test_folders_that_suggest_none(folder: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        name_from_folder(tmp_path / folder, pytest.fail)
    assert caught.value.code == "name-not-allowed"
    assert "--name" in str(caught.value)


def allowed(name: str) -> bool:
    try:
        return checked_name(name) == name
    except EtchError:
        return False


def test_names_of_the_runtime_are_taken(tmp_path: Path) -> None:
    """What the public headers declare in namespace etch is ambiguous with a model's namespace of that name."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++")
    headers = sorted((ROOT / "runtime/include").rglob("*.hpp"))
    text = "".join(re.sub(r"//.*", "", header.read_text(encoding="utf-8")) for header in headers)
    words = sorted(set(re.findall(r"\b[a-z][a-z0-9_]*\b", text)))
    lines = [f'#include "{header}"' for header in headers]
    lines += [f"namespace n{index} {{ using etch::ETCH_ABI_NAMESPACE::{word}; }}" for index, word in enumerate(words)]
    source = tmp_path / "names.cpp"
    source.write_text("\n".join(lines) + "\n")
    include = f"-I{ROOT / 'runtime/include'}"
    command = [compiler, "-std=c++17", "-fsyntax-only", "-fmax-errors=0", include, source]
    errors = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    wrong = {int(number) - len(headers) - 1 for number in re.findall(r"names\.cpp:(\d+):\d+: error", errors)}
    declared = [word for index, word in enumerate(words) if index not in wrong]
    assert "argmax" in declared
    assert "uint32_t" not in declared
    assert [word for word in declared if allowed(word)] == []


def test_libraries_of_the_build_are_taken() -> None:
    """etch_NAME is a model's library: a model must not be called like one of the build's own."""
    files = [ROOT / "CMakeLists.txt", *(ROOT / "runtime").rglob("CMakeLists.txt"), *(ROOT / "runtime").rglob("*.cmake")]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    targets = set(re.findall(r"add_library\(etch_([a-z0-9_]+)", text)) | set(re.findall(r"runtimes .*etch_(\w+)", text))
    assert {"hosted", "flags", "counted"} <= targets
    assert [name for name in sorted(targets) if allowed(name)] == []


def test_headers_of_the_c_library_are_taken(tmp_path: Path) -> None:
    """A model's C header lies on the include path under the model's name."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++")
    source = tmp_path / "all.cpp"
    source.write_text("#include <bits/stdc++.h>\n#include <pthread.h>\n#include <unistd.h>\n")
    listed = subprocess.run([compiler, "-std=c++17", "-M", source], capture_output=True, text=True, check=True).stdout
    # Of headers in folders, such as bits/time.h, the folder is part of the name that is included.
    names = set(re.findall(r"/include(?:-fixed)?/(?:[a-z0-9_]+-linux-gnu/)?(\w+)\.h\b", listed))
    assert {"stdio", "string", "time", "features"} <= names
    assert [name for name in sorted(names) if allowed(name)] == []
