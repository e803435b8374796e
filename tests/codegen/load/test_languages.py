# SPDX-License-Identifier: Apache-2.0
"""`--languages`: what a translator of many languages reads and writes, as transformers 5.23 does it for a tokenizer
with this `src_lang` and a call with this `forced_bos_token_id`; what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from codegen import pipeline
from codegen.emulate.generation import Generation
from codegen.errors import EtchError
from codegen.library_tokenizer.own_tokenizer import own_tokenizer
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.checkpoint import Checkpoint
from codegen.load.tokenizer_files.tokenizer_json.template import read_post_processor
from codegen.request import Reading

RECORDED = Path(__file__).resolve().parents[1] / "generation"
GERMAN, ENGLISH, FRENCH, END = 42, 43, 44, 2
# What the library reads in French and writes in English with the recorded model of NLLB's form.
WRITTEN = {
    "The cat and the hat": (
        [FRENCH, 4, 3, 32, 36, 41, 33, 4, 12, 34, END],
        [END, ENGLISH, 0, 35, 30, 44, 22, 27, 3, 16, 32, 11, 33, 26, 24, 5, 12, 10, 42],
    ),
    "a": (
        [FRENCH, 39, END],
        [END, ENGLISH, 0, 24, 33, 44, 22, 45, 14, 11, 32, 3, 16, 27, 13, 5, 35, 4, 18],
    ),
    "": ([FRENCH, END], [END, ENGLISH, 0, 24, 32, 33, 44, 22, 14, 11, 26, 18, 4, 16, 3, 27, 45, 13, 5]),
}


def place(out: Path, family: str = "m2m_100", **generation: Any) -> Path:
    """The recorded folder with other settings of generation."""
    shutil.copytree(RECORDED / family / "texts", out)
    file = out / "generation_config.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | generation), encoding="utf-8")
    return out


def load(folder: Path, languages: tuple[str, str] | None = ("fra_Latn", "eng_Latn")) -> Checkpoint:
    return pipeline.load(folder, Reading(languages=languages))


def test_texts_are_those_of_the_library(tmp_path: Path) -> None:
    loaded = load(place(tmp_path / "model", forced_bos_token_id=None))
    assert loaded.target is not None
    assert loaded.target.spec is loaded.tokenizer
    program = pipeline.lower(loaded, "fp32", None)
    tokenizer = wheel_tokenizer(loaded.tokenizer)
    for text, (read, written) in WRITTEN.items():
        ids = tokenizer.encode(text).ids
        assert ids == read
        best = Generation(program, ids, [0] * len(ids)).beams()[0]
        assert program.target_rules is not None
        assert [*program.target_rules.begin, *best.tokens] == written


@pytest.mark.parametrize(
    ("family", "languages", "ids"),
    [
        ("m2m_100", ("fra_Latn", "eng_Latn"), [FRENCH, 39, END]),
        ("m2m_100", ("deu_Latn", "eng_Latn"), [GERMAN, 39, END]),
        ("mbart", ("de_DE", "en_XX"), None),
    ],
)
def test_the_code_beside_texts(family: str, languages: tuple[str, str], ids: list[int] | None) -> None:
    """Of two texts, too, in the place where the folder has one; the same in what describes the tokenizer."""
    before, spec = (load(RECORDED / family / "texts", asked).tokenizer for asked in (None, languages))
    codes = {token.content: token.id for token in spec.added_tokens}
    number = {before.template.special_ids[0 if family == "m2m_100" else 1]: codes[languages[0]]}
    for parts, of_folder in (
        (spec.template.single, before.template.single),
        (spec.template.pair, before.template.pair),
    ):
        assert [part.content for part in parts] == [number.get(part.content, part.content) for part in of_folder]
    described = json.loads(spec.json)
    assert read_post_processor(described["post_processor"], codes).template == spec.template
    read = wheel_tokenizer(spec).encode("a").ids
    assert read == (ids or [*wheel_tokenizer(spec).encode("a", add_special_tokens=False).ids, END, codes["de_DE"]])
    own = own_tokenizer(RECORDED / family / "texts", 20, before.template, languages)
    assert not isinstance(own, str)
    assert own.tokenizer.encode("a").ids == read


def test_what_a_target_begins_with(tmp_path: Path) -> None:
    """The language behind the first token, over what the folder says; or in its place where that is one's already. A
    token that is forced counts for `max_length`."""
    for name, settings, begin, most in (
        ("forced", {"max_new_tokens": None, "max_length": 12}, (END, ENGLISH), 10),
        ("free", {"forced_bos_token_id": None, "max_new_tokens": None, "max_length": 12}, (END, ENGLISH), 10),
        (
            "first",
            {"forced_bos_token_id": None, "decoder_start_token_id": GERMAN, "max_new_tokens": None, "max_length": 12},
            (ENGLISH,),
            11,
        ),
    ):
        rules = pipeline.to_graph(load(place(tmp_path / name, **settings)), None).target_rules
        assert rules is not None
        assert (rules.begin, rules.max_tokens) == (begin, most)


def test_what_is_told(tmp_path: Path) -> None:
    said = "eng_Latn is read, deu_Latn written; --languages FROM,TO: others of 3"
    assert said in load(place(tmp_path / "said"), None).notes
    silent = place(tmp_path / "silent", forced_bos_token_id=None)
    assert "no setting says in which of 3 languages to write: --languages eng_Latn,TO" in load(silent, None).notes
    assert "fra_Latn is read, eng_Latn written; --languages FROM,TO: others of 3" in load(silent).notes


@pytest.mark.parametrize(
    ("model", "languages", "words"),
    [
        ("m2m_100/texts", ("fra", "eng_Latn"), "no 'fra', but fra_Latn"),
        ("m2m_100/texts", ("fra_Latn", "</s>"), "no '</s>', but"),
        ("mbart/texts", ("en_XX", "xx_XX"), "no 'xx_XX', but .* and others"),
        ("bart/texts", ("en_XX", "de_DE"), "for translators of many"),
        ("../recorded/bert/softmax", ("en_XX", "de_DE"), "for translators of many"),
        ("../recorded/gru/no_bias", ("en_XX", "de_DE"), "for translators of many"),
    ],
)
def test_what_is_refused(model: str, languages: tuple[str, str], words: str) -> None:
    with pytest.raises(EtchError, match=words) as caught:
        load(RECORDED / model, languages)
    assert (caught.value.code, caught.value.stage) == ("option-conflict", "arguments")
