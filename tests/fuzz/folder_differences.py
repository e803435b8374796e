# SPDX-License-Identifier: Apache-2.0
"""Folders of tokenizer files, changed at random: what etch accepts, `transformers` must tokenize the same way.

    python3 tests/fuzz/folder_differences.py [--folders N] [--seed S] [--record FILE]

Needs `transformers` (and its `sentencepiece` and `protobuf`). A folder that etch refuses is no finding, nor is one that
`transformers` cannot read, nor one of which etch says that a part is another one; a folder that both read, with other
ids or segments for any of the texts, is. With --record some folders of each outcome are
written down, for test_folder_differences.py to repeat without `transformers`. Exit codes: 0 without a finding, 1 with
one.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [
    str(ROOT),
    *(str(Path(__file__).parents[1] / name) for name in ("codegen", "codegen/load", "end_to_end")),
]

from byte_level import small_json  # noqa: E402
from sentencepiece_folders import sentencepiece_folders  # noqa: E402
from tiny_checkpoint import DEFAULT_VOCAB, tokenizer_json  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402

from codegen.errors import EtchError  # noqa: E402
from codegen.load.files import CheckpointFolder  # noqa: E402
from codegen.load.tokenizer import load_tokenizer  # noqa: E402

Files = dict[str, Any]  # by name: the parsed JSON, or text

TEXTS = (
    "The cat sat on the mat.",
    "Café [MASK] <mask> 中国 x\u200by  [SEP]</s>Berlin",
    "  the dog's  unworkable, plays! [CLS]<s> 12",
    "new_token the <new> cat İ ß",
    "a" * 101 + " xy",
    "",
)
# An empty second text is none for `transformers`, though its own template has one.
PAIRS = tuple((first, second) for first, second in pairwise(TEXTS) if second)
RECORDED_SAME, RECORDED_REFUSALS = 400, 8  # folders; of each code
_USUAL_CLASSES = {
    "bert": "BertTokenizer",
    "roberta": "RobertaTokenizer",
    "mpnet": "MPNetTokenizer",
    "xlm-roberta": "XLMRobertaTokenizer",
    "camembert": "CamembertTokenizer",
    "albert": "AlbertTokenizer",
    "deberta-v2": "DebertaV2Tokenizer",
    "t5": "T5Tokenizer",
    "llama": "LlamaTokenizer",
    "gemma": "GemmaTokenizer",
}
NOTED = "a note says so"  # of a part that `transformers` makes otherwise
VOCABULARY = 1 << 20  # rows of an embedding that no id reaches
TOKEN_KEYS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
CLASSES = (
    *("BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer", "ElectraTokenizerFast", "MPNetTokenizer", None),
    *("RobertaTokenizer", "RobertaTokenizerFast", "PreTrainedTokenizerFast", "TokenizersBackend", "GPT2Tokenizer"),
    *("BartTokenizer", "XLMRobertaTokenizer", "CamembertTokenizerFast", "AlbertTokenizer", "DebertaV2Tokenizer"),
    *("T5Tokenizer", "T5TokenizerFast", "LlamaTokenizer", "LlamaTokenizerFast", "GemmaTokenizer"),
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
}


def bases() -> dict[str, Files]:
    """Folders as models have them."""
    bert, roberta = tokenizer_json(list(DEFAULT_VOCAB)), small_json()
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in roberta["model"]["merges"]]
    bert_config = {"tokenizer_class": "BertTokenizer", "do_lower_case": True}
    roberta_files = {"vocab.json": roberta["model"]["vocab"], "merges.txt": "\n".join(["#version: 0.2", *merges, ""])}
    mpnet = ["<s>", "<pad>", "</s>", "[UNK]", *DEFAULT_VOCAB[5:], "<mask>"]
    found: dict[str, Files] = {
        "bert": {"tokenizer.json": bert, "tokenizer_config.json": bert_config},
        "bert, no configuration": {"tokenizer.json": bert},
        "bert, as in json": {
            "tokenizer.json": bert,
            "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast"},
        },
        "vocab.txt": {"vocab.txt": "\n".join([*DEFAULT_VOCAB, ""]), "tokenizer_config.json": bert_config},
        "both": {
            "tokenizer.json": bert,
            "vocab.txt": "\n".join([*DEFAULT_VOCAB, ""]),
            "tokenizer_config.json": bert_config,
        },
        "mpnet": {
            "vocab.txt": "\n".join([*mpnet, ""]),
            "tokenizer_config.json": {"tokenizer_class": "MPNetTokenizer", "do_lower_case": True},
        },
        "roberta": {"tokenizer.json": roberta, "tokenizer_config.json": {"tokenizer_class": "RobertaTokenizer"}},
        "roberta, as in json": {
            "tokenizer.json": small_json(processor="TemplateProcessing", add_prefix_space=True),
            "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast"},
        },
        "llama 3": {
            "tokenizer.json": small_json(segmenter="llama3", processor="Sequence", ignore_merges=True),
            "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast"},
        },
        "merges.txt": {**roberta_files, "tokenizer_config.json": {"tokenizer_class": "RobertaTokenizer"}},
        "merges.txt, no configuration": dict(roberta_files),
    }
    for name, files in found.items():
        byte_level = "merges.txt" in files or "merges" in files.get("tokenizer.json", {}).get("model", {})
        family = "roberta" if byte_level else "mpnet" if name == "mpnet" else "bert"
        files["config.json"] = {"model_type": family}
    found |= sentencepiece_folders()
    for files in found.values():
        files["config.json"]["vocab_size"] = VOCABULARY
    return found


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
    names = [name for name in ("vocab.txt", "merges.txt") if name in files]
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


_EDITS = (_setting, _setting, _setting, _delete, _in_json, _in_json, _more_added, _lines, _vocabulary)


def write(files: Files, folder: Path) -> None:
    for name, content in files.items():
        text = content if isinstance(content, (str, bytes)) else json.dumps(content, ensure_ascii=False)
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def ours(folder: Path, files: Files) -> list[Any] | str:
    """Ids and segments of every text and pair; or the code of the refusal, or NOTED."""
    config = files["config.json"]
    usual = _USUAL_CLASSES.get(config.get("model_type"))
    if usual is None:
        return "unsupported-model-type"
    try:
        spec = load_tokenizer(CheckpointFolder(folder), VOCABULARY, config.get("tokenizer_class"), usual)
    except EtchError as error:
        return error.code
    if any(note.endswith("counts") for note in spec.notes):
        return NOTED
    tokenizer = Tokenizer.from_str(spec.json)
    segments = [part.segment for part in spec.template.pair if part.content in ("A", "B")]
    answers: list[Any] = [tokenizer.encode(text).ids for text in TEXTS]
    for pair in PAIRS:
        encoding = tokenizer.encode(*pair)
        in_text = [segments[which] for which in encoding.sequence_ids if which is not None]
        answers.append([encoding.ids, in_text])
    return answers


def theirs(folder: Path) -> list[Any] | str:
    """The same of `transformers`; or which error it raises."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        answers: list[Any] = [tokenizer(text)["input_ids"] for text in TEXTS]
        for pair in PAIRS:
            encoding = tokenizer(*pair)
            ids, which = encoding["input_ids"], encoding.sequence_ids()
            segments = encoding.get("token_type_ids", [0] * len(ids))
            answers.append([ids, [s for s, w in zip(segments, which, strict=True) if w is not None]])
    except Exception as error:
        return type(error).__name__
    return answers


