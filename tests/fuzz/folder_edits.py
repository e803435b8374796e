# SPDX-License-Identifier: Apache-2.0
"""Random changes of tokenizer folders: settings, tokens, files that go, parts of tokenizer.json, lines, pieces."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from tiny_checkpoint import DEFAULT_VOCAB

Files = dict[str, Any]  # by name: the parsed JSON, or text

TOKEN_KEYS = ("bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token", "mask_token")
NEW_TOKENS = ("<0>", "<1>", "<2>", "<3>")
CLASSES = (
    *("BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer", "ElectraTokenizerFast", "MPNetTokenizer", None),
    *("RobertaTokenizer", "RobertaTokenizerFast", "PreTrainedTokenizerFast", "TokenizersBackend", "GPT2Tokenizer"),
    *("BartTokenizer", "XLMRobertaTokenizer", "CamembertTokenizerFast", "AlbertTokenizer", "DebertaV2Tokenizer"),
    *("T5Tokenizer", "T5TokenizerFast", "LlamaTokenizer", "LlamaTokenizerFast", "GemmaTokenizer"),
    *("MBartTokenizer", "MBart50Tokenizer", "BarthezTokenizer", "MarianTokenizer", "DebertaTokenizer"),
    *("NllbTokenizer", "NllbTokenizerFast", "M2M100Tokenizer", "PegasusTokenizer", "ByT5Tokenizer"),
    *("PhobertTokenizer", "BertweetTokenizer", "HerbertTokenizer", "LayoutLMTokenizer"),
)
TOKENS = (
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "[UNK]",
    "[PAD]",
    "<s>",
    "</s>",
    "<mask>",
    "<unk>",
    "<pad>",
    "the",
    "<new>",
    "cat",
)
SETTINGS = (
    *(
        "do_lower_case",
        "strip_accents",
        "tokenize_chinese_chars",
        "clean_text",
        "do_basic_tokenize",
        "add_prefix_space",
    ),
    *("split_special_tokens", "trim_offsets", "add_bos_token", "add_eos_token", "clean_up_tokenization_spaces"),
    *("legacy", "from_slow", "use_fast", "fix_mistral_regex", "normalization", "keep_accents"),
)
OTHERS = {
    "tokenizer_class": CLASSES,
    "model_max_length": (16, 512, 1e30, None),
    "model_input_names": (["input_ids"], ["input_ids", "token_type_ids", "attention_mask"], None, []),
    "padding_side": ("left", "right"),
    "truncation_side": ("left", "right"),
    "additional_special_tokens": ([], ["<new>"], ["the"], ["[MASK]"], None),
    "extra_special_tokens": ([], ["<new>"], {}, {"image_token": "<new>"}, ["<mask>"]),
    "model_specific_special_tokens": ({}, {"image_token": "<new>"}),
    "never_split": (None, [], ["the"]),
    "added_tokens_decoder": ({}, None),
    "errors": ("replace", "strict"),
    "unknown_key": (1, "x", None),
    "image_token": ("<new>", "the", None),
    "extra_ids": (0, 3, 100, None),
    "chat_template": ("{{ x }}", None),
    "src_lang": ("en_XX", "de_DE", "eng_Latn", "fra_Latn", "x", None),
    "legacy_behaviour": (True, False, None),
    "mask_token_sent": ("<mask_1>", "<mask_2>", "<new>", None),
    "offset": (2, 5, 6, None),
    "tgt_lang": ("en_XX", "de_DE", "x", None),
    "source_lang": ("en", None),
    "target_lang": ("en", None),
    "separate_vocabs": (True, False, None),
    "sp_model_kwargs": ({}, {"nbest_size": 0}, None),
}


def edit(source: random.Random, files: Files) -> str:
    """One change in place; what it is, in words."""
    return source.choice(_EDITS)(source, files)


def _setting(source: random.Random, files: Files) -> str:
    file = source.choice(("tokenizer_config.json", "tokenizer_config.json", "special_tokens_map.json", "config.json"))
    values = files.setdefault(file, {})
    kind = source.randrange(4)
    if kind == 0:
        key, value = source.choice(SETTINGS), source.choice((True, False, None))
    elif kind == 1:
        key, value = source.choice(TOKEN_KEYS), _token(source)
    else:
        key = source.choice(tuple(OTHERS))
        value = source.choice(OTHERS[key])
        if key == "added_tokens_decoder" and source.random() < 0.7:
            value = {str(source.choice((0, 3, 4, 700, len(DEFAULT_VOCAB)))): _added(source) for _ in range(2)}
    values[key] = value
    return f"{file}: {key} = {json.dumps(value, ensure_ascii=False)}"


def _new_tokens(source: random.Random, files: Files) -> str:
    """Several special tokens that no vocabulary has: they get ids in an order of their own."""
    file = source.choice(("tokenizer_config.json", "special_tokens_map.json"))
    keys = source.sample(TOKEN_KEYS[:4], source.randint(1, 4))
    named = dict(zip(keys, source.sample(NEW_TOKENS, len(keys)), strict=True))
    files.setdefault(file, {}).update(named)
    return f"{file}: {json.dumps(named)}"


def _token(source: random.Random) -> object:
    text = source.choice(TOKENS)
    if source.random() < 0.7:
        return source.choice((text, text, None))
    return {"__type": "AddedToken", **{k: v for k, v in _added(source).items() if k != "special"}, "content": text}


def _added(source: random.Random) -> dict[str, Any]:
    flags = {flag: source.random() < 0.3 for flag in ("single_word", "lstrip", "rstrip", "normalized")}
    return {"content": source.choice(TOKENS), **flags, "special": source.random() < 0.7}


def _delete(source: random.Random, files: Files) -> str:
    names = [name for name in files if name != "config.json"]
    if names and source.random() < 0.3:
        name = source.choice(names)
        del files[name]
        return f"no {name}"
    name = source.choice([name for name, content in files.items() if isinstance(content, dict)])
    if not files[name]:
        return "nothing"
    values, path = files[name], name
    while isinstance(values, dict) and values:
        key = source.choice(list(values))
        path += f".{key}"
        if not isinstance(values[key], dict) or key == "vocab" or source.random() < 0.3:
            del values[key]
            return f"without {path}"
        values = values[key]
    return "nothing"


def _in_json(source: random.Random, files: Files) -> str:
    """A value somewhere in tokenizer.json, outside of the vocabulary and the merges."""
    described = files.get("tokenizer.json")
    if not isinstance(described, dict):
        return _setting(source, files)
    places: list[tuple[Any, Any, str]] = []

    def walk(value: Any, path: str) -> None:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            if key in ("vocab", "merges"):
                continue
            places.append((value, key, f"{path}.{key}"))
            if isinstance(inner, (dict, list)):
                walk(inner, f"{path}.{key}")

    walk(described, "tokenizer.json")
    if not places:
        return "nothing"
    holder, key, path = source.choice(places)
    old = holder[key]
    choices: list[Any] = [None]
    if isinstance(old, bool) or old is None:
        choices = [True, False, None]
    elif isinstance(old, int):
        choices = [0, 1, 2, 3, old + 1]
    elif isinstance(old, str):
        choices = [*TOKENS, "##", "", "Lowercase", "Sequence", "Whitespace", old.upper()]
    holder[key] = source.choice(choices)
    return f"{path} = {json.dumps(holder[key], ensure_ascii=False)}"


def _more_added(source: random.Random, files: Files) -> str:
    described = files.get("tokenizer.json")
    if source.random() < 0.4 or not isinstance(described, dict) or not isinstance(described.get("added_tokens"), list):
        name, text = "added_tokens.json", source.choice(TOKENS)
        files.setdefault(name, {})[text] = source.choice((0, 2, 4, 700, 701, len(DEFAULT_VOCAB)))
        return f"{name}: {text} = {files[name][text]}"
    model = described.get("model")
    vocab = model.get("vocab") if isinstance(model, dict) else None
    token = _added(source)
    token["id"] = vocab.get(token["content"], len(vocab)) if isinstance(vocab, dict) else 0
    described["added_tokens"].append(token)
    return f"tokenizer.json: added {json.dumps(token, ensure_ascii=False)}"


def _lines(source: random.Random, files: Files) -> str:
    names = [name for name in ("vocab.txt", "merges.txt", "bpe.codes") if name in files]
    if not names:
        return _in_json(source, files)
    name = source.choice(names)
    lines = files[name].split("\n")
    at = source.randrange(len(lines))
    change: Callable[[str], list[str]] = source.choice(
        (
            lambda line: [line + " "],
            lambda line: [line + "\r"],
            lambda line: [],
            lambda line: [line, line],
            lambda line: ["\u3000" + line],
            lambda line: [line.upper()],
            lambda line: [line, ""],
        )
    )
    lines[at : at + 1] = change(lines[at])
    files[name] = "\n".join(lines)
    return f"{name}: line {at + 1}"


def _vocabulary(source: random.Random, files: Files) -> str:
    """Of one of the two files that may both have it."""
    described = files.get("tokenizer.json")
    model = described.get("model") if isinstance(described, dict) else None
    vocab = files.get("vocab.json") or (model.get("vocab") if isinstance(model, dict) else None)
    if not isinstance(vocab, dict) or not vocab:
        return _lines(source, files)
    piece = source.choice(list(vocab))
    if source.random() < 0.5:
        vocab[piece.upper() + "x"] = vocab.pop(piece)
        return f"another text for {piece!r}"
    vocab["<new>"] = len(vocab)
    return "one piece more"


_EDITS = (_setting, _setting, _setting, _new_tokens, _delete, _in_json, _in_json, _more_added, _lines, _vocabulary)
