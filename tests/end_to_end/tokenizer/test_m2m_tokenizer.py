# SPDX-License-Identifier: Apache-2.0
"""M2M-100's own tokenizer files: SentencePiece's BPE with ids of vocab.json, against what M2M100Tokenizer made of texts
and ids, and against the `sentencepiece` library as it is driven there."""

from __future__ import annotations

import io
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from test_marian_tokenizer import assert_same, corpus_texts, drawn_texts
from tokenizer_harness import Decoding, random_source
from tokenizer_texts import random_bytes, scalar_texts
from unigram import compiled

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import CharacterBpeModel
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.limits import Limits
from codegen.load.tokenizer_files.text_tokenizers import TextTokenizers, load_text_tokenizers
from codegen.tokenizer import compile_tokenizer

GENERATION = Path(__file__).resolve().parents[2] / "codegen" / "generation"
sys.path[:0] = [str(GENERATION), str(GENERATION.parent / "load")]
from m2m_files import FIRST, write_files  # noqa: E402 - of the folder above
from sentencepiece_files import sentencepiece_file  # noqa: E402 - of the folder above

RECORDED: dict[str, Any] = json.loads((GENERATION / "m2m_texts.json").read_text(encoding="utf-8"))
WMT21 = ("en", "ha", "is", "ja", "cs", "ru", "zh", "de")


def tokenizers(folder: Path) -> TextTokenizers:
    config = Config.from_json({"model_type": "m2m_100"})
    return load_text_tokenizers(CheckpointFolder(folder), config, Limits(8, 60_000, 64, "positions"))


def made(folder: Path, model: bytes, texts: list[str]) -> TextTokenizers:
    """With these pieces, whose ids are the places of their texts in a vocab.json."""
    folder.mkdir(exist_ok=True)
    write_files(folder, WMT21, kind="wmt21")
    (folder / "sentencepiece.bpe.model").write_bytes(model)
    ids = {text: i for i, text in enumerate(dict.fromkeys(["<s>", "<pad>", "</s>", "<unk>", *texts]))}
    (folder / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    return tokenizers(folder)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return corpus_texts()


@pytest.fixture(scope="module")
def trained(lines: list[str], tmp_path_factory: pytest.TempPathFactory) -> TextTokenizers:
    """SentencePiece's BPE of many languages, with ids by how often pieces were found: those of rare ones are missing,
    and unknown text has some."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines[::15]),
        model_writer=written,
        model_type="bpe",
        vocab_size=3000,
        character_coverage=0.99,
        minloglevel=2,
    )
    model = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    found = Counter(text for row in model.encode(lines[::5], return_type=str) for text in row)
    return made(tmp_path_factory.mktemp("m2m"), written.getvalue(), [text for text, _ in found.most_common(2800)])


def test_texts_and_ids() -> None:
    both = tokenizers(GENERATION / "m2m_100" / "languages")
    results = assert_same(both.source, [text for text, _ in RECORDED["encoded"]])
    assert [result.ids.tolist() for result in results] == [ids for _, ids in RECORDED["encoded"]]
    rows = [ids for ids, _ in RECORDED["decoded"]]
    parts = Decoding(both.target.spec, both.target.decoder).decode(rows, skip_special=True)
    assert [b"".join(row).decode() for row in parts] == [text for _, text in RECORDED["decoded"]]


def test_drawn_texts(trained: TextTokenizers, lines: list[str]) -> None:
    model, source = trained.source.model, random_source()
    assert isinstance(model, CharacterBpeModel) and model.without_id and model.named
    spelled = [*filter(None, model.pieces), *model.without_id, *(text for text, _ in model.named)]
    texts: list[str | bytes] = [*drawn_texts(source, lines, spelled, 3000)]
    texts += [random_bytes(source, 40) for _ in range(300)]
    for plain_text in (False, True):
        results = assert_same(trained.source, texts, plain_text)
    written = {number for result in results for number in result.ids.tolist()}
    assert {number for _, number in model.named} & written


@pytest.mark.sweep
def test_every_character(trained: TextTokenizers) -> None:
    texts = [line for text in scalar_texts(64) for line in (text, text.replace(b"\n", b" \xcc\x81"))]
    assert_same(trained.source, texts)


def test_drawn_vocabularies(tmp_path: Path) -> None:
    """Pieces of few letters, which spell each other in many ways; some lack an id."""
    source = random_source()
    for number in range(30):
        letters = "abc"[: source.randint(1, 3)] + "\u00e9\u65e5"[: source.randint(0, 2)]
        drawn = {"".join(source.choices(letters, k=source.randint(2, 6))) for _ in range(source.randint(3, 40))}
        drawn |= {"\u2581" + text for text in drawn if source.random() < 0.5}
        merged = source.sample(sorted(drawn), len(drawn))
        pieces = [*merged, *(text for text in ("\u2581", *letters) if text not in merged)]
        model = sentencepiece_file(FIRST, [(text, -float(i)) for i, text in enumerate(pieces)], model_type=2)
        known = source.sample(pieces, len(pieces) - source.randint(0, len(pieces) // 4))  # in any order
        spec = made(tmp_path / str(number), model, [*known, "x", "zx", "\u65e5x"]).source
        some = letters + source.choice(["", "xz"])
        texts = [
            " ".join("".join(source.choices(some, k=source.randint(1, 12))) for _ in range(source.randint(1, 30)))
            for _ in range(60)
        ]
        for plain_text in (False, True):
            assert_same(spec, [*texts, "__de__ a</s>b"], plain_text)


def test_a_map_that_breaks_characters(tmp_path: Path) -> None:
    """A key that ends within a character: the library would put half of one into the text."""
    whole = compiled({"\u00e9": "e"})
    units = np.frombuffer(whole, "<u4", (len(whole) - 4) // 4, 4).copy()
    place = int(units[0]) >> 10 ^ 0xC3
    units[place] |= 1 << 8
    units[place ^ int(units[place]) >> 10] = 1 << 31
    broken = whole[:4] + units.tobytes() + whole[4 + units.nbytes :]
    for charsmap in (whole, broken):
        model = sentencepiece_file(FIRST, [("\u2581", 0.0), ("e", -1.0)], charsmap, model_type=2)
        spec = made(tmp_path, model, ["e", "\u2581"]).source
        if charsmap is whole:
            compile_tokenizer(spec)
            continue
        with pytest.raises(EtchError, match="within a character"):
            compile_tokenizer(spec)


def test_nothing_is_taken_for_a_code_of_marian(trained: TextTokenizers) -> None:
    """What Marian's models begin with is text here."""
    first, second = assert_same(trained.source, [">>de<< a", "de a"])
    assert len(first.ids) > len(second.ids)
