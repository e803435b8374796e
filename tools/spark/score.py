#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scores a data set with a model's wheel on Apache Spark: reads a table, adds what the model says of its texts, writes
Parquet.

    tools/spark/score.py news.parquet --model agnews-0.5.0-….whl --output scored.parquet
    tools/spark/score.py news.csv --model … --output … --master spark://host:7077
    spark-submit tools/spark/score.py …

The wheel travels with the job: executors need Python, NumPy and PyArrow, nothing of etch. Texts reach the model in
Arrow's own memory (mapInArrow). Needs Java 17 or newer and `pip install 'pyspark>=4,<5' pyarrow 'pandas<3'`. Where an
executor is lost Spark computes its parts again, and only whole parts are kept: no row is lost, none is there twice.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

FORMATS = {".parquet": "parquet", ".csv": "csv", ".jsonl": "json", ".json": "json"}
OUTPUTS = {  # Spark's types of what each verb adds
    "classify": "label string, probability float",
    "embed": "embedding array<float>",
    "regress": "value array<float>",
}


class Refused(Exception):
    """What cannot be done, in one line."""


def package_of(wheel: Path) -> tuple[str, str]:
    """Name and verb of the model in a wheel."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            [init] = [name for name in archive.namelist() if name.endswith("/__init__.py") and name.count("/") == 1]
            source = archive.read(init).decode()
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise Refused(f"{wheel}: this is no wheel of `etch wheel`: {error}") from error
    verbs = [verb for verb in OUTPUTS if f"    def {verb}(self, " in source]
    if len(verbs) != 1:
        raise Refused(f"{wheel}: the model has none of {', '.join(OUTPUTS)}")
    return init.split("/")[0], verbs[0]


def scorer(wheel: str, name: str, verb: str, column: str, spent: Any) -> Callable[..., Iterator[pa.RecordBatch]]:
    """What runs on an executor. It holds no module of this file, which is not there."""

    def model() -> Any:
        import importlib
        import os
        import sys
        import tempfile
        import zipfile

        from pyspark import SparkFiles

        if f"{name}_of_etch" not in sys.modules:
            packed = SparkFiles.get(wheel)
            place = f"{packed}.unpacked"
            if not os.path.isdir(place):  # another worker of this executor may be at it
                beside = tempfile.mkdtemp(dir=os.path.dirname(packed))
                zipfile.ZipFile(packed).extractall(beside)
                try:
                    os.rename(beside, place)
                except OSError:
                    if not os.path.isdir(place):
                        raise
            sys.path.insert(0, place)
            importlib.invalidate_caches()
            package = importlib.import_module(name)
            package._model = package.Model()
            sys.modules[f"{name}_of_etch"] = package
        return sys.modules[f"{name}_of_etch"]._model

    def score(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import time

        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        loaded = model()
        for batch in batches:
            texts = batch.column(column)
            missing = np.asarray(pc.is_null(texts)) if texts.null_count else None
            begin = time.perf_counter()
            answers = getattr(loaded, verb)(texts if missing is None else pc.fill_null(texts, ""))
            spent.add(time.perf_counter() - begin)
            if verb == "classify":
                best = answers.probabilities[np.arange(len(texts)), answers.indices]
                added = {
                    "label": pa.array(answers.labels, pa.string(), mask=missing),
                    "probability": pa.array(best, pa.float32(), mask=missing),
                }
            else:
                values = pa.array(answers.ravel(), pa.float32())
                offsets = np.arange(len(texts) + 1, dtype=np.int32) * answers.shape[1]
                mask = None if missing is None else pa.array(missing)
                rows = pa.ListArray.from_arrays(pa.array(offsets), values, mask=mask)
                added = {"embedding" if verb == "embed" else "value": rows}
            yield pa.RecordBatch.from_pydict(dict(zip(batch.schema.names, batch.columns, strict=True)) | added)

    return score


def read(spark: SparkSession, source: str, texts: str) -> DataFrame:
    """The table, by its name's ending."""
    kind = FORMATS.get(Path(source).suffix)
    if kind is None:
        raise Refused(f"{source}: expected a name that ends in {', '.join(FORMATS)}")
    options = {"header": "true", "quote": '"', "escape": '"', "multiLine": "true"} if kind == "csv" else {}
    table = spark.read.format(kind).options(**options).load(source)
    if texts not in table.columns:
        raise Refused(f"--text-column: {source} has no '{texts}', it has {', '.join(table.columns)}")
    if dict(table.dtypes)[texts] != "string":
        raise Refused(f"--text-column: '{texts}' is of type {dict(table.dtypes)[texts]}, not string")
    return table


def cores_of(spark: SparkSession) -> int:
    """That the executors compute with by now. `defaultParallelism` says 2 of one."""
    context = spark.sparkContext._jsc.sc()
    return int(context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile()))


def run(arguments: argparse.Namespace) -> None:
    """Reads, scores, writes, and prints what it took."""
    name, verb = package_of(arguments.model)
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise Refused(f"{error}: pip install 'pyspark>=4,<5' pyarrow 'pandas<3'") from error
    if (arguments.master or "local").startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(f"etch {name}").config("spark.ui.showConsoleProgress", "false")
    if arguments.master is not None:
        builder = builder.master(arguments.master)
    spark = builder.getOrCreate()
    try:
        table = read(spark, arguments.input, arguments.text_column)
        clash = {part.split()[0] for part in OUTPUTS[verb].split(", ")} & set(table.columns)
        if clash:
            raise Refused(f"{arguments.input} has a column '{min(clash)}' already")
        if arguments.partitions is not None:
            table = table.repartition(arguments.partitions)
        spark.sparkContext.addFile(str(arguments.model.resolve()))
        spent = spark.sparkContext.accumulator(0.0)
        columns = ", ".join(f"`{field}` {kind}" for field, kind in table.dtypes)
        function = scorer(arguments.model.name, name, verb, arguments.text_column, spent)
        begin = time.monotonic()
        table.mapInArrow(function, f"{columns}, {OUTPUTS[verb]}").write.parquet(arguments.output)
        seconds = time.monotonic() - begin
        count = spark.read.parquet(arguments.output).count()
        cores = cores_of(spark)
        share = max(0.0, 1 - spent.value / (seconds * cores))
        print(
            f"{count:,} rows in {seconds:.1f} s: {count / seconds:,.0f} rows/s on {cores} core{'s' * (cores != 1)}; "
            f"{100 * share:.0f} % of their time outside the model"
        )
    except PySparkException as error:
        raise Refused(str(error).strip().partition("\n")[0]) from error
    finally:
        spark.stop()


def main() -> int:
    """Exit codes: 0 done, 1 refused or failed, 2 wrong use."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", metavar="INPUT", help="a .parquet, .csv (with a header) or .jsonl file or folder")
    parser.add_argument("--model", type=Path, required=True, metavar="WHEEL", help="what `etch wheel` wrote")
    parser.add_argument("--output", required=True, metavar="PARQUET", help="a folder that is not there yet")
    parser.add_argument("--text-column", default="text", metavar="C", help="its texts (default: text)")
    parser.add_argument("--master", metavar="URL", help="of a cluster (default: what spark-submit says, or local[*])")
    parser.add_argument("--partitions", type=int, metavar="N", help="parts of the work (default: the input's)")
    try:
        run(parser.parse_args())
    except Refused as refusal:
        sys.stderr.write(f"score.py: {refusal}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
