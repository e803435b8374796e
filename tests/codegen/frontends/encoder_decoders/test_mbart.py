# SPDX-License-Identifier: Apache-2.0
"""mBART as a family: what its folders may say, with a first token that is forced, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_decoders import folder, graph_of

from codegen import pipeline
from codegen.errors import EtchError

GERMAN = 42


def tokenizer_folder(out: Path, **changes: Any) -> Path:
    """With keys of tokenizer_config.json changed."""
    made = folder(out, "mbart")
    file = made / "tokenizer_config.json"
    values = json.loads(file.read_text(encoding="utf-8")) | changes
    file.write_text(json.dumps(values), encoding="utf-8")
    return made


def test_what_a_folder_says(tmp_path: Path) -> None:
    rules = graph_of(folder(tmp_path / "model", "mbart")).target_rules
    assert rules is not None
    assert (rules.begin, rules.counted, rules.max_tokens, rules.least_tokens) == ((2, GERMAN), 1, 17, 3)
    assert (rules.search.beams, rules.search.length_penalty) == (3, 2.0)
    silent = {"forced_bos_token_id": None, "max_new_tokens": None, "min_length": None}
    for name, changes, expected in (
        ("free", {}, ((2,), 0, 23, 0)),
        ("forced", {"forced_bos_token_id": GERMAN}, ((2, GERMAN), 1, 22, 0)),
    ):
        rules = graph_of(folder(tmp_path / name, "mbart", generation=silent | changes)).target_rules
        assert rules is not None
        assert (rules.begin, rules.counted, rules.max_tokens, rules.least_tokens) == expected


def test_older_files(tmp_path: Path) -> None:
    """Keys that say what the class does anyway."""
    keys = {
        **dict.fromkeys(("normalize_before", "normalize_embedding", "add_final_layer_norm"), True),
        **{"static_position_embeddings": False, "extra_pos_embeddings": 2, "add_bias_logits": False},
    }
    notes = graph_of(folder(tmp_path / "model", "mbart", **keys)).notes
    assert notes == ()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"architectures": ["MBartForSequenceClassification"]}, "architecture-not-supported"),
        ({"normalize_before": False}, "generation-not-supported"),
        ({"add_final_layer_norm": False}, "generation-not-supported"),
        ({"extra_pos_embeddings": 1}, "generation-not-supported"),
        ({"encoder_layers": 2}, "missing-tensor"),
        ({"num_hidden_layers": 2}, "config-value"),
        ({"hidden_size": 8}, "config-value"),
        ({"decoder_layers": 2}, "missing-tensor"),
        ({"vocab_size": 65}, "token-id-out-of-range"),
        ({"vocab_size": 67}, "wrong-shape"),
        ({"generation": {"decoder_start_token_id": 66}}, "token-id-out-of-range"),
        ({"generation": {"forced_bos_token_id": 66}}, "token-id-out-of-range"),
        ({"generation": {"forced_bos_token_id": 7}}, "generation-not-supported"),
        ({"generation": {"forced_bos_token_id": 2}}, "generation-value"),
        ({"generation": {"max_new_tokens": 25}}, "max-tokens-out-of-range"),
        ({"generation": {"num_beams": 0}}, "generation-value"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(folder(tmp_path / "model", "mbart", **changes))
    assert caught.value.code == code


def test_the_language_of_texts(tmp_path: Path) -> None:
    """tokenizer.json has its code behind a text: with another one it would not be what the class reads."""
    graph_of(tokenizer_folder(tmp_path / "fifty", tokenizer_class="MBart50Tokenizer"))
    with pytest.raises(EtchError, match="src_lang is 'de_DE'") as caught:
        graph_of(tokenizer_folder(tmp_path / "other", src_lang="de_DE"))
    assert caught.value.code == "tokenizer-conflict"
    made = tokenizer_folder(tmp_path / "without")
    (made / "tokenizer.json").unlink()
    with pytest.raises(EtchError) as caught:
        graph_of(made)
    assert caught.value.code == "tokenizer-class"


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"eos_token": "<mask>"}, "eos_token is '<mask>'"), ({"src_lang": "x"}, "src_lang is 'x'")],
)
def test_another_template_by_the_configuration(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError, match=says) as caught:
        graph_of(tokenizer_folder(tmp_path / "model", **changes))
    assert caught.value.code == "tokenizer-conflict"


METASPACE = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}


@pytest.mark.parametrize("change", [{"unk_id": 4}, {"byte_fallback": True}])
def test_another_unknown_piece(change: dict[str, Any], tmp_path: Path) -> None:
    made = tokenizer_folder(tmp_path / "model")
    file = made / "tokenizer.json"
    described = json.loads(file.read_text(encoding="utf-8"))
    described["model"] |= change
    if "byte_fallback" in change:
        described["model"]["vocab"] += [[f"<0x{byte:02X}>", -9.0] for byte in range(256)]
    file.write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(EtchError, match="the unknown piece 3 and no byte fallback"):
        pipeline.load(made)


@pytest.mark.parametrize(
    ("name", "changes", "other"),
    [
        ("MBartTokenizer", {}, []),
        ("MBartTokenizer", {"normalizer": {"type": "NFKC"}}, ["normalizer"]),
        ("MBartTokenizer", {"pre_tokenizer": METASPACE}, ["pre_tokenizer"]),
        ("MBart50Tokenizer", {"pre_tokenizer": METASPACE}, ["normalizer", "post_processor"]),
    ],
)
def test_what_the_class_makes_otherwise_is_noted(
    name: str, changes: dict[str, Any], other: list[str], tmp_path: Path
) -> None:
    made = tokenizer_folder(tmp_path / "model", tokenizer_class=name)
    file = made / "tokenizer.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | changes), encoding="utf-8")
    notes = pipeline.load(made).tokenizer.notes
    assert [note for note in notes if note.endswith("counts")] == [
        f"{name} of transformers has another {part}: tokenizer.json counts" for part in other
    ]
