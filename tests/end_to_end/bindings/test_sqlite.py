# SPDX-License-Identifier: Apache-2.0
"""`etch sqlite`: the functions of SQL give the program's answers, to SQLite's shell and to Python's module; what fails
is an error of the statement. Sweep: built by CMake, and 100,000 rows."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from classify_program import ROOT, Program
from generator_program import etch, one_line
from model_build import build_model, build_test
from recorded.outputs import folder as recorded
from tiny_checkpoint import write_tiny_checkpoint
from tiny_sentence import write_tiny_sentence_model

from codegen.tasks import verbs

HEADER = Path("/usr/include/sqlite3ext.h")
SHELL = shutil.which("sqlite3")
pytestmark = [
    pytest.mark.skipif(not HEADER.exists(), reason="no sqlite3ext.h: apt-get install libsqlite3-dev"),
    pytest.mark.skipif(SHELL is None, reason="no sqlite3: apt-get install sqlite3"),
]
TEXTS = ["the cat", "", "a dog sat on the mat [SEP] and " * 9, "Ünïcode 'quoted'", "the dog"]
KINDS = ("labels", "sets", "values", "vectors")


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("sqlite")
    write_tiny_checkpoint(place / "labels")
    write_tiny_checkpoint(place / "sets", labels=16, problem_type="multi_label_classification")
    write_tiny_checkpoint(place / "values", problem_type="regression")
    write_tiny_sentence_model(place / "vectors")
    for name in KINDS:
        out = etch("generate", place / name, "--out", place / f"tiny_{name}")
        assert out.code == 0, out.err
    return {name: place / f"tiny_{name}" for name in KINDS}


@pytest.fixture(scope="module")
def extensions(generated: dict[str, Path]) -> dict[str, Path]:
    """As tools/sqlite/CMakeLists.txt makes them, of the test build's own libraries."""
    found = {}
    for kind, folder in generated.items():
        model = build_model(folder)
        verb = verbs()[json.loads((folder / "etch.json").read_text())["task"]]
        flags = ["-fPIC", "-shared", "-fno-exceptions", "-fno-rtti", f'-DETCH_TASK_HEADER="tasks/{verb}.hpp"']
        flags += [f"-I{ROOT}/tools/cli", "-Wl,--gc-sections", "-Wl,--no-undefined", str(model.library), "-lm"]
        out = folder / "build" / f"{folder.name}.so"
        found[kind] = build_test(folder, ROOT / "tools/sqlite/extension.cpp", out, *flags)
    return found


def run(extension: Path, *statements: str) -> subprocess.CompletedProcess[str]:
    """SQLite's shell with the extension; each row a line of JSON values."""
    assert SHELL is not None
    script = "\n".join([".bail on", f".load '{extension}'", ".mode json", *statements])
    return subprocess.run([SHELL, ":memory:"], input=script, capture_output=True, text=True, check=False, timeout=300)


def rows(extension: Path, *statements: str) -> list[dict]:
    done = run(extension, *statements)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def asked(function: str) -> list[str]:
    values = ", ".join("({}, '{}')".format(i, text.replace("'", "''")) for i, text in enumerate(TEXTS))
    return [
        "CREATE TABLE texts(id, text);",
        f"INSERT INTO texts VALUES {values};",
        f"SELECT {function} AS x FROM texts ORDER BY id;",
    ]


def said(folder: Path) -> list[dict]:
    return build_model(folder).program.well("--json", *TEXTS).objects


def test_labels(extensions: dict[str, Path], generated: dict[str, Path]) -> None:
    answers = said(generated["labels"])
    for function in ("classify(text)", "tiny_labels_classify(text)"):
        assert [row["x"] for row in rows(extensions["labels"], *asked(function))] == [one["label"] for one in answers]
    shares = rows(extensions["labels"], *asked(f"classify(text, '{answers[0]['label']}')"))
    for answer, row in zip(answers, shares, strict=True):
        if answer["label"] == answers[0]["label"]:
            assert np.float32(row["x"]) == np.float32(answer["probability"])


def test_sets_of_labels(extensions: dict[str, Path], generated: dict[str, Path]) -> None:
    program = build_model(generated["sets"]).program
    wanted = [";".join(sorted(one["labels"])) for one in labels_of(program)]
    found = [";".join(sorted(row["x"].split(";"))) for row in rows(extensions["sets"], *asked("classify(text)"))]
    assert found == wanted


