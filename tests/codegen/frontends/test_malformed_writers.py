# SPDX-License-Identifier: Apache-2.0
"""Malformed folders of generative models: each kind in each family is refused by name, and nothing is written.

What only one family can get wrong is in its own test.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import test_bart
import test_decoders
import test_marian
import test_transformer
from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors

from codegen import pipeline
from codegen.errors import EtchError

Change = Callable[[Path, "Family"], object]
CONFIG, GENERATION, WEIGHTS = "config.json", "generation_config.json", "model.safetensors"
MANY = 1 << 30


@dataclass(frozen=True)
class Family:
    """A sound folder, and what its keys are called."""

    write: Callable[[Path], object]
    words: str  # the tensor of the words that are written
    layers: str = "decoder_layers"
    heads: str = "decoder_attention_heads"
    activation: str = "activation_function"
    vocabulary: str = "vocab_size"
    tokenizer: tuple[str, ...] = ("tokenizer.json",)


FAMILIES = {
    "bart": Family(test_bart.folder, "model.shared.weight", tokenizer=()),
    "marian": Family(
        test_marian.folder, "model.shared.weight", tokenizer=("source.spm", "target.spm", "vocab.json")
    ),
    **{
        name: Family(lambda out, name=name: test_decoders.folder(out, name), "model.shared.weight")
        for name in ("m2m_100", "mbart", "pegasus")
    },
    "t5": Family(
        lambda out: test_decoders.folder(out, "t5", dense_act_fn=None, is_gated_act=None), "shared.weight",
        "num_layers", "num_heads", "feed_forward_proj",
    ),
    "transformer": Family(
        lambda out: test_transformer.folder(out, "course"), "target_embedding.weight", "num_decoder_layers",
        "num_heads", "activation", "target_vocab_size",
    ),
    "gpt2": Family(
        lambda out: test_decoders.folder(out, "gpt2"), "transformer.wte.weight", "n_layer", "n_head",
        tokenizer=("vocab.json", "merges.txt"),
    ),
    "llama": Family(
        lambda out: test_decoders.folder(out, "llama"), "model.embed_tokens.weight", "num_hidden_layers",
        "num_attention_heads", "hidden_act",
    ),
}  # fmt: skip


def config(**values: Any) -> Change:
    """Sets keys of config.json."""
    return lambda made, _: _put(made / CONFIG, values)


def keyed(attribute: str, change: Callable[[Any], Any]) -> Change:
    """Changes what a family's own key says."""

    def apply(made: Path, family: Family) -> None:
        key = getattr(family, attribute)
        _put(made / CONFIG, {key: change(_read(made / CONFIG).get(key))})

    return apply


def generation(**values: Any) -> Change:
    """Sets keys of generation_config.json, null is as if there were none; config.json's keys where there is no file."""

    def apply(made: Path, _: Family) -> None:
        if not (made / GENERATION).exists():
            said = _read(made / CONFIG)
            keys = ("decoder_start_token_id", "bos_token_id", "eos_token_id", "pad_token_id")
            (made / GENERATION).write_text(json.dumps({key: said[key] for key in keys if key in said}))
        _put(made / GENERATION, values)

    return apply


def written(name: str, data: bytes) -> Change:
    """A file with this content."""
    return lambda made, _: (made / name).write_bytes(data)


def without(name: str) -> Change:
    """A file less."""
    return lambda made, _: (made / name).unlink()


def header(change: Callable[[dict[str, Any], str], object]) -> Change:
    """Changes the header of the weights; it is told the name of the words."""

    def apply(made: Path, family: Family) -> None:
        found, data = read_raw_safetensors(made / WEIGHTS)
        change(found, family.words)
        write_raw_safetensors(made / WEIGHTS, found, data)

    return apply


def data(change: Callable[[bytearray, int], object]) -> Change:
    """Changes the bytes of the weights; it is told where the words begin."""

    def apply(made: Path, family: Family) -> None:
        found, values = read_raw_safetensors(made / WEIGHTS)
        changed = bytearray(values)
        change(changed, found[family.words]["data_offsets"][0])
        write_raw_safetensors(made / WEIGHTS, found, bytes(changed))

    return apply


def no_tokenizer(made: Path, family: Family) -> None:
    for name in family.tokenizer:
        (made / name).unlink()
    if not family.tokenizer:
        _put(made / CONFIG, {"phoneme_chars": None})


def words_less(made: Path, family: Family) -> None:
    """More pieces in the tokenizer than in the model."""
    if family.tokenizer:
        _put(made / CONFIG, {family.vocabulary: 12})
    else:
        _put(made / CONFIG, {"phoneme_chars": "____" + "".join(map(chr, range(0x100, 0x100 + 60)))})


