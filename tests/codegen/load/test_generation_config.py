# SPDX-License-Identifier: Apache-2.0
"""generation_config.json: what is read, what is refused by name, what is reported."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codegen.errors import EtchError
from codegen.ir.search import Restrictions, Sampling, Search
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.generation_config import FILE, GenerationSettings, read_generation

VOCABULARY = 100
SOUND = {"decoder_start_token_id": 99, "eos_token_id": 2, "pad_token_id": 99, "bos_token_id": 0}


def settings(
    folder: Path,
    values: dict[str, Any] | None,
    config: dict[str, Any] | None = None,
    *,
    has_encoder: bool = True,
    max_target: int | None = None,
) -> GenerationSettings:
    """`values` are those of generation_config.json, None where the folder has none."""
    if values is not None:
        (folder / FILE).write_text(json.dumps(values), encoding="utf-8")
    read = Config.from_json({"model_type": "bart", **(config or {})})
    files = CheckpointFolder(folder)
    return read_generation(files, read, VOCABULARY, has_encoder=has_encoder, max_target=max_target)


def test_what_says_nothing_else_is_greedy(tmp_path: Path) -> None:
    assert settings(tmp_path, SOUND) == GenerationSettings(begin=99, ends=(2,))


def test_every_setting(tmp_path: Path) -> None:
    values = SOUND | {
        "num_beams": 4,
        "length_penalty": 2,
        "early_stopping": "never",
        "max_length": 65,
        "forced_eos_token_id": [2],
        "eos_token_id": [2],
        "bad_words_ids": [[99], [7], [2]],
        "suppress_tokens": [7, 5],
        "renormalize_logits": True,
        "temperature": 0.7,
        "top_k": 5,
        "min_length": 0,
        "no_repeat_ngram_size": None,
        "transformers_version": "4.44.0",
    }
    expected = GenerationSettings(
        begin=99,
        ends=(2,),
        forced_end=True,
        never=(5, 7, 99),  # the end is no bad word for the library either
        max_tokens=64,  # behind what the target begins with
        search=Search(4, 2.0, "never", renormalize=True),
    )
    assert settings(tmp_path, values) == expected
    assert settings(tmp_path, values | {"max_new_tokens": 10}).max_tokens == 10


def test_several_tokens_that_end_a_text(tmp_path: Path) -> None:
    """Each once; no one-token word is one of them; one that is suppressed ends nothing; the forced one is the first."""
    ends = SOUND | {"eos_token_id": [2, 4, 2, 9]}
    assert settings(tmp_path, ends | {"bad_words_ids": [[4], [5]]}) == GenerationSettings(99, (2, 4, 9), never=(5,))
    assert settings(tmp_path, ends | {"suppress_tokens": [4]}) == GenerationSettings(99, (2, 9), never=(4,))
    forced = settings(tmp_path, ends | {"forced_eos_token_id": 4})
    assert (forced.ends, forced.forced_end) == ((4, 2, 9), True)


def test_tokens_that_are_drawn(tmp_path: Path) -> None:
    """As the library has them: 50 of the likeliest where the folder says nothing else."""
    for values, sampling in (
        ({"do_sample": True}, Sampling(top_k=50)),
        ({"do_sample": True, "temperature": 0.5, "top_k": 0, "top_p": 0.25, "typical_p": 1.0}, Sampling(0.5, 0, 0.25)),
        ({"do_sample": False, "temperature": 0.5, "min_p": 0.1}, None),
    ):
        assert settings(tmp_path, SOUND | values).sampling == sampling


def test_what_may_come_behind_what_is_there(tmp_path: Path) -> None:
    values = {
        "repetition_penalty": 1.25,
        "no_repeat_ngram_size": 3,
        "bad_words_ids": [[7], [9, 8], [4, 5, 6], [9, 8]],
        "begin_suppress_tokens": [30, 2, 30],
    }
    found = settings(tmp_path, SOUND | values)
    assert found.restrictions == Restrictions(1.25, 3, ((4, 5, 6), (9, 8)), (2, 30))
    assert found.never == (7,)
    assert not settings(tmp_path, SOUND | {"repetition_penalty": 1, "no_repeat_ngram_size": 0}).restrictions


def test_least_tokens(tmp_path: Path) -> None:
    for values, least in (({"min_length": 5}, 4), ({"min_length": 1}, 0), ({"min_length": 9, "min_new_tokens": 3}, 3)):
        assert settings(tmp_path, SOUND | values).least_tokens == least
    with pytest.raises(EtchError, match="say min_new_tokens"):
        settings(tmp_path, {"eos_token_id": 2, "min_length": 5}, has_encoder=False)


def test_without_an_encoder(tmp_path: Path) -> None:
    """A target begins with the text, whose tokens count for max_length, which a note says is not used."""
    values = {"eos_token_id": 2, "max_length": 65}
    note = "max_length is not used: it counts the tokens of the text, too; say max_new_tokens or --max-target"
    expected = GenerationSettings(begin=None, ends=(2,), notes=(f"{FILE}: {note}",))
    assert settings(tmp_path, values, has_encoder=False) == expected
    (tmp_path / FILE).unlink()
    config = settings(tmp_path, None, values, has_encoder=False)
    assert config == replace(expected, notes=(f"config.json: {note}",))
    assert settings(tmp_path, None, values, has_encoder=False, max_target=7) == replace(
        expected, max_tokens=7, notes=()
    )
    for other in ({"max_new_tokens": 10}, {"max_new_tokens": 10, "max_length": None}):
        assert settings(tmp_path, values | other, has_encoder=False) == replace(expected, max_tokens=10, notes=())
    assert settings(tmp_path, values | {"max_length": None}, has_encoder=False).notes == ()


def test_without_the_file_config_json_says_it(tmp_path: Path) -> None:
    config = {"bos_token_id": 1, "eos_token_id": 2, "forced_eos_token_id": 2, "num_beams": 2, "d_model": 8}
    assert settings(tmp_path, None, config) == GenerationSettings(begin=1, ends=(2,), forced_end=True, search=Search(2))
    with pytest.raises(EtchError) as refused:
        settings(tmp_path, None, {**config, "num_return_sequences": 2})
    assert (refused.value.code, refused.value.file) == ("generation-not-supported", "config.json")


@pytest.mark.parametrize(
    "forced", [{}, {"forced_bos_token_id": None}, {"forced_bos_token_id": 1}, {"forced_bos_token_id": 5}]
)
def test_a_first_token_as_older_files_force_it(forced: dict[str, int | None], tmp_path: Path) -> None:
    """The library (5.23) reads it in config.json alone, and then that is bos_token_id: fine-tuned bart-large-cnn's."""
    said = forced | {"force_bos_token_to_be_generated": True}
    config = {"bos_token_id": 1, "decoder_start_token_id": 2, "eos_token_id": 2, **said}
    assert settings(tmp_path, None, config) == GenerationSettings(begin=2, ends=(2,), forced_begin=1)
    of_file = settings(tmp_path, {"decoder_start_token_id": 2, "eos_token_id": 2, **said}, config)
    assert of_file.forced_begin == forced.get("forced_bos_token_id")
    assert "generation_config.json: not used: force_bos_token_to_be_generated" in of_file.notes


