# SPDX-License-Identifier: Apache-2.0
"""What the folders of sentence-transformers have in common, whatever model they hold: the list of modules, how the
Transformer is run. Whatever is not known here is refused."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from .config import FILE as CONFIG_FILE
from .files import CheckpointFolder
from .max_tokens import SENTENCE_FILE
from .refusal import refusal, shown

MODULES_FILE = "modules.json"
SETTINGS_FILE = "config_sentence_transformers.json"
MAX_MODULES = 16
PLACES = ("module_input_name", "module_output_name")
STATIC = "StaticEmbedding"  # a table in the place of Transformer and Pooling
_AT_THE_TOP = ("Transformer", "MLMTransformer", STATIC)  # modules whose files may lie beside modules.json
_ROUTES = ("Router", "Asym", "SparseStaticEmbedding", "IDF")
# Of modules whose file is not called as they are.
_FILES = {
    STATIC: "static_embedding",
    "LayerNorm": "layer_norm",
    "MLMTransformer": "mlm_transformer",
    "SpladePooling": "splade_pooling",
    "SparseStaticEmbedding": "sparse_static_embedding",
}
PACKAGES = (
    "sentence_transformers.models",
    "sentence_transformers.base.modules",
    "sentence_transformers.sentence_transformer.modules",
)
# The module that is parted by tasks, and the class of models that it is for.
_OF_TASKS, _WITH_ADAPTERS = "custom_st.Transformer", "modeling_lora.XLMRobertaLoRA"
# Keys of sentence_bert_config.json that choose how the encoder is run, with the values that mean: as everybody does.
USUAL: dict[str, tuple[object, ...]] = {
    "transformer_task": ("feature-extraction",),
    "modality_config": ({"text": {"method": "forward", "method_output_name": "last_hidden_state"}},),
    "module_output_name": ("token_embeddings",),
    "processing_kwargs": (None, {}),
    "query_length": (None,),
    "document_length": (None,),
    "query_expansion": (None,),
    "model_args": (None, {}),
    "model_kwargs": (None, {}),
    "tokenizer_args": (None, {}),
    "processor_kwargs": (None, {}),
    "config_args": (None, {}),
    "config_kwargs": (None, {}),
}
_HARMLESS = ("max_seq_length", "do_lower_case", "unpad_inputs")  # the first is read by max_tokens


def types_of(packages: Collection[str], names: Collection[str]) -> dict[str, str]:
    """What modules.json may call these classes -> their names."""
    return {
        f"{package}.{part}{name}": name
        for package in packages
        for name in names
        for part in ("", f"{_FILES.get(name, name.lower())}.", f"{name}.")
    }


def listed_modules(folder: CheckpointFolder) -> list[Any]:
    """The entries of modules.json."""
    items = [_as_known(folder, item) for item in folder.read_json_list(MODULES_FILE)]
    if len(items) > MAX_MODULES:
        raise refusal("sentence-modules-order", f"{len(items)} modules are too many", file=MODULES_FILE)
    return items


def _as_known(folder: CheckpointFolder, item: object) -> object:
    """The module of code that comes with jina-embeddings-v3 as the library's own: it does the same where no task is
    asked of it, and which task's adapter counts is the configuration's to say."""
    if not isinstance(item, dict) or (item.get("type"), item.get("kwargs")) != (_OF_TASKS, ["task"]):
        return item
    if not folder.has(CONFIG_FILE):
        return item
    classes = folder.read_json(CONFIG_FILE).get("auto_map")
    named = classes.get("AutoModel") if isinstance(classes, dict) else None
    if not isinstance(named, str) or not named.endswith(_WITH_ADAPTERS):
        return item
    return {**item, "type": f"{PACKAGES[0]}.Transformer", "kwargs": []}


def read_module(item: object, place: int, types: Mapping[str, str]) -> tuple[str, str]:
    """(class, path) of an entry of modules.json; `types` are the classes by what the file calls them."""
    if not isinstance(item, dict) or not isinstance(item.get("type"), str) or not isinstance(item.get("path"), str):
        raise refusal("sentence-module", f"module {place} must be an object with type and path", file=MODULES_FILE)
    kind, path = item["type"], item["path"]
    if kind not in types and not kind.startswith("sentence_transformers."):
        raise refusal("remote-code", f"module {shown(kind)} is code that comes with the checkpoint", file=MODULES_FILE)
    _check_not_of_routes(kind)
    if kind not in types:
        supported = ", ".join(dict.fromkeys(types.values()))
        raise refusal(
            "sentence-module-not-supported",
            f"module {shown(kind.rpartition('.')[2])} is not supported (supported: {supported})",
            file=MODULES_FILE,
        )
    if item.get("idx", place) != place or item.get("kwargs", []) != []:
        raise refusal("sentence-module", f"module {place} has another idx, or kwargs", file=MODULES_FILE)
    unsafe = re.fullmatch(r"[A-Za-z0-9_.-]{0,100}", path) is None or path == ".."
    if unsafe or (types[kind] not in _AT_THE_TOP and path in ("", ".")):
        raise refusal(
            "sentence-path", f"the path {shown(path)} is not the plain name of a folder in here", file=MODULES_FILE
        )
    return types[kind], path


def _check_not_of_routes(kind: str) -> None:
    """Says which folders are read whose queries and documents go different ways: those of routes.py."""
    name = kind.rpartition(".")[2]
    if name in _ROUTES:
        message = (
            f"module {shown(name)} is not supported here: read is a Router alone, of a route 'document' through "
            "Transformer and SpladePooling and a route 'query' of SparseStaticEmbedding"
        )
        raise refusal("sentence-module-not-supported", message, file=MODULES_FILE)


def check_at_the_top(path: str) -> None:
    """That the Transformer of this path has its files beside modules.json."""
    if path not in ("", "."):
        raise refusal(
            "sentence-path-not-supported",
            f"the Transformer lies in {shown(path)}: move its files up, beside modules.json",
            file=MODULES_FILE,
        )


def read_module_settings(folder: CheckpointFolder, file: str, module: str) -> dict[str, Any]:
    """The configuration of a module that has to have one."""
    if not folder.has(file):
        raise refusal("sentence-file-missing", f"the configuration of the {module} module is missing", file=file)
    return folder.read_json(file)


def check_transformer(folder: CheckpointFolder, usual: Mapping[str, tuple[object, ...]] = USUAL) -> None:
    """That its settings have these values; where none are given, others read the key."""
    if not folder.has(SENTENCE_FILE):
        others = [name for name in folder.names() if re.fullmatch(r"sentence_[a-z-]+_config\.json", name)]
        if others:  # sentence-transformers reads these as well
            raise refusal("sentence-setting", f"this file must be named {SENTENCE_FILE}", file=others[0])
        return
    values = folder.read_json(SENTENCE_FILE)
    only(values, (*usual, *_HARMLESS), SENTENCE_FILE)
    for key, known in usual.items():
        if known and key in values and values[key] not in known:
            raise setting_refusal(key, values[key], SENTENCE_FILE)


def check_normalize(folder: CheckpointFolder, file: str, value: str = "sentence_embedding") -> None:
    """That the Normalize of this file is of `value`, which is meant where it says nothing."""
    check_places(folder.read_json_if_present(file) or {}, value, file)  # versions before 6 write none


def check_places(values: Mapping[str, Any], value: str, file: str) -> None:
    """That the module of these settings takes `value` and hands it on."""
    for key in PLACES:
        if values.get(key) not in (None, value):
            raise setting_refusal(key, values[key], file)


def only(values: Mapping[str, Any], known: Collection[str], file: str) -> None:
    """Refuses a key that is not known."""
    for key in values:
        if key not in known:
            raise refusal("sentence-setting", f"the setting {shown(key)} is not known", file=file)


def setting_refusal(key: str, value: object, file: str) -> Exception:
    """Of a value that has no meaning here."""
    return refusal("sentence-setting", f"'{key}': {shown(value)} is not supported", file=file)
