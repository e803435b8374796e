# SPDX-License-Identifier: Apache-2.0
"""Malformed and malicious checkpoint folders by the kind of what is wrong with them, one or more of each kind.

Each stage's own tests hold many more. These go through the real command line, in
tests/end_to_end/generator/test_malformed_cli.py.
"""

from __future__ import annotations

from collections.abc import Iterable

import test_load_config as config
import test_load_folder as folder
import test_load_safetensors as safetensors
import test_load_sentence as sentence
import test_load_sentence_modules as sentence_modules
import test_load_shards as shards
import test_load_tokenizer as tokenizer
from malformed import CONFIG, TOKENIZER, WEIGHTS, Case, both, put, remove


def front_end(name: str, code: str, words: str = "", **values: object) -> Case:
    """A configuration that each file by itself allows."""
    return Case(name, put(CONFIG, **values), code, CONFIG, None, words, "front-end")


def huge_weights(values: dict[str, safetensors.np.ndarray]) -> None:
    values["classifier.weight"].fill(1e30)


FRONT_END_CASES = [
    front_end("three heads of ten", "heads-do-not-divide", "hidden_size 10", num_attention_heads=3),
    front_end("model type", "model-type-not-supported", "'reformer' is not supported", model_type="reformer"),
    front_end("model type of code", "model-type-not-supported", "'__import__('os')'", model_type="__import__('os')"),
    front_end(
        "code of its own", "remote-code", "'own' is of code that", model_type="own", auto_map={"AutoModel": "m.Model"}
    ),
    front_end("architecture", "architecture-not-supported", architectures=["BertLMHeadModel"]),
    front_end("encoder alone", "modules-missing", "BertModel gives", architectures=["BertModel"]),
    front_end(
        "two activations",
        "activation-conflict",
        "'function_to_apply' is sigmoid",
        problem_type="regression",
        function_to_apply="sigmoid",
    ),
    front_end("activation", "activation-not-supported", "'mish'", hidden_act="mish"),
    front_end("decoder", "decoder-not-supported", "is_decoder", is_decoder=True),
    front_end("positions", "position-embedding-not-supported", position_embedding_type="relative_key"),
    front_end("epsilon", "epsilon-out-of-range", layer_norm_eps=0.0),
    Case(
        "weights that overflow",
        safetensors.tensors(huge_weights),
        "activation-bound",
        WEIGHTS,
        "classifier.weight",
        "the limit is 2^50",
        "quantize",
    ),
    Case("no config, no weights", both(remove(CONFIG), remove(WEIGHTS)), "config-file-missing", None),
    Case("no tokenizer file", remove(TOKENIZER), "tokenizer-missing", None),
]

_ALL: dict[str, Iterable[Case]] = {
    "config": config.CASES,
    "folder": folder.CASES,
    "safetensors": [*safetensors.HEADER_CASES, *safetensors.TENSOR_CASES],
    "sentence": [*sentence.CASES, *sentence_modules.CASES],
    "shards": shards.CASES,
    "tokenizer": [*tokenizer.SHAPE_CASES, *tokenizer.VOCAB_CASES, *tokenizer.CONFLICT_CASES],
    "front-end": FRONT_END_CASES,
}
_BY_NAME = {f"{where}: {case.name}": case for where, cases in _ALL.items() for case in cases}


def _named(where: str, *names: str) -> tuple[tuple[str, Case], ...]:
    return tuple((key, _BY_NAME[key]) for key in (f"{where}: {name}" for name in names))