def test_what_is_not_used_is_reported(tmp_path: Path) -> None:
    found = settings(tmp_path, SOUND | {"warmth": 3, "a_key": None}, {"num_beams": 5, "eos_token_id": 2})
    assert found.notes == (
        "generation_config.json: not used: a_key, warmth",
        "generation_config.json counts where config.json says otherwise: num_beams",
    )
    assert found.search.beams == 1


def test_a_forced_first_token(tmp_path: Path) -> None:
    """It counts where the library counts tokens, and is no part of what is written."""
    forced = SOUND | {"forced_bos_token_id": 7, "max_length": 20, "min_length": 5}
    expected = GenerationSettings(begin=99, ends=(2,), forced_begin=7, max_tokens=18, least_tokens=3)
    assert settings(tmp_path, forced) == expected
    assert settings(tmp_path, forced | {"max_new_tokens": 19, "min_new_tokens": 4}) == expected
    assert settings(tmp_path, forced | {"min_length": 2}).least_tokens == 0
    with pytest.raises(EtchError, match="without an encoder"):
        settings(tmp_path, SOUND | {"forced_bos_token_id": 7}, has_encoder=False)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("generation-value", {"num_beams": 0}, "1 is greedy"),
    ("generation-not-supported", {"num_beams": 9}, "at most 8"),
    ("config-type", {"num_beams": 2.0}, "'num_beams' must be an integer"),
    ("config-type", {"num_beams": True}, "'num_beams' must be an integer"),
    (
        "token-id-out-of-range",
        {"decoder_start_token_id": 100},
        "'decoder_start_token_id': 100 is none of the ids 0..99",
    ),
    ("token-id-out-of-range", {"decoder_start_token_id": -1}, "-1 is none"),
    ("config-missing", {"decoder_start_token_id": None, "bos_token_id": None}, "begins with nothing"),
    ("config-missing", {"eos_token_id": None}, "no text would end"),
    ("token-id-out-of-range", {"eos_token_id": 100}, "'eos_token_id'"),
    ("config-missing", {"eos_token_id": []}, "no text would end"),
    ("generation-not-supported", {"eos_token_id": [*range(9)]}, "has 9 tokens: at most 8"),
    ("token-id-out-of-range", {"eos_token_id": [2, 100]}, "'eos_token_id': 100"),
    ("config-type", {"eos_token_id": [[2]]}, "'eos_token_id' must hold ids"),
    ("generation-not-supported", {"eos_token_id": [2, 4], "forced_eos_token_id": [2, 4]}, "has 2 tokens: one"),
    ("generation-value", {"eos_token_id": [2, 4], "forced_bos_token_id": 4}, "ends a text"),
    ("generation-value", {"eos_token_id": [2, 4], "suppress_tokens": [4, 2]}, "has 2, 4, the eos_token_id"),
    (
        "generation-value",
        {"eos_token_id": [2, 4], "forced_eos_token_id": 4, "suppress_tokens": [4]},
        "has 4, the forced_eos_token_id",
    ),
    ("config-type", {"eos_token_id": "2"}, "'eos_token_id' must hold ids"),
    ("token-id-out-of-range", {"pad_token_id": 100}, "'pad_token_id'"),
    ("token-id-out-of-range", {"forced_eos_token_id": 100}, "'forced_eos_token_id'"),
    ("generation-not-supported", {"forced_eos_token_id": 3}, "make them agree"),
    ("token-id-out-of-range", {"forced_bos_token_id": 100}, "'forced_bos_token_id'"),
    ("generation-value", {"forced_bos_token_id": 2}, "ends a text or is not written"),
    ("generation-value", {"forced_bos_token_id": 5, "suppress_tokens": [5]}, "ends a text or is not written"),
    ("generation-value", {"forced_bos_token_id": 5, "max_length": 2}, "not one token could be written, 3 is the least"),
    ("generation-value", {"forced_bos_token_id": 5, "max_new_tokens": 1}, "not one token could be written"),
    ("token-id-out-of-range", {"bad_words_ids": [[100]]}, "'bad_words_ids'"),
    ("token-id-out-of-range", {"bad_words_ids": [[1, 100]]}, "'bad_words_ids'"),
    ("config-type", {"bad_words_ids": [5]}, "must be lists of ids"),
    ("config-type", {"bad_words_ids": [[]]}, "must be lists of ids"),
    ("config-type", {"bad_words_ids": {"5": 1}}, "must be a list"),
    ("token-id-out-of-range", {"suppress_tokens": [-1]}, "'suppress_tokens'"),
    ("generation-value", {"suppress_tokens": [2]}, "no text would end"),
    ("generation-value", {"max_length": 1}, "not one token could be written"),
    ("generation-value", {"max_new_tokens": 0}, "not one token could be written"),
    ("config-type", {"max_length": "long"}, "'max_length' must be an integer"),
    ("config-type", {"length_penalty": "much"}, "'length_penalty' must be a number"),
    ("config-type", {"early_stopping": "always"}, "true, false or 'never'"),
    ("config-type", {"renormalize_logits": 1}, "'renormalize_logits' must be true/false"),
    ("generation-not-supported", {"do_sample": True, "num_beams": 2}, "a search draws nothing"),
    ("generation-not-supported", {"do_sample": True, "min_p": 0.1}, "'min_p': 0.1 is not supported"),
    ("generation-not-supported", {"do_sample": True, "temperature": 0.0}, "'temperature' is 0.0"),
    ("generation-not-supported", {"do_sample": True, "top_p": 1.5}, "'top_p' is 1.5"),
    ("config-type", {"do_sample": True, "temperature": "warm"}, "'temperature' must be a number"),
    ("config-type", {"do_sample": True, "top_k": -1}, "'top_k' must be an integer"),
    ("config-type", {"do_sample": 0}, "'do_sample' must be true/false"),
    ("config-type", {"no_repeat_ngram_size": -1}, "must be an integer"),
    ("generation-not-supported", {"encoder_no_repeat_ngram_size": 3}, "make it 0"),
    ("generation-not-supported", {"repetition_penalty": 0}, "'repetition_penalty' is 0"),
    ("config-type", {"repetition_penalty": "much"}, "'repetition_penalty' must be a number"),
    ("token-id-out-of-range", {"begin_suppress_tokens": [100]}, "'begin_suppress_tokens'"),
    ("generation-not-supported", {"num_beam_groups": 2}, "one group"),
    ("generation-not-supported", {"stop_strings": ["."]}, "token of eos_token_id"),
]


@pytest.mark.parametrize(("code", "changes", "message"), REFUSED)
def test_what_is_refused(code: str, changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as refused:
        settings(tmp_path, SOUND | changes)
    assert (refused.value.code, refused.value.stage, refused.value.file) == (code, "load", FILE)
    assert message in str(refused.value)


@pytest.mark.parametrize("text", ["[]", "{", '{"num_beams": NaN}', '{"num_beams": 1, "num_beams": 2}'])
def test_json_that_is_malformed(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(EtchError) as refused:
        settings(tmp_path, None)
    assert refused.value.code.startswith("json-")
