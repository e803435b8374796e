# SPDX-License-Identifier: Apache-2.0
"""M2M-100's own tokenizer files, as M2M100Tokenizer of transformers 5.23 reads them: recorded ids and texts, the
languages that are asked for, and what is refused."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sentencepiece_files import BYTE, CONTROL, USER_DEFINED, field, piece, sentencepiece_file

from codegen import pipeline
from codegen.emulate.generation import Generation
from codegen.errors import EtchError
from codegen.folders.manifest import read_manifest
from codegen.library_tokenizer.spelled import Speller
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.limits import Limits
from codegen.load.tokenizer_files.text_tokenizers import TextTokenizers, load_text_tokenizers
from codegen.request import Reading

GENERATION = Path(__file__).resolve().parents[1] / "generation"
sys.path.insert(0, str(GENERATION))
from m2m_files import FIRST, MADE_UP, PIECES, VOCABULARY, write_files  # noqa: E402 - of the folder beside

FOLDER = GENERATION / "m2m_100" / "languages"
RECORDED: dict[str, Any] = json.loads((GENERATION / "m2m_texts.json").read_text(encoding="utf-8"))
CODES = [f"__{code}__" for code in ("en", "ha", "is", "ja", "cs", "ru", "zh", "de")]  # of wmt21
MODEL, VOCAB, CONFIG, MAP = "sentencepiece.bpe.model", "vocab.json", "tokenizer_config.json", "special_tokens_map.json"
ADDED = "added_tokens.json"
SCORES = [(text, -float(i)) for i, text in enumerate(PIECES)]
Edit = Callable[[dict[str, Any]], object]


def read(folder: Path, rows: int = 1000) -> TextTokenizers:
    config = Config.from_json({"model_type": "m2m_100"})
    return load_text_tokenizers(CheckpointFolder(folder), config, Limits(8, rows, 64, "positions"))


def small(folder: Path, *edits: tuple[str, Edit | bytes | None]) -> Path:
    """A folder of eight languages with some files changed, or left out."""
    folder.mkdir()
    write_files(folder, [code.strip("_") for code in CODES], kind="wmt21")
    for name, edit in edits:
        if edit is None:
            (folder / name).unlink()
        elif isinstance(edit, bytes):
            (folder / name).write_bytes(edit)
        else:
            values = json.loads((folder / name).read_text(encoding="utf-8")) if (folder / name).exists() else {}
            edit(values)
            (folder / name).write_text(json.dumps(values), encoding="utf-8")
    return folder


def test_texts_and_ids_are_the_recorded_ones() -> None:
    both = read(FOLDER)
    tokenizer, speller = wheel_tokenizer(both.source), Speller(both.target)
    assert both.target.spec is both.source
    for text, ids in RECORDED["encoded"]:
        assert tokenizer.encode(text).ids == ids, text
    for ids, text in RECORDED["decoded"]:
        assert speller.text(ids) == text
    tokenizer.enable_truncation(20)
    texts = json.loads((FOLDER / "texts.json").read_text(encoding="utf-8"))
    assert any(len(text["ids"]) == 20 for text in texts)
    for text in texts:
        assert tokenizer.encode(text["prompt"]).ids == text["ids"]
        assert speller.text(text["written"]) == text["text"]


def published(out: Path) -> Path:
    """Without a language to write, as models of a hundred languages are published."""
    shutil.copytree(FOLDER, out)
    file = out / "generation_config.json"
    values = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(values | {"forced_bos_token_id": None}), encoding="utf-8")
    return out


def test_other_languages_than_the_folder_says(tmp_path: Path) -> None:
    loaded = pipeline.load(published(tmp_path / "model"), Reading(languages=("ru", "fr")))
    assert loaded.target is not None and loaded.target.spec is loaded.tokenizer
    program = pipeline.lower(loaded, "fp32", None)
    tokenizer, speller = wheel_tokenizer(loaded.tokenizer), Speller(loaded.target)
    for text, ids, whole, spelled in RECORDED["written"]:
        assert tokenizer.encode(text).ids == ids
        best = Generation(program, ids, [0] * len(ids)).beams()[0]
        assert program.target_rules is not None
        assert [*program.target_rules.begin, *best.tokens] == whole
        assert speller.text(whole) == spelled


def test_what_is_told(tmp_path: Path) -> None:
    def notes(folder: Path, languages: tuple[str, str] | None = None) -> str:
        return "\n".join(pipeline.load(folder, Reading(languages=languages)).notes)

    count = len(VOCABULARY) + 100
    assert f"the ids {count} to {count + MADE_UP - 1} have no piece: written, they add nothing" in notes(FOLDER)
    assert "en is read, de written; --languages FROM,TO: others of 100" in notes(FOLDER)
    model = published(tmp_path / "model")
    assert "no setting says in which of 100 languages to write: --languages en,TO" in notes(model)
    assert "zu is read, af written" in notes(model, ("zu", "af"))
    with pytest.raises(EtchError, match="no 'eng', but en, "):
        notes(model, ("eng", "fr"))


def test_the_languages_are_written_down(tmp_path: Path) -> None:
    request = pipeline.Request(published(tmp_path / "model"), tmp_path / "out", recipe="w8a8", languages=("ceb", "ast"))
    pipeline.generate(request, lambda _: None)
    assert read_manifest(tmp_path / "out")["languages"] == ["ceb", "ast"]


def test_pieces_that_are_written_otherwise_are_noted(tmp_path: Path) -> None:
    more = {"\u2581odd": len(VOCABULARY), "\u0085": len(VOCABULARY) + 1}
    folder = small(tmp_path / "model", (VOCAB, lambda ids: ids.update(more)))
    notes = "\n".join(read(folder).source.notes)
    assert "1 pieces that sentencepiece.bpe.model lacks, as '\u2581odd': U+2581 reads as a space" in notes
    assert "1 pieces begin or end with white space other than U+2581" in notes


def flags(text: str, **others: bool) -> dict[str, Any]:
    usual = {"lstrip": False, "rstrip": False, "normalized": False, "single_word": False, "special": True}
    return {"content": text, **usual, **others}


def as_saved(config: dict[str, Any]) -> None:
    """As transformers saves a tokenizer today."""
    tokens = {text: i for i, text in enumerate([*VOCABULARY, *CODES]) if text in {*VOCABULARY[:4], *CODES}}
    config["added_tokens_decoder"] = {str(i): flags(text) for text, i in tokens.items()}
    config["extra_special_tokens"] = config.pop("additional_special_tokens")


def unlisted(values: dict[str, Any]) -> None:
    values.pop("additional_special_tokens")


def add_codes(values: dict[str, Any]) -> None:
    values.update({code: len(VOCABULARY) + i for i, code in enumerate(CODES)})


@pytest.mark.parametrize(
    "edits",
    [
        (),
        ((MAP, None),),
        ((CONFIG, unlisted),),
        ((MAP, unlisted),),
        ((CONFIG, as_saved), (MAP, None)),
        ((CONFIG, unlisted), (ADDED, add_codes)),
        ((CONFIG, lambda values: values.update(src_lang="en", tgt_lang="de", num_madeup_words=3)),),
    ],
)
def test_files_that_say_the_same(edits: tuple[tuple[str, Edit | None], ...], tmp_path: Path) -> None:
    spec = read(small(tmp_path / "model", *edits)).source
    ids = {code: len(VOCABULARY) + i for i, code in enumerate(CODES)}
    text = "__de__the cat</s><s> a__af__"
    read_as = [44, 41, 2, 0, 38, 3, 4, 12, 3]  # of eight languages `af` is none
    assert wheel_tokenizer(spec).encode(text).ids == [ids["__en__"], ids["__de__"], *read_as, 2]
    assert wheel_tokenizer(spec).encode("a", "the").ids == [ids["__en__"], 38, 44, 2]
    assert {t.content for t in spec.added_tokens} == {*VOCABULARY[:4], *CODES}
    assert all(token.special and not token.normalized for token in spec.added_tokens)


def with_(**values: Any) -> tuple[str, Edit]:
    return CONFIG, lambda config: config.update(values)


def of_pieces(*more: tuple[str, float], first: tuple[tuple[str, int], ...] = (), model_type: int = 2) -> bytes:
    return sentencepiece_file([*FIRST, *first], [*SCORES, *more], model_type=model_type)


def listed(*codes: str) -> tuple[tuple[str, Edit], ...]:
    return tuple((name, lambda values: values.update(additional_special_tokens=[*codes])) for name in (CONFIG, MAP))


WHOLE = of_pieces()
SETTING = "sentencepiece-setting"


@pytest.mark.parametrize(
    ("code", "words", "edits"),
    [
        ("tokenizer-class", "'NllbTokenizer' is not supported", (with_(tokenizer_class="NllbTokenizer"),)),
        ("tokenizer-class", "only M2M100Tokenizer has", (with_(tokenizer_class="PreTrainedTokenizerFast"),)),
        ("tokenizer-setting", "'sp_model_kwargs'", (with_(sp_model_kwargs={"alpha": 0.1}),)),
        ("tokenizer-setting", "'model_input_names'", (with_(model_input_names=["input_ids", "token_type_ids"]),)),
        ("tokenizer-setting", "'language_codes': 'm2m'", (with_(language_codes="m2m"),)),
        ("tokenizer-setting", "'language_codes': a list of 1 is not supported", (with_(language_codes=["m2m100"]),)),
        ("tokenizer-setting", "'src_lang': 'fr' is none of the 8", (with_(src_lang="fr"),)),
        ("tokenizer-conflict", "other special tokens than the 8 of languages", listed(*CODES[::-1])),
        ("tokenizer-conflict", "other special tokens than the 8 of languages", listed(*CODES, "<more>")),
        ("tokenizer-conflict", "other special tokens than the 8 of languages", listed()),
        ("tokenizer-conflict", "'__ha__'", ((ADDED, lambda of: of.update(__en__=48)), (CONFIG, unlisted))),
        ("tokenizer-conflict", "has the id 50 here, it is 48", ((ADDED, lambda of: of.update(__en__=50)),)),
        ("missing-special-token", "no '<end>'", (with_(eos_token="<end>"), (MAP, None))),
        ("added-token-unsupported", "single_word", (with_(pad_token=flags("<pad>", single_word=True)), (MAP, None))),
        ("tokenizer-conflict", "it has '__ja__'", ((VOCAB, lambda ids: ids.update(__ja__=len(ids))),)),
        ("vocab-gap", "none has 48", ((VOCAB, lambda ids: ids.update(more=len(ids) + 1)),)),
        ("sentencepiece-type", "of type 1, only BPE", ((MODEL, of_pieces(model_type=1)),)),
        ("sentencepiece-malformed", MODEL, ((MODEL, WHOLE[:-1]),)),
        (SETTING, "without byte fallback", ((MODEL, WHOLE + field(2, field(3, 2) + field(35, 1))),)),
        (SETTING, "without more spaces", ((MODEL, WHOLE + field(3, field(4, 0))),)),
        (SETTING, "of type 4", ((MODEL, of_pieces(first=(("x", USER_DEFINED),))),)),
        (SETTING, "of type 6", ((MODEL, of_pieces(first=(("<0x00>", BYTE),))),)),
        (SETTING, "goes over a space", ((MODEL, of_pieces(("a\u2581b", -99.0))),)),
        (SETTING, "a character that is no piece", ((MODEL, of_pieces(("a\u4e2d", -99.0))),)),
        (SETTING, "'he' and 'ab' have one score", ((MODEL, of_pieces(("ab", -1.0))),)),
        (SETTING, "the control piece '#'", ((MODEL, of_pieces(first=(("#", CONTROL),))),)),
        (SETTING, "must be a special token", ((MODEL, of_pieces(first=(("\U0001f389!", CONTROL),))),)),
        ("tokenizer-conflict", "most of its pieces are not in", ((VOCAB, lambda ids: _keep(ids, 20)),)),
    ],
)
def test_what_is_refused(
    code: str, words: str, edits: tuple[tuple[str, Edit | bytes | None], ...], tmp_path: Path
) -> None:
    with pytest.raises(EtchError, match=words) as refused:
        read(small(tmp_path / "model", *edits))
    assert refused.value.code == code


def _keep(ids: dict[str, int], count: int) -> None:
    for text in [text for text, i in ids.items() if i >= count]:
        del ids[text]


def test_more_ids_than_rows(tmp_path: Path) -> None:
    folder, count = small(tmp_path / "model"), len(VOCABULARY) + len(CODES)
    assert read(folder, count).source.notes == ()
    for rows in (count - 1, len(VOCABULARY) - 1):
        with pytest.raises(EtchError) as refused:
            read(folder, rows)
        assert refused.value.code == "token-id-out-of-range"


def test_pieces_of_one_character_may_share_a_score(tmp_path: Path) -> None:
    """They are not merged to."""
    model = sentencepiece_file(
        FIRST, [(text, score if len(text) > 1 else -99.0) for text, score in SCORES], model_type=2
    )
    spec = read(small(tmp_path / "model", (MODEL, model))).source
    assert wheel_tokenizer(spec).encode("the cat").ids[1:] == [44, 41, 2]


def test_a_piece_that_is_listed_twice(tmp_path: Path) -> None:
    twice = WHOLE + piece("the", -200.0) + piece("the", -201.0)
    with pytest.raises(EtchError) as refused:
        read(small(tmp_path / "model", (MODEL, twice)))
    assert refused.value.code == "sentencepiece-malformed"