KINDS: dict[str, tuple[tuple[str, Case], ...]] = {
    "header shorter than 8 bytes": _named("safetensors", "empty file", "seven bytes"),
    "length beyond the file": _named("safetensors", "length beyond file", "length 2^64-1"),
    "header over 100 MB": _named("safetensors", "length over the limit"),
    "first byte not {": _named("safetensors", "space before brace", "array as header", "length zero"),
    "bad UTF-8": (*_named("safetensors", "bad utf-8", "overlong utf-8"), *_named("config", "utf-16", "lone surrogate")),
    "truncated JSON": (*_named("safetensors", "truncated json"), *_named("config", "truncated", "empty")),
    "deeply nested JSON": (
        *_named("safetensors", "100000 levels"),
        *_named("config", "nested lists"),
        *_named("sentence", "modules too deep"),
    ),
    "duplicate keys": (
        *_named("safetensors", "tensor twice", "field twice"),
        *_named("config", "duplicate key", "duplicate by escape"),
        *_named("shards", "index with a tensor twice"),
    ),
    "NaN and Infinity literals": (
        *_named("safetensors", "NaN dimension", "Infinity dimension", "1e999 dimension"),
        *_named("config", "NaN", "-Infinity"),
    ),
    "huge integers": (
        *_named("safetensors", "5000-digit dimension", "dimension of 31 digits"),
        *_named("config", "a million digits", "vocab_size 10^12"),
        *_named("tokenizer", "id 2^32"),
    ),
    "offsets reversed": _named("safetensors", "offsets reversed", "offset negative"),
    "overlapping tensors": _named("safetensors", "overlap", "overlap by offset 0"),
    "holes": _named("safetensors", "hole", "hole at 2^63"),
    "trailing bytes": _named("safetensors", "trailing byte", "no tensors but data"),
    "data cut": (*_named("safetensors", "data cut"), *_named("shards", "shard cut")),
    "shape and dtype do not match": _named("safetensors", "shape too large", "dtype too wide"),
    "shape times dtype overflows": _named("safetensors", "2^64 elements wrap to 3"),
    "negative dimension": _named("safetensors", "negative dimension", "two negative dimensions"),
    "float dimension": _named("safetensors", "float dimension", "bool dimension"),
    "unknown dtype": _named("safetensors", "unknown dtype", "F64", "I64 weights"),
    "NaN and Inf weights": (*_named("safetensors", "NaN", "Inf"), *_named("shards", "NaN in a shard")),
    "fp16 and bf16 overflow": _named("safetensors", "overflow in F16", "-Inf in BF16", "NaN in BF16"),
    "weights that overflow": _named("front-end", "weights that overflow"),
    "missing tensors": (*_named("safetensors", "missing"), *_named("shards", "tensor in no file")),
    "extra tensors": (*_named("safetensors", "extra"), *_named("shards", "tensor not in the index")),
    "wrongly shaped tensors": _named("safetensors", "one row less", "transposed", "no elements"),
    "hidden % heads": _named("front-end", "three heads of ten"),
    "10^9 layers": _named("config", "10^9 layers"),
    "label gaps": _named("config", "label gap", "label twice", "label2id swapped"),
    "token id beyond the vocabulary": _named("tokenizer", "id beyond the embedding", "id negative"),
    "duplicate vocabulary entries": _named("tokenizer", "duplicate id", "duplicate piece"),
    "a vocabulary too large": _named("tokenizer", "piece of 10 MB", "added token of 10 MB", "5 MB of pieces"),
    "missing [UNK]": _named("tokenizer", "no [UNK]", "vocab empty"),
    "unknown normalizer": _named("tokenizer", "normalizer nfkc", "normalizer sequence", "bpe"),
    "unknown model type": _named("front-end", "model type", "model type of code", "architecture", "activation"),
    "settings that contradict": (
        *_named("front-end", "encoder alone", "two activations", "decoder", "positions", "epsilon"),
        *_named("tokenizer", "do_lower_case", "vocab.txt longer"),
        *_named("sentence", "no width", "cls, and mean not said"),
    ),
    "pickle": _named("folder", "pickle", "pickle .pt", "pickles in parts", "pickle that is named like a command"),
    "remote code": (
        *_named("config", "custom_pipelines"),
        *_named("front-end", "code of its own"),
        *_named("tokenizer", "remote code"),
        *_named("sentence", "a class of their own", "a class from elsewhere"),
    ),
    "../ in an index": (*_named("shards", "file above"), *_named("sentence", "path ..")),
    "absolute path in an index": (*_named("shards", "file absolute"), *_named("sentence", "path absolute")),
    "symlink escapes": (
        *_named("folder", "config linked away", "link to /etc/passwd", "link to /dev/zero"),
        *_named("shards", "shard linked away"),
        *_named("sentence", "pooling linked away"),
    ),
    "not a regular file": _named("folder", "config a pipe", "weights a folder"),
    "files missing": (
        *_named("front-end", "no config, no weights", "no tokenizer file"),
        *_named("shards", "shard missing", "one file as well"),
        *_named("sentence", "pooling missing"),
    ),
    "unknown module": _named(
        "sentence",
        "WeightedLayerPooling",
        "Dropout of tokens",
        "LayerNorm behind Normalize",
        "default prompt not there",
    ),
    "another computation": _named(
        "config", "quantization_config", "pruned_heads", "encoder and decoder", "an adapter's keys"
    ),
    "an adapter": _named("folder", "adapter"),
}
