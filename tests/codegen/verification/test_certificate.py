# SPDX-License-Identifier: Apache-2.0
"""`verify` beside the folder's own tokenizer, and the certificate of that, with a stand-in for the built program."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from tokenizers import Tokenizer
from verify_case import MAX_TOKENS, TEXTS, Case

from codegen.errors import EtchError
from codegen.ir.template_spec import bert_template
from codegen.library_tokenizer import own_tokenizer as own_module
from codegen.library_tokenizer.decoded import decoded

BY_TOKENIZERS = f"tokenizers {tokenizers.__version__} from tokenizer.json"


@pytest.fixture(autouse=True)
def without_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_module.importlib.util, "find_spec", lambda name: None)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    case = Case(tmp_path, "w8a8", TEXTS)
    assert case.run() == 0, case.report
    return case


def test_verify_compares_with_the_folders_own_tokenizer(case: Case) -> None:
    assert f"tokenizer    0 of 9 with ids other than the folder's own: {BY_TOKENIZERS}" in case.lines


def test_verify_says_where_it_cannot(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_module, "FILE", "elsewhere.json")
    assert case.run() == 0
    reason = "the folder has no elsewhere.json, and transformers is not installed"
    assert f"tokenizer    not compared with the folder's own: {reason}" in case.lines


def test_verify_notices_that_the_folder_was_understood_wrongly(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the folder's own tokenizer kept the accents that etch reads it as dropping."""
    other = Tokenizer.from_file(str(case.checkpoint / "tokenizer.json"))
    other.normalizer = None
    monkeypatch.setattr(own_module, "_read", lambda folder, language: own_module.OwnTokenizer(other, "another"))
    assert case.run() == 1
    assert "tokenizer    2 of 9 with ids other than the folder's own (the first: 3): another" in case.report


def test_certificate(case: Case, tmp_path: Path) -> None:
    out = tmp_path / "certificate.json"
    assert case.certify(out) == 0, case.report
    told = json.loads(out.read_text())
    tokens = [i for encoding in case.encodings for i in encoding.ids]
    assert told["compared_with"] == BY_TOKENIZERS
    assert (told["texts"], told["pairs"]) == (len(TEXTS), len(case.encodings) - len(TEXTS))
    assert told["pairs"] > 2
    assert (told["tokens"], told["differences"]) == (len(tokens), 0)
    assert told["unknown_share"] == pytest.approx(np.mean([i == 1 for i in tokens]), abs=1e-6)
    cut = sum(bool(encoding.overflowing) for encoding in case.encodings)
    assert (told["truncated_texts"], told["max_tokens"]) == (cut, MAX_TOKENS)
    assert told["sha256"]["texts"] == hashlib.sha256(b"".join(text + b"\n" for text in TEXTS)).hexdigest()
    files = {name: hashlib.sha256((case.checkpoint / name).read_bytes()).hexdigest() for name in ("tokenizer.json",)}
    assert told["sha256"] | files == told["sha256"]
    assert "differences  0 in ids, offsets or cutting" in case.lines
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("tmp")] == []


def test_every_difference_is_counted(case: Case, tmp_path: Path) -> None:
    case.ids[1].append(3)
    case.offsets[3][1][0] += 1
    whichs = [encoding.sequence_ids for encoding in case.encodings]
    pair = next(i for i, which in enumerate(whichs) if 1 in which)
    case.offsets[pair][whichs[pair].index(1)][1] += 1  # of the second text
    case.run()
    out = tmp_path / "certificate.json"
    assert case.certify(out) == 1
    told = json.loads(out.read_text())
    assert told["differences"] == 3
    assert [line.split(": b")[0] for line in told["first_differences"]] == [
        "text 2: other ids",
        "text 4: other offsets",
        f"pair {pair - case.singles + 1}: other offsets",
    ]


def test_a_certificate_needs_texts_and_something_to_compare_with(case: Case, tmp_path: Path) -> None:
    out = tmp_path / "certificate.json"
    file, case.file = case.file, None
    with pytest.raises(EtchError, match="needs --texts") as refused:
        case.certify(out)
    assert (refused.value.stage, refused.value.code) == ("verify", "option-incomplete")
    case.file = file
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own_module, "FILE", "elsewhere.json")
        with pytest.raises(EtchError, match="the folder has no") as refused:
            case.certify(out)
    assert refused.value.code == "nothing-to-compare"
    assert not out.exists()


def test_a_certificate_is_written_whole_or_not_at_all(case: Case, tmp_path: Path) -> None:
    """Readable by all like what else etch writes, and nothing lies beside it where it cannot be written."""
    out = tmp_path / "new" / "certificate.json"
    assert case.certify(out) == 0, case.report
    assert out.stat().st_mode & 0o777 == 0o644
    assert [path.name for path in out.parent.iterdir()] == [out.name]
    for place, reason in ((out.parent, "it is a folder"), (out / "certificate.json", "a file is where its folder")):
        before = sorted(path.name for path in tmp_path.iterdir())
        with pytest.raises(EtchError, match=reason) as refused:
            case.certify(place)
        assert (refused.value.stage, refused.value.code) == ("verify", "write-failed")
        assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_foreign_library_that_cannot_read_the_folder_is_a_reason(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    assert "its library cannot read it: " in str(own_module.own_tokenizer(tmp_path, 8, bert_template(0, 1)))


def test_bytes_of_characters() -> None:
    text, begins = decoded("a\u00e9".encode() + b"\xff\xe4\xb8z" + "\U0001f600".encode())
    assert text == "a\u00e9\ufffd\ufffdz\U0001f600"
    assert begins.tolist() == [0, 1, 3, 4, 6, 7, 11]
