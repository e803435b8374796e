# SPDX-License-Identifier: Apache-2.0
"""Bytes to a checkpoint folder: a valid tiny one, then a few edits, each chosen by the bytes.

Whatever bytes come, the folder stays close to a valid one, so that most inputs get past the first check. An input is
    which folder, then for each edit: file, kind, what the kind needs
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import loose_json
from loose_json import Node, Raw
from valid_folders import Files, valid_folders

MAX_EDITS = 6
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
NAMES = (
    *("config.json", WEIGHTS, INDEX, "tokenizer.json", "tokenizer_config.json", "vocab.txt", "modules.json"),
    *("special_tokens_map.json", "added_tokens.json", "sentence_bert_config.json", "1_Pooling/config.json"),
    *("config_sentence_transformers.json", "2_Normalize/config.json", "pytorch_model.bin", "adapter_config.json"),
    *("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "vocab.json", "model.onnx"),
)
VALUES = (
    *(None, True, False, 0, 1, 2, 3, -1, 4, 8, 1 << 31, 1 << 63, 10**40, 0.0, 0.5, -0.0, 1e308, 1e-300, 1.0, 2.0),
    *(Raw("NaN"), Raw("-Infinity"), Raw("1e999"), Raw("1" * 120), Raw("1e-999"), Raw("-0"), Raw("01"), Raw(".5")),
    *(
        Raw("[" * 70 + "]" * 70),
        Raw("{}"),
        Raw("[]"),
        Raw("[[]]"),
        Raw('{"a": {}}'),
        Raw('"\\ud800"'),
        Raw('"\\u0000"'),
    ),
    *(
        "",
        "[CLS]",
        "[SEP]",
        "[UNK]",
        "[PAD]",
        "##a",
        "##",
        "0",
        "1",
        "-1",
        "00",
        "²",
        "0x10",
        "label 0",
        "é",
        "e\u0301",
    ),
    *("bert", "BertForSequenceClassification", "BertModel", "BertTokenizer", "BertTokenizerFast", "TokenizersBackend"),
    *("regression", "multi_label_classification", "single_label_classification", "gelu", "relu", "absolute"),
    *("F32", "F16", "BF16", "F64", "I64", "U8", "F4", "auto_map", "content", "id", "special", "single_word", "type"),
    *("Lowercase", "BertProcessing", "TemplateProcessing", "WordPiece", "BPE", "BertNormalizer", "BertPreTokenizer"),
    *("mean", "cls", "max", "mean_sqrt_len_tokens", "sentence_transformers.models.Dense", "1_Pooling", "..", "."),
    *("id2label", "label2id", "num_labels", "problem_type", "num_hidden_layers", "max_position_embeddings"),
    *("bert.embeddings.position_ids", "classifier.weight", "bert.pooler.dense.weight", "__metadata__", WEIGHTS),
    *("function_to_apply", "sigmoid", "sbert_ce_default_activation_function", "torch.nn.modules.activation.Sigmoid"),
    *("sentence_transformers", "activation_fn", "bert.embeddings.LayerNorm.gamma", "bert.embeddings.LayerNorm.weight"),
    *('"', "\n", "\\", "\0", "\x1b[31m", "\u202e", "\ufeff", "../../etc/passwd", "{{ 7 * 7 }}", "a" * 300),
)

# A file whose content is a key of this is written as a symbolic link to the value, or as a folder.
TARGETS = ("config.json", "..", ".", "/etc/hostname", "nowhere", WEIGHTS, "../model/config.json")
SPECIAL = {b"\0folder": None} | {b"\0link " + target.encode(): target for target in TARGETS}
_ALIKE = 24  # values in the headers of a safetensors file; the entries behind them are like those before
_ONE_OF_EACH_TYPE = (None, True, 0, -1, 10**40, 0.5, 1e308, "", "mean", Raw("[]"), Raw("{}"), Raw('{"a": {}}'))


class Choices:
    """The bytes of an input, read as choices; 0 behind their end."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._at = 0

    def __bool__(self) -> bool:
        return self._at < len(self._raw)

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1, of one byte where that suffices and two otherwise."""
        number = int.from_bytes(self.take(1 if limit <= 256 else 2), "little")
        return number % limit

    def take(self, count: int) -> bytes:
        """So many bytes, fewer at the end."""
        taken = self._raw[self._at : self._at + count]
        self._at += count
        return taken


def folder_from(raw: bytes) -> Files:
    """The files that an input stands for."""
    choices = Choices(raw)
    starts = valid_folders()
    files = dict(starts[choices.below(len(starts))])
    for _ in range(MAX_EDITS):
        if not choices:
            break
        _EDITS[choices.below(len(_EDITS))](files, choices)
    return files


def single_edits() -> Iterator[bytes]:
    """Inputs with one edit each: every value of every JSON file deleted, and replaced by a value of every type."""
    seen: set[tuple[str, bytes]] = set()
    values = [next(i for i, value in enumerate(VALUES) if repr(value) == repr(one)) for one in _ONE_OF_EACH_TYPE]
    for number, files in enumerate(valid_folders()):
        for index, name in enumerate(sorted(files)):
            header = _json_part(name, files[name])[0]
            if name == "vocab.txt" or (name, header) in seen:
                continue
            seen.add((name, header))
            count = len(loose_json.places(loose_json.read(header)))
            for place in range(min(count, _ALIKE) if name.endswith(".safetensors") else count):
                where = place.to_bytes(2, "little")
                yield bytes([number, _EDITS.index(_edit_json), index, _VALUE_EDITS.index(_delete)]) + where
                for value in values:
                    yield (
                        bytes([number, _EDITS.index(_edit_json), index, _VALUE_EDITS.index(_set)])
                        + where
                        + bytes([value])
                    )


def write_folder(folder: Path, files: Files) -> None:
    """Write the files into an empty folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if content not in SPECIAL:
            path.write_bytes(content)
        elif (target := SPECIAL[content]) is not None:
            path.symlink_to(target)
        else:
            path.mkdir(exist_ok=True)


