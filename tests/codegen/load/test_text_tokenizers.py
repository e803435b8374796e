# SPDX-License-Identifier: Apache-2.0
"""The two tokenizers of generative models: what is said of the texts that they write."""

from __future__ import annotations

from pathlib import Path

import pytest
import test_decoders
import test_marian
import test_transformer
from malformed import put

from codegen import pipeline

CONFIG = "tokenizer_config.json"
CLEANS = "clean_up_tokenization_spaces"
CLEANS_BPE = "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"


def made(family: str, out: Path) -> Path:
    """A recorded checkpoint."""
    if family == "marian":
        return test_marian.folder(out)
    if family == "transformer":
        return test_transformer.folder(out, test_transformer.PAPER)
    return test_decoders.folder(out, family)


def notes_on_spaces(folder: Path) -> list[str]:
    return [note for note in pipeline.load(folder).notes if CLEANS in note]


@pytest.mark.parametrize("family", ["t5", "mbart", "marian", "pegasus", "transformer"])
def test_spaces_that_the_library_drops_are_noted(family: str, tmp_path: Path) -> None:
    folder = made(family, tmp_path / "model")
    for value, noted in ((False, []), (True, [f"{CONFIG}: {CLEANS} is not done: texts keep spaces"])):
        put(CONFIG, **{CLEANS: value})(folder)
        assert [note[: len(noted[0])] for note in notes_on_spaces(folder)] == noted


@pytest.mark.parametrize("family", ["bart", "gpt2", "llama", "m2m_100"])
def test_of_bpe_it_drops_none_unless_it_is_told_twice(family: str, tmp_path: Path) -> None:
    folder = made(family, tmp_path / "model")
    for keys, noted in (((CLEANS,), 0), ((CLEANS, CLEANS_BPE), 1)):
        put(CONFIG, **dict.fromkeys(keys, True))(folder)
        assert len(notes_on_spaces(folder)) == noted


def test_a_tokenizer_of_the_target_alone_says_it_for_itself(tmp_path: Path) -> None:
    folder = test_transformer.folder(tmp_path / "model", test_transformer.COURSE)
    put(CONFIG, **{CLEANS: True})(folder)
    assert notes_on_spaces(folder) == []
    put(f"target/{CONFIG}", **{CLEANS: True})(folder)
    (note,) = notes_on_spaces(folder)
    assert note.startswith(f"target/{CONFIG}: {CLEANS}")
