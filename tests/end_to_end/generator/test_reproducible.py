# SPDX-License-Identifier: Apache-2.0
"""Generation gives the same bytes whatever the machine, the environment and the place of the folders."""

from __future__ import annotations

import json
import os
import platform
import random
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from classify_program import ROOT
from cpu import cpu_flags
from folder_content import content
from generator_program import etch
from sampling import one_in, sampled
from tiny_checkpoint import read_raw_safetensors, split_weights, write_raw_safetensors, write_tiny_checkpoint

ENVIRONMENTS: dict[str, dict[str, str]] = {
    "hash seed 0": {"PYTHONHASHSEED": "0"},
    "hash seed 1": {"PYTHONHASHSEED": "1"},
    "hash seed random": {"PYTHONHASHSEED": "random"},
    "other place, other date": {"TZ": "Asia/Tokyo", "LANG": "de_DE.UTF-8", "LC_ALL": "C", "SOURCE_DATE_EPOCH": "1"},
    "POSIX, not UTF-8": {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1", "TZ": "America/Lima"},
    "Turkish": {"LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "tr"},
    "no AVX-512": {"NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"},
    "no AVX2": {
        "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX2 FMA3 F16C AVX"
    },
    "SSE2 only": {
        "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL "
        "AVX2 FMA3 F16C AVX SSE42 POPCNT SSE41 SSSE3",
        "OPENBLAS_CORETYPE": "Prescott",
    },
    "BLAS Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "BLAS SkylakeX": {"OPENBLAS_CORETYPE": "SkylakeX"},
    "BLAS Zen": {"OPENBLAS_CORETYPE": "Zen"},
    "BLAS one thread": {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    "BLAS many threads": {"OPENBLAS_NUM_THREADS": "7"},
    "optimized": {"PYTHONOPTIMIZE": "2"},
}
QUICK = {"hash seed random", "POSIX, not UTF-8", "SSE2 only", "BLAS Haswell"}
RECIPES = ("w8a8", "w4a8", "fp32")
TEXTS = ROOT / "tests" / "golden" / "texts.txt"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wide enough for vector code with remainders, F16 so that conversions count too."""
    folder = tmp_path_factory.mktemp("reproducible") / "checkpoint"
    shape = {"hidden": 68, "heads": 2, "intermediate": 131, "layers": 2, "labels": 5, "max_positions": 48}
    write_tiny_checkpoint(folder, dtype="F16", hidden_act="gelu", **shape)  # type: ignore[arg-type]
    return folder


def generated(folder: Path, out: Path, recipe: str, *options: str, **keywords: object) -> dict[str, bytes | None]:
    arguments = ["generate", folder, "--out", out, "--name", "model", "--recipe", recipe, *options]
    if recipe == "w4a8":
        arguments += ["--embedding-bits", "4", "--calibrate", TEXTS]
    outcome = etch(*arguments, **keywords)  # type: ignore[arg-type]
    assert outcome.code == 0, outcome.err
    return content(out)


@pytest.fixture(scope="module")
def plain(checkpoint: Path) -> dict[str, dict[str, bytes | None]]:
    return {recipe: generated(checkpoint, checkpoint.parent / recipe, recipe, "--gpu") for recipe in RECIPES}


def assert_same(one: dict[str, bytes | None], other: dict[str, bytes | None]) -> None:
    assert sorted(one) == sorted(other)
    assert [name for name in one if one[name] != other[name]] == []


def usable(environment: dict[str, str]) -> dict[str, str]:
    """NumPy refuses to start where a feature that it was built for cannot be disabled; leave those out. OpenBLAS runs
    the kernels that it is told to, whether the CPU has them or not."""
    if environment.get("OPENBLAS_CORETYPE") == "SkylakeX" and "avx512dq" not in cpu_flags():
        pytest.skip("this CPU has no AVX-512")
    names = environment.get("NPY_DISABLE_CPU_FEATURES")
    if names is None:
        return environment
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    here = [name for name in names.split() if name in __cpu_dispatch__ and __cpu_features__.get(name)]
    if not here:
        pytest.skip("this CPU or this NumPy has none of the features")
    return environment | {"NPY_DISABLE_CPU_FEATURES": " ".join(here)}


ALWAYS = [(name, "w8a8") for name in ENVIRONMENTS if name in QUICK]
OTHERS = [(name, recipe) for name in ENVIRONMENTS for recipe in RECIPES if (name, recipe) not in ALWAYS]


@pytest.mark.parametrize(
    ("name", "recipe"),
    [*ALWAYS, *(pytest.param(*case, marks=pytest.mark.sweep) for case in sampled(OTHERS, 8, "environments"))],
)
def test_environment(
    name: str, recipe: str, checkpoint: Path, plain: dict[str, dict[str, bytes | None]], tmp_path: Path
) -> None:
    if platform.machine() not in ("x86_64", "AMD64") and ("AVX" in name or "SSE" in name or "BLAS" in name):
        pytest.skip("names of x86 features")
    assert_same(
        plain[recipe], generated(checkpoint, tmp_path / "out", recipe, "--gpu", environment=usable(ENVIRONMENTS[name]))
    )


@pytest.mark.parametrize("name", one_in(2, sorted(QUICK)))
def test_factors_that_smooth(name: str, checkpoint: Path, tmp_path: Path) -> None:
    here = generated(checkpoint, tmp_path / "here", "w8a8", "--smooth", str(TEXTS))
    environment = usable(ENVIRONMENTS[name])
    assert_same(
        here, generated(checkpoint, tmp_path / "there", "w8a8", "--smooth", str(TEXTS), environment=environment)
    )


def test_features_are_really_disabled() -> None:
    """The environments above do what they are named after."""
    import subprocess
    import sys

    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("names of x86 features")
    environment = os.environ | usable(ENVIRONMENTS["SSE2 only"])
    code = (
        "from numpy._core._multiarray_umath import __cpu_features__ as f; print([k for k in ('AVX2','SSE41') if f[k]])"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert not done.stderr


@pytest.mark.parametrize(
    ("target", "tables"), one_in(3, [("host", "c"), ("host", "incbin"), ("m-profile", "c"), ("m-profile", "incbin")])
)
def test_place(target: str, tables: str, checkpoint: Path, tmp_path: Path) -> None:
    """Another checkpoint path, another output path, another working folder, relative paths, over an older output."""
    options = ("--target", target, "--tables", tables)
    first = generated(checkpoint, tmp_path / "first", "w8a8", *options)
    copy = tmp_path / "a place with spaces" / "caf\u00e9"
    shutil.copytree(checkpoint, copy)
    os.utime(copy / "config.json", (0, 0))
    here = tmp_path / "work"
    here.mkdir()
    second = generated(Path("../a place with spaces/caf\u00e9"), Path("second"), "w8a8", *options, cwd=here)
    assert second == {}  # relative to the process, not to us
    assert_same(first, content(here / "second"))
    generated(copy, tmp_path / "first", "fp32", *options)
    assert_same(first, generated(copy, tmp_path / "first", "w8a8", *options))


def test_order_of_tensors(checkpoint: Path, plain: dict[str, dict[str, bytes | None]], tmp_path: Path) -> None:
    """Nothing but the hash of the checkpoint's files may differ."""
    shuffled = tmp_path / "shuffled"
    shutil.copytree(checkpoint, shuffled)
    header, data = read_raw_safetensors(shuffled / "model.safetensors")
    metadata = header.pop("__metadata__")
    names = list(header)
    random.Random(1).shuffle(names)
    blobs, entries, offset = [], {}, 0
    for name in names:
        begin, end = header[name]["data_offsets"]
        entries[name] = header[name] | {"data_offsets": [offset, offset + end - begin]}
        offset += end - begin
        blobs.append(data[begin:end])
    write_raw_safetensors(shuffled / "model.safetensors", {"__metadata__": metadata, **entries}, b"".join(blobs))
    made = generated(shuffled, tmp_path / "out", "w8a8", "--gpu")
    assert_same_but_for_the_hash(plain["w8a8"], made)


def test_weights_in_several_files(checkpoint: Path, plain: dict[str, dict[str, bytes | None]], tmp_path: Path) -> None:
    shutil.copytree(checkpoint, tmp_path / "split")
    split_weights(tmp_path / "split", 3)
    for recipe in RECIPES:
        made = generated(tmp_path / "split", tmp_path / recipe, recipe, "--gpu")
        assert_same_but_for_the_hash(plain[recipe], made)


@pytest.mark.parametrize("recipe", one_in(3, RECIPES))
def test_bf16_is_what_it_is_widened_to(recipe: str, tmp_path: Path) -> None:
    shape: dict[str, Any] = {"hidden": 20, "heads": 2, "layers": 2}
    write_tiny_checkpoint(tmp_path / "bf16", dtype="BF16", **shape)
    write_tiny_checkpoint(tmp_path / "f32", **shape)
    header, data = read_raw_safetensors(tmp_path / "f32/model.safetensors")
    upper = (np.frombuffer(data, "<u4") & 0xFFFF0000).astype("<u4")
    write_raw_safetensors(tmp_path / "f32/model.safetensors", header, upper.tobytes())
    bf16, f32 = (generated(tmp_path / dtype, tmp_path / f"{dtype} {recipe}", recipe) for dtype in ("bf16", "f32"))
    assert_same_but_for_the_hash(bf16, f32)


def assert_same_but_for_the_hash(one: dict[str, bytes | None], other: dict[str, bytes | None]) -> None:
    """Of two checkpoints that say the same in other bytes."""
    assert sorted(one) == sorted(other)
    hashes = [json.loads(files["etch.json"] or b"")["checkpoint_sha256"] for files in (one, other)]
    assert hashes[0] != hashes[1]
    for name, expected in one.items():
        if name == "etch.json":
            old, new = (json.loads(files[name] or b"") for files in (one, other))
            assert old.pop("files").keys() == new.pop("files").keys()
            assert old | {"checkpoint_sha256": hashes[1]} == new
        else:
            assert (expected or b"").replace(hashes[0].encode(), hashes[1].encode()) == other[name], name


def test_no_times_and_no_paths(checkpoint: Path, plain: dict[str, dict[str, bytes | None]]) -> None:
    import getpass
    import socket

    forbidden = [str(checkpoint), str(checkpoint.parent), str(ROOT), str(Path.home()), "/tmp/", socket.gethostname()]
    forbidden += [np.__version__] if len(np.__version__) > 4 else []
    user = getpass.getuser()
    for files in plain.values():
        for name, data in files.items():
            if data is None or name.endswith(".tables"):
                continue
            text = data.decode("ascii")
            for word in forbidden:
                if len(word) > 3:
                    assert word not in text, (name, word)
            assert not re.search(rf"(?<![A-Za-z0-9_]){re.escape(user)}(?![A-Za-z0-9_])", text), name
            assert not re.search(r"\b20[2-9]\d-\d\d|\b\d\d:\d\d:\d\d\b", text), name  # dates and times of day


@pytest.mark.parametrize("name", ["agnews", "agnews_small"])
def test_the_committed_models_tell_nothing_either(name: str) -> None:
    for path in sorted((ROOT / "generated" / name).iterdir()):
        if path.is_file() and path.suffix != ".tables":
            text = path.read_text(encoding="ascii")
            assert not re.search(r"/(?:home|root|tmp|work|usr|Users)/", text), path.name