def _chosen(files: Files, choices: Choices) -> str:
    return sorted(files)[choices.below(len(files))] if files else NAMES[0]


def _json_part(name: str, content: bytes) -> tuple[bytes, bytes]:
    """(the JSON, what follows it) of a file: of safetensors the header and the data."""
    if not name.endswith(".safetensors") or len(content) < 8:
        return content, b""
    (length,) = struct.unpack_from("<Q", content)
    return content[8 : 8 + length], content[8 + length :]


def _edit_json(files: Files, choices: Choices) -> None:
    """One value of a JSON file, or of the header of a safetensors file."""
    name = _chosen(files, choices)
    content = files.get(name, b"")
    header, rest = _json_part(name, content)
    try:
        root = loose_json.read(header)
    except (ValueError, RecursionError):  # an edit before this one
        return
    edit = _VALUE_EDITS[choices.below(len(_VALUE_EDITS))]
    loose_json.change(root, choices.below(1 << 16), lambda node, place: edit(root, node, place, choices))
    text = loose_json.write(root).encode("utf-8", "surrogatepass")
    files[name] = struct.pack("<Q", len(text)) + text + rest if header is not content else text


def _splice(files: Files, choices: Choices) -> None:
    """Other bytes at some place of a file."""
    name = _chosen(files, choices)
    content = files.get(name, b"")
    at = choices.below(len(content) + 1)
    removed = choices.below(16)
    files[name] = content[:at] + choices.take(choices.below(24)) + content[at + removed :]


def _cut(files: Files, choices: Choices) -> None:
    name = _chosen(files, choices)
    files[name] = files.get(name, b"")[: choices.below(1 << 16)]


def _remove(files: Files, choices: Choices) -> None:
    files.pop(_chosen(files, choices), None)


def _add(files: Files, choices: Choices) -> None:
    """A file under a name that means something: a copy of another, or one JSON value, or bytes."""
    name = NAMES[choices.below(len(NAMES))]
    kind = choices.below(4)
    if kind == 0:
        files[name] = files.get(_chosen(files, choices), b"")
    elif kind == 1:
        value = VALUES[choices.below(len(VALUES))]
        key = VALUES[choices.below(len(VALUES))]
        text = loose_json.write(Node(True, [(key if isinstance(key, str) else "key", value)]))
        files[name] = text.encode("utf-8", "surrogatepass")
    elif kind == 2:
        files[name] = choices.take(choices.below(64))
    else:
        files[name] = tuple(SPECIAL)[choices.below(len(SPECIAL))]


_EDITS = (_edit_json, _edit_json, _edit_json, _edit_json, _splice, _cut, _remove, _add)


def _set(root: object, node: Node, place: int, choices: Choices) -> None:
    node.items[place] = (node.items[place][0], VALUES[choices.below(len(VALUES))])


def _insert(root: object, node: Node, place: int, choices: Choices) -> None:
    name = VALUES[choices.below(len(VALUES))]
    value = VALUES[choices.below(len(VALUES))]
    if isinstance(name, str):
        node.items.insert(place, (name if node.named else None, value))


def _set_text(root: object, node: Node, place: int, choices: Choices) -> None:
    text = choices.take(choices.below(24)).decode("utf-8", "replace")
    node.items[place] = (node.items[place][0], text)


def _add_number(root: object, node: Node, place: int, choices: Choices) -> None:
    name, value = node.items[place]
    if type(value) is int:
        node.items[place] = (name, value + choices.below(256) - 128)


def _rename(root: object, node: Node, place: int, choices: Choices) -> None:
    name = VALUES[choices.below(len(VALUES))]
    if node.named and isinstance(name, str):
        node.items[place] = (name, node.items[place][1])


def _delete(root: object, node: Node, place: int, choices: Choices) -> None:
    del node.items[place]


def _repeat(root: object, node: Node, place: int, choices: Choices) -> None:
    node.items.append((node.items[place][0], loose_json.copy(node.items[place][1])))


def _move(root: object, node: Node, place: int, choices: Choices) -> None:
    """A copy of another value of the same file."""
    found = loose_json.places(root)
    other, at = found[choices.below(1 << 16) % len(found)]
    node.items[place] = (node.items[place][0], loose_json.copy(other.items[at][1]))


def _swap(root: object, node: Node, place: int, choices: Choices) -> None:
    other = choices.below(len(node.items))
    (name, value), (other_name, other_value) = node.items[place], node.items[other]
    node.items[place], node.items[other] = (name, other_value), (other_name, value)


def _wrap(root: object, node: Node, place: int, choices: Choices) -> None:
    name, value = node.items[place]
    node.items[place] = (name, Node(False, [(None, value)]))


_VALUE_EDITS: tuple[Callable[[object, Node, int, Choices], None], ...] = (
    *(_set, _insert, _set_text, _add_number, _rename, _delete, _repeat, _move, _swap, _wrap),
)
