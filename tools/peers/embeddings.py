# SPDX-License-Identifier: Apache-2.0
"""A wheel of `etch wheel` that embeds beside sentence-transformers with its ONNX int8 backend: texts a second, memory.

    python3 -m tools.peers.embeddings FOLDER --wheel WHEEL --texts FILE [--limit N] [--threads N] [--rounds N]

FOLDER is the sentence-transformers folder that the wheel was generated from, FILE has a text a line. Both take lists of
all texts at once, in processes of their own, and turns; a figure is the median of the turns, by the clock and by the
processors' time, which others that compute meanwhile change less. Memory is what a process has at most (VmHWM), Python
included. sentence-transformers exports FOLDER to ONNX, quantizes it dynamically for this CPU and computes 32 texts at a
time, its usual batch.

Needs `pip install 'sentence-transformers[onnx]==5.7.0'` and NumPy.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .answering import answering, peak_megabytes
from .prepare import ROOT
from .processes import Process, WorkerError, ending

WORK = [sys.executable, "-m", "tools.peers.embeddings", "--work"]
PROVIDER = "CPUExecutionProvider"
EXACT = "sentence-transformers-fp32"
PEERS = ("etch", "sentence-transformers-int8", EXACT)


def etch_of(setup: dict[str, Any], place: Path) -> tuple[str, Callable[[list[str]], Any]]:
    """The wheel, unpacked as pip does it."""
    with zipfile.ZipFile(setup["wheel"]) as archive:
        archive.extractall(place)
        [init] = [name for name in archive.namelist() if name.endswith("/__init__.py") and name.count("/") == 1]
    sys.path.insert(0, str(place))
    package = importlib.import_module(init.split("/")[0])
    model = package.Model(threads=setup["threads"])
    return Path(setup["wheel"]).name.split("-")[1].split("+")[0], model.embed


def sentence_transformers_of(setup: dict[str, Any], place: Path) -> tuple[str, Callable[[list[str]], Any]]:
    """As export() wrote it."""
    import onnxruntime
    import sentence_transformers

    session = onnxruntime.SessionOptions()
    session.intra_op_num_threads = setup["threads"]
    file = {"fp32": "onnx/model.onnx", "int8": f"onnx/model_qint8_{setup['cpu']}.onnx"}[
        setup["peer"].rpartition("-")[2]
    ]
    options = {"provider": PROVIDER, "session_options": session, "file_name": file}
    model = sentence_transformers.SentenceTransformer(str(place), backend="onnx", model_kwargs=options)
    version = f"{sentence_transformers.__version__}, ONNX Runtime {onnxruntime.__version__}"
    return version, lambda texts: model.encode(texts, batch_size=32, show_progress_bar=False)


def export(setup: dict[str, Any]) -> None:
    """Writes both forms, in a process of its own: what it takes is no memory of theirs."""
    from sentence_transformers import SentenceTransformer, export_dynamic_quantized_onnx_model

    options = {"provider": PROVIDER, "export": True}
    model = SentenceTransformer(setup["folder"], backend="onnx", model_kwargs=options)
    model.save_pretrained(setup["place"])
    export_dynamic_quantized_onnx_model(model, setup["cpu"], setup["place"])


def work(setup: dict[str, Any]) -> None:
    """Answers each request with the seconds that the texts took, until there is none."""
    reply = answering()
    load = etch_of if setup["peer"] == "etch" else sentence_transformers_of
    place = Path(setup["place"])
    version, embed = load(setup, place)
    texts = Path(setup["texts"]).read_text(encoding="utf-8").splitlines()[: setup["limit"]]
    embed(texts[:64])
    reply(version=version, texts=len(texts))
    for _ in sys.stdin:
        begin, computed = time.perf_counter(), time.process_time()
        vectors = embed(texts)
        seconds, computed = time.perf_counter() - begin, time.process_time() - computed
        first = [float(value) for value in vectors[0]]
        reply(seconds=seconds, computed=computed, peak=peak_megabytes(), first=first)


def cpu() -> str:
    """What sentence-transformers quantizes for."""
    flags = Path("/proc/cpuinfo").read_text().partition("flags")[2].partition("\n")[0].split()
    return next((name for name in ("avx512_vnni", "avx512", "avx2") if name in flags or f"{name}f" in flags), "arm64")


def compare(arguments: argparse.Namespace, place: Path) -> None:
    common = {"threads": arguments.threads, "limit": arguments.limit, "cpu": cpu()}
    common |= {name: str(getattr(arguments, name).resolve()) for name in ("folder", "wheel", "texts")}
    exported = place / "exported"
    exported.mkdir()
    done = subprocess.run(
        [*WORK, json.dumps(common | {"peer": "export", "place": str(exported)})], cwd=ROOT, check=False
    )
    if done.returncode != 0:
        raise WorkerError(f"the export {ending(done.returncode)}")

    def skipped(peer: str, error: WorkerError) -> None:
        """The others go on."""
        print(f"{(place / f'{peer}.log').read_text(encoding='utf-8')}skipped {peer}: {error}", file=sys.stderr)

    workers = {}
    for peer in PEERS:
        setup = common | {"peer": peer, "place": str(place / "wheel" if peer == "etch" else exported)}
        try:
            workers[peer] = Process([*WORK, json.dumps(setup)], arguments.threads, place / f"{peer}.log")
        except WorkerError as error:
            skipped(peer, error)
    answers: dict[str, list[dict[str, Any]]] = {peer: [] for peer in workers}
    for _ in range(arguments.rounds):
        for peer, worker in list(workers.items()):
            try:
                answers[peer].append(worker.ask())
            except WorkerError as error:
                skipped(peer, error)
                workers.pop(peer).stop()
    if not workers:
        raise WorkerError("no runtime is left")
    print(
        "| | texts/s | texts per second of a processor | peak MB | first text's cosine to fp32 |\n|---|---|---|---|---|"
    )
    exact = answers[EXACT][0]["first"] if EXACT in workers else None
    for peer, worker in workers.items():
        worker.stop()
        about = worker.hello
        rates = [
            f"{about['texts'] / statistics.median(answer[clock] for answer in answers[peer]):,.0f}"
            for clock in ("seconds", "computed")
        ]
        peak = max(answer["peak"] for answer in answers[peer])
        ours = answers[peer][0]["first"]
        cosine = "-" if exact is None else f"{sum(a * b for a, b in zip(ours, exact, strict=True)):.4f}"
        print(f"| {peer} {about['version']} | {rates[0]} | {rates[1]} | {peak:,.0f} | {cosine} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--texts", type=Path, required=True, metavar="FILE")
    parser.add_argument("--limit", type=int, default=1000, help="only the first N texts (default: 1000)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    if sys.argv[1:2] == ["--work"]:
        setup = json.loads(sys.argv[2])
        export(setup) if setup["peer"] == "export" else work(setup)
        return 0
    arguments = parser.parse_args()
    if importlib.util.find_spec("sentence_transformers") is None:
        parser.error("pip install 'sentence-transformers[onnx]==5.7.0'")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        try:
            compare(arguments, place)
        except WorkerError as error:
            raise SystemExit(f"embeddings: {error}") from None
    return 0


if __name__ == "__main__":
    sys.exit(main())
