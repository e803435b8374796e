# SPDX-License-Identifier: Apache-2.0
"""Trained models over a thousand texts each, in float32: token for token what `transformers` wrote, wherever the two
best logits differed by more than 1e-4 at every step. tests/codegen/generation/record_digests.py has recorded it."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

import pytest
from classify_program import ROOT
from model_build import build_test
from test_generation_programs import SOURCE, kernels, written

from codegen import pipeline
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.request import Reading

RECORDED = ROOT / "tests" / "codegen" / "generation"
sys.path.insert(0, str(RECORDED))
from random_texts import digest  # noqa: E402 - of the folder beside

pytestmark = [pytest.mark.sweep, pytest.mark.long_case("a thousand texts")]

EVERY, LONGEST = 89, 62  # of the words, as recorded


def place(variable: str) -> Path:
    found = os.environ.get(variable)
    if found is None:
        pytest.skip(f"{variable} is not set")
    return Path(found)


def words() -> tuple[Path, list[str]]:
    folder = place("ETCH_MODELS") / "bart_g2p_us"
    lexicon = json.loads(gzip.decompress((folder / "us_gold.json.gz").read_bytes()))
    return folder, [word for word in lexicon if 1 <= len(word) <= LONGEST][::EVERY]


def captions() -> tuple[Path, list[str]]:
    file = place("ETCH_DATA") / "multi30k" / "test_2016_flickr.en.gz"
    lines = gzip.decompress(file.read_bytes()).decode().split("\n")[:-1]
    return ROOT / "tools" / "train" / "translate" / "checkpoint", [line.strip() for line in lines]


@pytest.mark.parametrize(("texts_of", "name"), [(words, "bart_g2p_us"), (captions, "captions")])
def test_what_the_library_wrote(texts_of: object, name: str, tmp_path: Path) -> None:
    assert callable(texts_of)
    folder, texts = texts_of()
    recorded = json.loads((RECORDED / f"{name}_digests.json").read_text(encoding="ascii"))
    assert len(recorded) == len(texts) >= 1000
    loaded = pipeline.load(folder, Reading(beams=1))
    out = tmp_path / "model" / "writer"
    pipeline.generate(pipeline.Request(folder, out, recipe="fp32", beams=1), lambda _: None)
    graph = pipeline.to_graph(loaded, None)
    assert graph.target_rules is not None
    tokenizer = text_tokenizer(loaded.tokenizer, graph.max_tokens)
    ids = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    assert [digest(one) for one in ids] == [read for read, _, _ in recorded]
    program = build_test(out, SOURCE, tmp_path / "program")
    lines = written(program, kernels(program)[-1], 1, 0, [(graph.target_rules.max_tokens, one) for one in ids])
    ours = [digest(line.split()[3:]) for line in lines]
    other = [
        i for i, (one, (_, theirs, near)) in enumerate(zip(ours, recorded, strict=True)) if one != theirs and not near
    ]
    assert not other, f"{len(other)} of {len(texts)}: {other[:5]}"
    assert sum(near for _, _, near in recorded) <= len(texts) // 100