def labels_of(program: Program) -> list[dict]:
    names = program.well("--help").out.decode().rpartition("labels: ")[2].strip().split(", ")
    return [
        {"labels": [name for name, logit in zip(names, one["logits"], strict=True) if logit >= 0]}
        for one in program.well("--json", *TEXTS).objects
    ]


def test_values(extensions: dict[str, Path], generated: dict[str, Path]) -> None:
    found = [json.loads(row["x"]) for row in rows(extensions["values"], *asked("regress(text)"))]
    assert np.array_equal(np.float32(found), np.float32([one["values"] for one in said(generated["values"])]))


def test_embeddings(extensions: dict[str, Path], generated: dict[str, Path]) -> None:
    wanted = np.float32([one["embedding"] for one in said(generated["vectors"])])
    found = [bytes.fromhex(row["x"]) for row in rows(extensions["vectors"], *asked("hex(embed(text))"))]
    assert found == [row.astype("<f4").tobytes() for row in wanted]
    [row] = rows(extensions["vectors"], "SELECT cosine(embed('the cat'), embed('the dog')) AS x;")
    a, b = wanted[0].astype(float), wanted[4].astype(float)
    assert row["x"] == pytest.approx(float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)), abs=1e-12)


def blob(*values: float) -> str:
    return "x'" + struct.pack(f"<{len(values)}f", *values).hex() + "'"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("classify(NULL)", None),
        ("classify('a', NULL)", None),
        ("classify(42) = classify('42')", 1),
        ("cosine(NULL, x'00')", None),
        (f"cosine({blob(0, 0)}, {blob(1, 2)})", None),
        (f"cosine({blob(3, 4)}, {blob(4, 3)})", 0.96),
        (f"cosine({blob(1)}, {blob(-2)})", -1),
    ],
)
def test_other_values(extensions: dict[str, Path], expression: str, value: float | None) -> None:
    [row] = rows(extensions["labels"], f"SELECT {expression} AS x;")
    assert row["x"] == (None if value is None else pytest.approx(value, abs=1e-15))


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("classify(x'00')", "classify: a text is expected, this is a BLOB"),
        ("classify('a', 'no such')", "classify: the model has no label 'no such'; it has label 0, label 1, label 2"),
        ("classify()", "wrong number of arguments to function classify()"),
        ("embed('a')", "no such function: embed"),
        (f"cosine({blob(1)}, {blob(1, 2)})", "cosine: the two BLOBs are not float32 of equal number"),
        ("cosine(x'000000', x'000000')", "cosine: the two BLOBs are not float32 of equal number"),
        ("cosine(x'', x'')", "cosine: the two BLOBs are not float32 of equal number"),
        ("cosine('a', 'b')", "cosine: BLOBs of float32 are expected"),
    ],
)
def test_errors_of_statements(extensions: dict[str, Path], expression: str, message: str) -> None:
    done = run(extensions["labels"], f"SELECT {expression};")
    assert done.returncode != 0
    assert message in done.stderr


@pytest.mark.parametrize(
    ("kind", "expression", "message"),
    [
        (
            "sets",
            "classify('a', 'no such')",
            "no label 'no such'; it has label 0, label 1, label 2, label 3, label 4, ",
        ),
        ("sets", "classify('a', 'ü" + "x" * 50 + "')", "no label 'ü" + "x" * 39 + "'; it has "),
        ("values", "regress('a', 'no such')", "regress: the model has no value 'no such'; it has label 0, "),
    ],
)
def test_names_that_the_model_has_not(extensions: dict[str, Path], kind: str, expression: str, message: str) -> None:
    done = run(extensions[kind], f"SELECT {expression};")
    assert done.returncode != 0
    assert message in done.stderr
    assert ("label 8" in done.stderr, "label 7, …" in done.stderr) == (False, kind == "sets")


