# SPDX-License-Identifier: Apache-2.0
"""Folders of NLLB's and PEGASUS's tokenizers, as transformers 5.23 reads them (AutoTokenizer was asked for the same
folders): ids, notes of parts that the class makes otherwise, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sentencepiece_files import sentencepiece_file

from codegen.errors import EtchError
from codegen.ir.normalizer_spec import CharsmapNormalizer
from codegen.ir.tokenizer_spec import MetaspaceSegmenter, TokenizerSpec
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.folders.pegasus import pegasus_vocabulary
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

RECORDED = Path(__file__).resolve().parents[1] / "generation"
CONFIG, JSON, MAP = "tokenizer_config.json", "tokenizer.json", "special_tokens_map.json"
USUAL = {"m2m_100": "M2M100Tokenizer", "pegasus": "PegasusTokenizer"}
NAMES = {"m2m_100": "NllbTokenizer", "pegasus": "PegasusTokenizer"}
NOTES = {
    "m2m_100": ("'<mask>': found in a text before it is normalized, transformers finds it behind that",),
    "pegasus": (),
}
METASPACE = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
ENGLISH, FRENCH, END = 43, 44, 2
Edit = Callable[[dict[str, Any]], object]


def place(out: Path, family: str, *edits: tuple[str, Edit]) -> Path:
    """The recorded files, some of them changed."""
    out.mkdir()
    for name in (CONFIG, JSON):
        shutil.copy(RECORDED / family / "texts" / name, out / name)
    for name, edit in edits:
        values = json.loads((out / name).read_text(encoding="utf-8")) if (out / name).exists() else {}
        edit(values)
        (out / name).write_text(json.dumps(values), encoding="utf-8")
    return out


def read(folder: Path, family: str, class_in_config: str | None = None) -> TokenizerSpec:
    vocabulary = json.loads((RECORDED / family / "texts" / "config.json").read_text(encoding="utf-8"))["vocab_size"]
    return load_tokenizer(CheckpointFolder(folder), vocabulary, class_in_config, USUAL[family])


@pytest.mark.parametrize("family", USUAL)
def test_ids_are_the_recorded_ones(family: str, tmp_path: Path) -> None:
    spec = read(place(tmp_path / "model", family), family)
    assert isinstance(spec.normalizer, CharsmapNormalizer)
    assert spec.segmenter == MetaspaceSegmenter("always", split=True, split_whitespace=False)
    assert spec.notes == NOTES[family]
    assert not any(token.normalized for token in spec.added_tokens)
    tokenizer = wheel_tokenizer(spec)
    tokenizer.enable_truncation(20)
    for text in json.loads((RECORDED / family / "texts" / "texts.json").read_text(encoding="utf-8")):
        assert tokenizer.encode(text["prompt"]).ids == text["ids"]


def template(*parts: str) -> Edit:
    """Of one text and of two; a part is `A`, or a special token."""

    def listed(*texts: str) -> list[dict[str, Any]]:
        around = [one for part in parts for one in (texts if part == "A" else (part,))]
        kinds = ["Sequence" if one in texts else "SpecialToken" for one in around]
        return [{kind: {"id": one, "type_id": 0}} for kind, one in zip(kinds, around, strict=True)]

    def edit(values: dict[str, Any]) -> None:
        ids = {token["content"]: token["id"] for token in values["added_tokens"]}
        special = {part: {"id": part, "ids": [ids[part]], "tokens": [part]} for part in parts if part != "A"}
        made = {"type": "TemplateProcessing", "single": listed("A"), "pair": listed("A", "B")}
        values.update(post_processor=made | {"special_tokens": special})

    return edit


@pytest.mark.parametrize(
    ("settings", "parts", "ids"),
    [
        ({"src_lang": "fra_Latn"}, ("fra_Latn", "A", "</s>"), [FRENCH, 39, END]),
        ({"src_lang": None}, ("eng_Latn", "A", "</s>"), [ENGLISH, 39, END]),
        ({"legacy_behaviour": True}, ("A", "</s>", "eng_Latn"), [39, END, ENGLISH]),
    ],
)
def test_the_language_of_texts(settings: dict[str, Any], parts: Any, ids: list[int], tmp_path: Path) -> None:
    said = (CONFIG, lambda values: values.update(settings))
    made = place(tmp_path / "model", "m2m_100", said, (JSON, template(*parts)))
    assert wheel_tokenizer(read(made, "m2m_100")).encode("a").ids == ids
    if settings.get("src_lang", "") is None:
        return
    with pytest.raises(EtchError, match=r"src_lang is|legacy_behaviour asks") as caught:
        read(place(tmp_path / "other", "m2m_100", said), "m2m_100")
    assert caught.value.code == "tokenizer-conflict"


def test_names_of_the_class(tmp_path: Path) -> None:
    """That of config.json counts where tokenizer_config.json has none, and the family's own is another one."""
    made = place(tmp_path / "model", "m2m_100", (CONFIG, lambda values: values.update(tokenizer_class=None)))
    assert read(made, "m2m_100", "NllbTokenizerFast").notes == NOTES["m2m_100"]
    with pytest.raises(EtchError, match="'M2M100Tokenizer' is not supported") as caught:
        read(made, "m2m_100")
    assert caught.value.code == "tokenizer-class"


