# SPDX-License-Identifier: Apache-2.0
"""`etch wheel`: prompts of a model that embeds, in Python and in its program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from arrow_strings import Chunked, Strings
from generator_program import etch
from model_build import build_model
from tiny_sentence import write_tiny_sentence_model
from wheels import imported

PROMPTS = {"query": "the cat ", "document": "", 'odd "é"\\,?': "a\n\0 dog\x01 "}
TEXTS = ["the cat", "a dog sat on the mat [SEP] and " * 9, "Ünïcode", "the dog"]


@pytest.mark.parametrize("usual", [None, "query"])
def test_prompts_before_texts(usual: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"prompts": PROMPTS, "default_prompt_name": usual}
    write_tiny_sentence_model(tmp_path / "checkpoint", settings=settings)
    out = tmp_path / ("tiny_prompts" if usual is None else "tiny_usual")
    done = etch("generate", tmp_path / "checkpoint", "--out", out)
    assert done.code == 0, done.err
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    package = imported(out, tmp_path / "site", monkeypatch)
    assert (PROMPTS, usual) == (package.PROMPTS, package.USUAL_PROMPT)
    model, program = package.Model(), build_model(out).program
    for name, prompt in PROMPTS.items():
        wanted = model.embed([prompt + text for text in TEXTS])
        assert np.array_equal(model.embed(TEXTS, prompt=name), wanted)
        assert np.array_equal(model.embed([text.encode() for text in TEXTS], name), wanted)
        assert np.array_equal(model.embed(Chunked(Strings(TEXTS[:2]), Strings(TEXTS[2:])), name), wanted)
        said = program.well("--json", "--prompt", name, "--", *TEXTS).objects
        assert np.array_equal(np.array([one["embedding"] for one in said], np.float32), wanted)
    plain = np.array([one["embedding"] for one in program.well("--json", "--", *TEXTS).objects], np.float32)
    assert np.array_equal(plain, model.embed(TEXTS, usual))
    assert not np.array_equal(model.embed(TEXTS, "query"), model.embed(TEXTS))
    with pytest.raises(ValueError, match="prompt 'queries' is none of 'query', 'document', "):
        model.embed(TEXTS, "queries")
