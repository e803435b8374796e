# SPDX-License-Identifier: Apache-2.0
"""`tools/spark/score.py`: what it refuses; sweep, where PySpark is installed: a real cluster of one master and two
workers scores a table, also when one worker is killed in the middle, and the answers are the wheel's own."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from classify_program import ROOT
from generator_program import etch
from tiny_checkpoint import write_tiny_checkpoint

TOOL = ROOT / "tools/spark/score.py"
PYTHON = os.environ.get("ETCH_SPARK_PYTHON", sys.executable)  # one with PySpark, PyArrow and pandas
ROWS = 60_000
TEXTS = ("the cat", "", "a dog sat on the mat", None, "the dog [SEP] ran on")


def test_refused(tmp_path: Path) -> None:
    (tmp_path / "no.whl").write_bytes(b"x")
    with zipfile.ZipFile(tmp_path / "other.whl", "w") as archive:
        archive.writestr("other/__init__.py", "x = 1\n")
    for wheel, words in (
        ("no.whl", "no.whl: this is no wheel of `etch wheel`"),
        ("none.whl", "none.whl: this is no wheel of `etch wheel`"),
        ("other.whl", "other.whl: the model has none of classify, embed, regress"),
    ):
        command = [sys.executable, TOOL, "in.csv", "--model", tmp_path / wheel, "--output", tmp_path / "out"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
        assert words in done.stderr
    assert not (tmp_path / "out").exists()


def has_spark() -> bool:
    asks = [PYTHON, "-c", "import pyspark, pyarrow, pandas, numpy"]
    return subprocess.run(asks, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def spark() -> Path:
    """SPARK_HOME of the Python."""
    if not has_spark():
        pytest.skip("no PySpark: pip install 'pyspark>=4,<5' pyarrow 'pandas<3', its Python in ETCH_SPARK_PYTHON")
    if shutil.which("java") is None:
        pytest.skip("no Java: apt-get install openjdk-17-jre-headless")
    where = "import pyspark, os; print(os.path.dirname(pyspark.__file__))"
    return Path(subprocess.run([PYTHON, "-c", where], capture_output=True, text=True, check=True).stdout.strip())


@pytest.fixture(scope="module")
def wheel(spark: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("spark")
    write_tiny_checkpoint(place / "tiny")
    assert etch("generate", place / "tiny", "--out", place / "tiny_labels").code == 0
    done = etch("wheel", place / "tiny_labels", "--out", place)
    assert done.code == 0, done.err
    [path] = place.glob("*.whl")
    return path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    """A master and two workers of one core each, each in a process group of its own."""

    def __init__(self, home: Path, place: Path) -> None:
        self.home, self.place, self.processes = home, place, []
        self.environment = os.environ | {
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "PYSPARK_PYTHON": PYTHON,
            "PYSPARK_DRIVER_PYTHON": PYTHON,
        }
        port = free_port()
        self.url = f"spark://127.0.0.1:{port}"
        self._start("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(free_port()))
        self._wait_for("master.Master", "I have been elected leader")
        for number in (1, 2):
            options = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", str(free_port())]
            self._start("worker.Worker", *options, "--work-dir", str(place / f"work{number}"), self.url)
        for number in (1, 2):
            self._wait_for("worker.Worker", "Successfully registered", number)

    def _log(self, name: str, number: int) -> Path:
        return self.place / f"{name}.{number}.log"

    def _start(self, name: str, *options: str) -> None:
        number = sum(one == name for one, _ in self.processes) + 1
        with self._log(name, number).open("wb") as log:
            process = subprocess.Popen(
                [self.home / "bin/spark-class", f"org.apache.spark.deploy.{name}", *options],
                env=self.environment | {"SPARK_LOG_DIR": str(self.place)},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append((name, process))

    def _wait_for(self, name: str, words: str, number: int = 1) -> None:
        end = time.monotonic() + 60
        while words not in self._log(name, number).read_text(errors="replace"):
            assert time.monotonic() < end, self._log(name, number).read_text(errors="replace")[-2000:]
            time.sleep(0.2)

    def kill_worker(self) -> None:
        """The last one with its executor, as if its machine were gone."""
        process = self.processes.pop()[1]
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def score(self, source: Path, wheel: Path, output: Path, *options: str) -> subprocess.Popen[str]:
        command = [PYTHON, TOOL, source, "--model", wheel, "--output", output, "--master", self.url, *options]
        environment = self.environment | {"PYSPARK_SUBMIT_ARGS": "--executor-memory 512m pyspark-shell"}
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def close(self) -> None:
        for _, process in self.processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def cluster(spark: Path, tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(spark, tmp_path)
    yield made
    made.close()


def table(folder: Path) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps({"id": i, "text": TEXTS[i % 5]}) + "\n" for i in range(ROWS)))
    return path


CHECK = """
import sys, zipfile
import numpy as np, pyarrow.parquet as parquet
scored, wheel, place, texts = sys.argv[1:4] + [eval(sys.argv[4])]
zipfile.ZipFile(wheel).extractall(place)
sys.path.insert(0, place)
import tiny_labels
answers = tiny_labels.Model().classify([text or "" for text in texts])
found = parquet.read_table(scored).to_pydict()
assert sorted(found["id"]) == list(range(len(found["id"]))), "rows are lost or doubled"
for i, label, probability in zip(found["id"], found["label"], found["probability"]):
    k = i % len(texts)
    if texts[k] is None:
        assert label is None and probability is None
    else:
        assert label == answers.labels[k]
        assert np.float32(probability) == answers.probabilities[k].max()
print(len(found["id"]))
"""


def check(scored: Path, wheel: Path, place: Path) -> None:
    command = [PYTHON, "-c", CHECK, scored, wheel, place / "unpacked", repr(TEXTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == (str(ROWS), "")


@pytest.mark.sweep
def test_two_executors(cluster: Cluster, wheel: Path, tmp_path: Path) -> None:
    process = cluster.score(table(tmp_path), wheel, tmp_path / "scored", "--partitions", "8")
    printed = process.communicate(timeout=300)[0]
    assert process.returncode == 0, printed
    assert re.search(rf"^{ROWS:,} rows in [\d.]+ s: [\d,]+ rows/s on 2 cores; \d+ % ", printed, re.MULTILINE), printed
    check(tmp_path / "scored", wheel, tmp_path)


@pytest.mark.sweep
def test_a_worker_is_killed_in_the_middle(cluster: Cluster, wheel: Path, tmp_path: Path) -> None:
    process = cluster.score(table(tmp_path), wheel, tmp_path / "scored", "--partitions", "24")
    end = time.monotonic() + 200
    while not list((tmp_path / "scored").rglob("_temporary/**/part-*.parquet")):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
    assert not (tmp_path / "scored/_SUCCESS").exists()
    cluster.kill_worker()
    printed = process.communicate(timeout=300)[0]
    assert process.returncode == 0, printed
    assert "Lost executor" in printed
    assert " rows/s on 1 core; " in printed
    check(tmp_path / "scored", wheel, tmp_path)