def folders(seed: int, count: int) -> Iterator[tuple[str, Files]]:
    """(what was changed, the files), every kind of folder in turn."""
    source = random.Random(seed)
    kinds = bases()
    names = list(kinds)
    for i in range(count):
        name = names[i % len(names)]
        files = copy.deepcopy(kinds[name])
        changes = [edit(source, files) for _ in range(source.choice((0, 1, 1, 1, 2, 2, 3)))]
        files.setdefault("config.json", {"model_type": "bert"})
        yield f"{name}: {'; '.join(changes)}", files


def sha256(answers: list[Any]) -> str:
    return hashlib.sha256(json.dumps(answers).encode()).hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folders", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", type=Path)
    arguments = parser.parse_args()
    outcomes: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    recorded: list[dict[str, Any]] = []
    findings = 0
    for number, (what, files) in enumerate(folders(arguments.seed, arguments.folders)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(files, folder)
            try:
                our = ours(folder, files)
            except Exception as error:  # only a refusal is an answer
                our = [f"{type(error).__name__}: {error}"]
            if isinstance(our, str):
                outcomes["noted" if our == NOTED else "refused"] += 1
                refusals[our] += 1
                if refusals[our] <= RECORDED_REFUSALS:
                    recorded.append({"seed": arguments.seed, "folder": number, "what": what, "refused": our})
                continue
            their = theirs(folder)
        if isinstance(their, str) and len(our) > 1:
            outcomes["read by etch only"] += 1
        elif our == their:
            outcomes["the same"] += 1
            if outcomes["the same"] <= RECORDED_SAME:
                recorded.append({"seed": arguments.seed, "folder": number, "what": what, "ids": sha256(our)})
        else:
            outcomes["different"] += 1
            findings += 1
            print(f"different: {what}{f' ({our[0]})' if len(our) == 1 else ''}", flush=True)
    if arguments.record is not None:
        arguments.record.write_text(json.dumps(recorded, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    print(", ".join(f"{count} {name}" for name, count in sorted(outcomes.items())))
    print("refused: " + ", ".join(f"{count} {code}" for code, count in refusals.most_common()))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
