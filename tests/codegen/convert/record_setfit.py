# SPDX-License-Identifier: Apache-2.0
"""Writes heads of SetFit on recorded encoders, and the probabilities that SetFit computes in float64.

    python tests/codegen/convert/record_setfit.py [--out DIR] [NAME ...]

Needs Python 3.11, torch 2.15.0, transformers 5.23.0, sentence-transformers 6.2.0, setfit 1.2.0, scikit-learn 1.9.1 and
joblib 1.6.0.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import zlib
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sentence_transformers import SentenceTransformer
from setfit import SetFitModel
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from record_cases import record_cases  # noqa: E402 - of the folder above

PINNED = {
    "torch": "2.15.0",
    "transformers": "5.23.0",
    "sentence-transformers": "6.2.0",
    "setfit": "1.2.0",
    "scikit-learn": "1.9.1",
    "joblib": "1.6.0",
}
TEXTS = ["the cat sat", "a dog ran on the mat", "good work", "bad", "play , play !", "berlin", "12 x y", "the good dog"]


@dataclass(frozen=True)
class Case:
    """A head: on which encoder, of what, and what it is called."""

    base: str  # below tests/codegen/recorded
    head: Any
    targets: list[Any]  # of TEXTS
    labels: list[str] | None = None
    normalize: bool = False


CASES = {
    "three": Case("bert/dense_tanh", LogisticRegression(), [0, 1, 2, 2, 0, 1, 1, 0], ["low", "mid", "high"]),
    "two": Case("distilbert/mean", LogisticRegression(C=30.0), [1, 0, 1, 1, 0, 0, 1, 0], ["no", "yes"], normalize=True),
    "names": Case("static_embedding/mean", LogisticRegression(), ["b", "a", "c", "a", "b", "b", "c", "a"]),
    "sparse_numbers": Case("roberta/mean", LogisticRegression(), [3, 1, 3, 1, 1, 3, 3, 1], ["a", "b", "c", "d"]),
    "several": Case(
        "mpnet/mean",
        OneVsRestClassifier(LogisticRegression()),
        [[0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0], [1, 1, 1]],
        ["x", "y", "z"],
    ),
    "outputs": Case(
        "modernbert/mean",
        MultiOutputClassifier(LogisticRegression(fit_intercept=False)),
        [[0, 1], [1, 1], [0, 0], [1, 0], [0, 1], [1, 0], [0, 1], [1, 1]],
    ),
}


def record(name: str, case: Case, out: Path) -> None:
    """Writes one case's folder."""
    base = HERE.parent / "recorded" / case.base
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(base, place, dirs_exist_ok=True)
        body = SentenceTransformer(place, device="cpu", model_kwargs={"attn_implementation": "eager"}).double()
        embeddings = np.array([body.encode([text], normalize_embeddings=case.normalize)[0] for text in TEXTS])
        embeddings += np.random.default_rng(zlib.crc32(name.encode())).normal(size=embeddings.shape) * embeddings.std()
        head = case.head.fit(embeddings.astype(np.float64), np.array(case.targets))
        model = SetFitModel(body, head, labels=case.labels, normalize_embeddings=case.normalize)
        given = []
        for text in TEXTS:
            row = body.encode([text], normalize_embeddings=case.normalize).astype(np.float64)
            shares = head.predict_proba(row)
            values = [pair[0][1] for pair in shares] if isinstance(shares, list) else shares[0].tolist()
            features = body.tokenize([text])
            ids = features["input_ids"].reshape(-1).tolist()
            given.append({"text": text, "ids": ids, "probabilities": [float(value) for value in values]})
        model.save_pretrained(place)
        out.mkdir(parents=True, exist_ok=True)
        for kept in ("model_head.pkl", "config_setfit.json"):
            shutil.copy(Path(place) / kept, out)
    said = {"base": case.base, "libraries": {key: version(key) for key in PINNED}, "texts": given}
    (out / "recorded.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record_cases("Records what SetFit computes.", PINNED, CASES, record, HERE / "setfit")