OTHERS: list[tuple[str, Edit, list[str]]] = [
    ("m2m_100", lambda values: values.update(normalizer=None), []),
    ("m2m_100", lambda values: values["normalizer"]["normalizers"].pop(), ["normalizer"]),
    ("m2m_100", lambda values: values["pre_tokenizer"].update(prepend_scheme="first"), ["pre_tokenizer"]),
    ("m2m_100", lambda values: values["model"].update(fuse_unk=False), ["model"]),
    ("m2m_100", lambda values: values["decoder"].update(prepend_scheme="never"), ["decoder"]),
    ("pegasus", lambda values: values["normalizer"]["normalizers"].pop(), ["normalizer"]),
    ("pegasus", lambda values: values.update(normalizer=None), ["normalizer"]),
    (
        "pegasus",
        lambda values: values.update(
            pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, METASPACE]}
        ),
        ["pre_tokenizer"],
    ),
    ("pegasus", template("<mask_1>", "A", "</s>"), ["post_processor"]),
    ("pegasus", lambda values: values["decoder"].update(prepend_scheme="never"), ["decoder"]),
]


@pytest.mark.parametrize(("family", "edit", "other"), OTHERS)
def test_what_the_class_makes_otherwise_is_noted(family: str, edit: Edit, other: list[str], tmp_path: Path) -> None:
    notes = read(place(tmp_path / "model", family, (JSON, edit)), family).notes
    expected = [f"{NAMES[family]} of transformers has another {part}: tokenizer.json counts" for part in other]
    assert [note for note in notes if note.endswith("counts")] == expected


def dropped(text: str) -> Edit:
    """A token that is no added one any more."""

    def edit(values: dict[str, Any]) -> None:
        values["added_tokens"] = [token for token in values["added_tokens"] if token["content"] != text]

    return edit


def unlisted(values: dict[str, Any]) -> None:
    del values["extra_special_tokens"]


REFUSED: list[tuple[str, tuple[tuple[str, Edit], ...], str]] = [
    ("m2m_100", ((CONFIG, unlisted),), "the class adds 'ace_Arab'"),
    ("m2m_100", ((CONFIG, lambda values: values.update(extra_special_tokens={"a": "<s>"})),), "the class adds"),
    ("m2m_100", ((CONFIG, lambda values: values.update(unk_token="<s>")),), "the unknown piece '<s>'"),
    ("m2m_100", ((CONFIG, lambda values: values.update(eos_token="<s>")),), "eos_token is '<s>'"),
    ("pegasus", ((CONFIG, lambda values: values.update(offset=6)),), "adds '<unk_5>'"),
    ("pegasus", ((CONFIG, lambda values: values.pop("offset")),), "adds '<unk_5>'"),
    ("pegasus", ((CONFIG, lambda values: values.update(mask_token_sent="a")),), "adds 'a'"),
    ("pegasus", ((CONFIG, lambda values: values.update(eos_token="a")),), "adds 'a'"),
    ("pegasus", ((JSON, dropped("<mask_1>")),), "adds '<mask_1>'"),
    ("pegasus", ((JSON, lambda values: values["model"]["vocab"][7].__setitem__(1, -1.0)),), "of score 0"),
]


@pytest.mark.parametrize(("family", "edits", "says"), REFUSED)
def test_what_is_refused(family: str, edits: tuple[tuple[str, Edit], ...], says: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError, match=says) as caught:
        read(place(tmp_path / "model", family, *edits), family)
    assert caught.value.code == "tokenizer-conflict"


def test_an_offset_that_is_none(tmp_path: Path) -> None:
    made = place(tmp_path / "model", "pegasus", (CONFIG, lambda values: values.update(offset="a")))
    with pytest.raises(EtchError) as caught:
        read(made, "pegasus")
    assert caught.value.code == "config-type"


def test_codes_that_an_older_file_lists(tmp_path: Path) -> None:
    codes = {"additional_special_tokens": ["deu_Latn", "eng_Latn", "fra_Latn"]}
    made = place(tmp_path / "model", "m2m_100", (CONFIG, unlisted), (MAP, lambda values: values.update(codes)))
    assert read(made, "m2m_100").notes == NOTES["m2m_100"]


def test_the_file_of_sentencepiece_beside_it(tmp_path: Path) -> None:
    """PEGASUS's own pieces and its training's are what the class puts before them; alone the file is refused."""
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("a", -1.0)]
    vocab = pegasus_vocabulary(pieces)
    assert (len(vocab), vocab[104], vocab[105:]) == (107, ("<unk_102>", -100.0), pieces[2:])

    def full(values: dict[str, Any]) -> None:
        values["model"].update(vocab=[list(piece) for piece in vocab], unk_id=105)
        kept = {token["content"]: token for token in values["added_tokens"]}
        plain = kept["<unk_2>"]
        values["added_tokens"] = [
            {**kept.get(text, plain), "content": text, "id": i} for i, (text, _) in enumerate(vocab[:106])
        ]

    def silent(values: dict[str, Any]) -> None:
        values.pop("offset")
        values.pop("extra_special_tokens")

    made = place(tmp_path / "model", "pegasus", (JSON, full), (CONFIG, silent))
    charsmap = read(place(tmp_path / "own", "pegasus"), "pegasus").normalizer
    assert isinstance(charsmap, CharsmapNormalizer)
    raw = sentencepiece_file((("<pad>", 3), ("</s>", 3), ("<unk>", 2)), pieces[3:], charsmap.charsmap or b"")
    (made / "spiece.model").write_bytes(raw)
    spec = load_tokenizer(CheckpointFolder(made), 107, None, "PegasusTokenizer")
    assert (wheel_tokenizer(spec).encode("a").ids[-2:], spec.notes) == ([106, 1], ())
    (made / JSON).unlink()
    with pytest.raises(EtchError, match=r"needs tokenizer\.json") as caught:
        load_tokenizer(CheckpointFolder(made), 107, None, "PegasusTokenizer")
    assert caught.value.code == "tokenizer-class"