def test_what_sqlite_refuses_is_an_error(extensions: dict[str, Path]) -> None:
    """Memory for the bytes of a zeroblob; a text beyond the connection's limit, which is no empty one."""
    zeros = "zeroblob(20000000)"
    limited = ["PRAGMA hard_heap_limit=8000000;", f"SELECT cosine({zeros}, {zeros});"]
    done = run(extensions["labels"], *limited)
    assert done.returncode == 1 and "out of memory" in done.stderr, done
    for kind, function in (("sets", "classify"), ("values", "regress")):
        [row] = rows(extensions[kind], f"SELECT {function}('the cat') AS x;")
        assert len(row["x"]) > 30  # the lowest limit
        done = run(extensions[kind], ".limit length 30", f"SELECT {function}('the cat');")
        assert done.returncode == 1 and "string or blob too big" in done.stderr, done


def test_two_models_in_one_connection(extensions: dict[str, Path], generated: dict[str, Path]) -> None:
    load = f".load '{extensions['vectors']}'"
    [row] = rows(extensions["labels"], load, "SELECT tiny_labels_classify('the cat') AS x, length(embed('a')) AS y;")
    assert row["x"] == said(generated["labels"])[0]["label"]
    assert row["y"] % 4 == 0


PYTHON = """
import sqlite3, sys
connections = [sqlite3.connect(":memory:") for _ in range(2)]
for connection in connections:
    connection.enable_load_extension(True)
    connection.load_extension(sys.argv[1])
found = [[row[0] for row in c.execute("SELECT classify(value) FROM json_each(?)", (sys.argv[2],))] for c in connections]
connections[0].close()
assert found[0] == found[1]
try:
    connections[1].execute("SELECT classify(x'00')").fetchall()
except sqlite3.OperationalError as error:
    assert str(error) == "classify: a text is expected, this is a BLOB"
else:
    raise SystemExit("no error")
print("\\n".join(found[0]))
"""


def test_pythons_module(extensions: dict[str, Path], generated: dict[str, Path]) -> None:
    for python in (sys.executable, "/usr/bin/python3"):
        asks = [python, "-c", "import sqlite3; sqlite3.Connection.enable_load_extension"]
        if Path(python).exists() and subprocess.run(asks, capture_output=True, check=False).returncode == 0:
            break
    else:
        pytest.skip(f"no Python here whose sqlite3 {sqlite3.sqlite_version} loads extensions")
    command = [python, "-c", PYTHON, str(extensions["labels"].with_suffix("")), json.dumps(TEXTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [one["label"] for one in said(generated["labels"])]


def test_refused(tmp_path: Path, generated: dict[str, Path]) -> None:
    assert etch("generate", recorded("tags/bert"), "--out", tmp_path / "tags").code == 0
    done = etch("sqlite", tmp_path / "tags", "--out", tmp_path / "out")
    assert (done.code, "error[task-not-supported] sqlite: extensions of SQLite have" in done.err) == (1, True), done.err
    done = etch("sqlite", tmp_path, "--out", tmp_path / "out")
    assert (done.code, "error[not-generated]" in done.err) == (1, True), done.err
    reason = "sqlite3ext.h is missing: apt-get install libsqlite3-dev"
    assert reason in (ROOT / "tools/sqlite/CMakeLists.txt").read_text()
    (tmp_path / "cmake").write_text(f"#!/bin/sh\necho 'CMake Error: {reason}'\nexit 1\n")
    (tmp_path / "cmake").chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "ETCH_CACHE": str(tmp_path / "cache")}
    done = etch("sqlite", generated["labels"], "--out", tmp_path / "out", environment=path)
    assert done.out.startswith(b"building in ")
    assert one_line(done, 1) == f"etch: error[sqlite-header-missing] build: {reason}"
    assert not (tmp_path / "out").exists()


@pytest.mark.sweep
def test_a_hundred_thousand_rows_by_the_command(tmp_path: Path, generated: dict[str, Path]) -> None:
    done = etch("sqlite", generated["labels"], "--out", tmp_path)
    assert done.code == 0, done.err
    library = tmp_path / "tiny_labels.so"
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    assert [line.split()[2] for line in symbols.stdout.splitlines()] == ["sqlite3_extension_init"]
    counted = rows(
        library,
        "CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 100000)"
        " SELECT i % 5 AS kind, classify(substr('the cat the dog a mat', 1, 3 + i % 5 * 4)) AS label FROM n;",
        "SELECT kind, count(*) AS n, count(DISTINCT label) AS labels FROM t GROUP BY kind ORDER BY kind;",
    )
    assert counted == [{"kind": kind, "n": 20000, "labels": 1} for kind in range(5)]