def turned(found: dict[str, Any], words: str) -> None:
    found[words]["shape"].reverse()


def not_a_number(values: bytearray, begin: int) -> None:
    values[begin : begin + 2] = b"\x00\x7e"


# Kind: what is done, and the codes that it may be refused with.
KINDS: dict[str, tuple[Change, set[str]]] = {
    "no configuration": (without(CONFIG), {"config-file-missing"}),
    "a configuration that ends early": (written(CONFIG, b'{"model_type": '), {"json-malformed"}),
    "a key twice": (written(CONFIG, b'{"model_type": "bart", "model_type": "t5"}'), {"json-duplicate-key"}),
    "code that comes along": (config(auto_map={"AutoModel": "m.M"}, model_type="own"), {"remote-code"}),
    "quantized weights": (config(quantization_config={"bits": 8}), {"config-not-supported"}),
    "another class": (config(architectures=["BertModel"]), {"architecture-not-supported"}),
    "no weights": (without(WEIGHTS), {"weights-missing"}),
    "weights of another format": (
        lambda made, _: (made / WEIGHTS).rename(made / "model.ckpt.index.h5"), {"format-not-supported"}
    ),
    "pickled weights": (lambda made, _: (made / WEIGHTS).rename(made / "pytorch_model.bin"), {"pickle-refused"}),
    "weights cut": (lambda made, _: _cut(made / WEIGHTS), {"safetensors-data-truncated"}),
    "a weight that is no number": (data(not_a_number), {"tensor-not-finite"}),
    "words turned": (header(turned), {"wrong-shape"}),
    "words by another name": (
        header(lambda found, words: found.update(other=found.pop(words))),
        {"missing-tensor", "unused-tensor"},  # where what predicts them is tied to them
    ),
    "no tokenizer": (no_tokenizer, {"tokenizer-missing", "tokenizer-class", "config-missing"}),
    "vocabularies that disagree": (words_less, {"token-id-out-of-range"}),
    "a larger vocabulary than its table": (
        keyed("vocabulary", lambda count: count + 1), {"wrong-shape", "generation-not-supported"}
    ),
    "a layer more": (keyed("layers", lambda count: (count or 1) + 7), {"missing-tensor"}),
    "no layer": (keyed("layers", lambda count: 0), {"config-out-of-range"}),
    "heads that do not divide": (keyed("heads", lambda count: 7), {"heads-do-not-divide", "wrong-shape"}),
    "an activation that there is not": (keyed("activation", lambda name: "sine"), {"activation-not-supported"}),
    "settings that end early": (written(GENERATION, b"{"), {"json-malformed"}),
    "no beams": (generation(num_beams=0), {"generation-value"}),
    "nine beams": (generation(num_beams=9), {"generation-not-supported"}),
    "a begin beyond the vocabulary": (
        generation(decoder_start_token_id=MANY, bos_token_id=MANY), {"token-id-out-of-range"}
    ),
    "padding beyond the vocabulary": (generation(pad_token_id=MANY), {"token-id-out-of-range"}),
    "an end below 0": (generation(eos_token_id=-1), {"token-id-out-of-range"}),
    "no end": (generation(eos_token_id=None), {"config-missing"}),
    "too many ends": (generation(eos_token_id=[*range(9)]), {"generation-not-supported"}),
    "a forced end that is another": (generation(forced_eos_token_id=4), {"generation-not-supported"}),
    "no room for a token": (generation(max_new_tokens=0), {"generation-value"}),
    "more tokens than positions": (generation(max_new_tokens=MANY), {"max-tokens-out-of-range"}),
    "more tokens at least than at most": (generation(max_new_tokens=4, min_new_tokens=5), {"generation-value"}),
    "a penalty that is a word": (generation(length_penalty="long"), {"config-type"}),
    "a file of sentence-transformers": (written("modules.json", b"[]"), {"sentence-modules-order"}),
    "an adapter": (written("adapter_config.json", b"{}"), {"adapter-not-supported"}),
}  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", KINDS)
def test_refused(kind: str, family: str, tmp_path: Path) -> None:
    change, codes = KINDS[kind]
    made, out = tmp_path / "model", tmp_path / "out"
    FAMILIES[family].write(made)
    change(made, FAMILIES[family])
    with pytest.raises(EtchError) as caught:
        pipeline.generate(pipeline.Request(made, out), lambda _: None)
    assert caught.value.code in codes
    assert not out.exists()


def _read(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8"))


def _put(file: Path, values: dict[str, Any]) -> None:
    kept = {key: value for key, value in (_read(file) | values).items() if value is not None}
    file.write_text(json.dumps(kept), encoding="utf-8")


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-2])
