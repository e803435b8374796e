# SPDX-License-Identifier: Apache-2.0
"""The Router of a SparseEncoder of sentence-transformers whose queries go through no model: documents go through a
masked language model and SpladePooling, a query is its tokens, each weighed by a table (SparseStaticEmbedding).

The files of the route of documents lie in folders of their own, or, as in published models, beside modules.json. All
other routes are refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import EtchError
from ..ir.query_weights import QueryWeights
from ..ir.tokenizer_spec import TokenizerSpec
from .config import FILE as CONFIG
from .dense import open_module_weights
from .files import CheckpointFolder
from .max_tokens import tokenizer_length
from .refusal import refusal, shown
from .sentence_files import (
    MODULES_FILE,
    PACKAGES,
    SETTINGS_FILE,
    listed_modules,
    only,
    read_module_settings,
    setting_refusal,
    types_of,
)
from .shards import WEIGHTS_FILE
from .splade import SPARSE_PACKAGES, SPARSE_TYPES
from .tokenizer_files.tokenizer import load_tokenizer
from .tokenizer_files.tokenizer_json.fields import FILE as TOKENIZER_FILE

ROUTER_FILE = "router_config.json"
TABLE = "SparseStaticEmbedding"
_WEIGHTS = "weight"
_ROUTERS = types_of((*PACKAGES, *SPARSE_PACKAGES), ("Router", "Asym"))
_TYPES = types_of(PACKAGES, ("Transformer",)) | SPARSE_TYPES | types_of(SPARSE_PACKAGES, (TABLE,))
_DOCUMENTS = (("Transformer", "SpladePooling"), ("MLMTransformer", "SpladePooling"))
_PARTS = ("types", "structure", "parameters")


@dataclass(frozen=True)
class Routes:
    """Where the modules of both lie."""

    document: tuple[tuple[str, str], ...]  # (class, path)
    query: str  # the folder of the table

    @property
    def transformer(self) -> str:
        """The folder of the masked language model; empty where it lies beside modules.json."""
        return self.document[0][1]


def read_routes(folder: CheckpointFolder) -> Routes | None:
    """None where modules.json is of no Router."""
    if not folder.has(MODULES_FILE):
        return None
    items = listed_modules(folder)
    kinds = [item.get("type") for item in items if isinstance(item, dict)]
    if not any(isinstance(kind, str) and kind in _ROUTERS for kind in kinds):
        return None
    if len(items) != 1 or items[0].get("path") not in ("", ".") or items[0].get("kwargs", []) != []:
        message = "expected a Router and no other module, whose files lie beside this one"
        raise refusal("sentence-modules-order", message, file=MODULES_FILE)
    kind = (folder.read_json_if_present(SETTINGS_FILE) or {}).get("model_type")
    if kind != "SparseEncoder":  # the library makes another model of one that does not say it
        message = f"a Router is read where 'model_type' is 'SparseEncoder', got {shown(kind)}"
        raise refusal("sentence-setting", message, file=SETTINGS_FILE)
    values = read_module_settings(folder, ROUTER_FILE, "Router")
    only(values, _PARTS, ROUTER_FILE)
    types, structure, parameters = (_mapping(values, key) for key in _PARTS)
    only(parameters, ("default_route", "allow_empty_key", "route_mappings"), ROUTER_FILE)
    if parameters.get("route_mappings") not in (None, {}):
        raise setting_refusal("route_mappings", parameters["route_mappings"], ROUTER_FILE)
    if set(structure) != {"query", "document"}:
        routes = ", ".join(shown(name) for name in structure)
        message = f"routes must be 'query' and 'document', got {routes or 'none'}"
        raise refusal("sentence-route", message, file=ROUTER_FILE)
    document, query = (_modules(structure[name], types, name) for name in ("document", "query"))
    if tuple(name for name, _ in document) not in _DOCUMENTS or [name for name, _ in query] != [TABLE]:
        message = (
            f"a document must go through Transformer, SpladePooling, a query through {TABLE}; got "
            f"{', '.join(name for name, _ in document)}, and {', '.join(name for name, _ in query)}"
        )
        raise refusal("sentence-route", message, file=ROUTER_FILE)
    return Routes(document, query[0][1])


def _mapping(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = values.get(key, {})
    if not isinstance(found, dict):
        raise refusal("config-type", f"'{key}' must be an object, got {shown(found)}", file=ROUTER_FILE)
    return found


def _modules(paths: object, types: Mapping[str, Any], route: str) -> tuple[tuple[str, str], ...]:
    """(class, path) of the modules of a route."""
    if not isinstance(paths, list) or not 1 <= len(paths) <= 2 or not all(isinstance(path, str) for path in paths):
        message = f"route '{route}': expected one or two names of modules, got {shown(paths)}"
        raise refusal("sentence-route", message, file=ROUTER_FILE)
    found = []
    for place, path in enumerate(paths):
        kind = types.get(path)
        if not isinstance(kind, str):
            raise refusal("config-type", f"'types' has no class of {shown(path)}", file=ROUTER_FILE)
        if kind not in _TYPES:
            name = shown(kind.rpartition(".")[2])
            if not kind.startswith("sentence_transformers."):
                message = f"route '{route}': module {name} is code that comes with the checkpoint"
                raise refusal("remote-code", message, file=ROUTER_FILE)
            supported = ", ".join(dict.fromkeys(_TYPES.values()))
            message = f"route '{route}': module {name} is not supported (supported: {supported})"
            raise refusal("sentence-module-not-supported", message, file=ROUTER_FILE)
        at_the_top = path == "" and route == "document" and place == 0
        if not at_the_top and (re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", path) is None or path in (".", "..")):
            message = f"the path {shown(path)} is not the plain name of a folder in here"
            raise refusal("sentence-path", message, file=ROUTER_FILE)
        found.append((_TYPES[kind], path))
    return tuple(found)


def read_query_weights(
    folder: CheckpointFolder, path: str, entries: int, tokenizer: TokenizerSpec, classes: tuple[object, str]
) -> QueryWeights:
    """The table in the folder `path`, of as many entries as the logits of documents have. Queries are read by the
    `tokenizer` of documents, `classes` may name its class: another one is refused."""
    inside, file = folder.within(path), f"{path}/{CONFIG}"
    values = read_module_settings(folder, file, TABLE)
    only(values, ("frozen", "path"), file)
    if isinstance(values.get("path"), str) and values["path"].endswith(".json"):
        message = (
            f"'path': {shown(values['path'])}: weights of another file are not read; load the folder with "
            "sentence-transformers and save it, which writes them into this one"
        )
        raise refusal("sentence-setting", message, file=file)
    tensors = open_module_weights(folder, path, TABLE)
    weights = tensors.take(_WEIGHTS, (entries,)).values
    tensors.finish()
    if weights.min() < 0:
        message = f"a weight of {weights.min():.6g}: only those from 0 are supported"
        raise refusal("sentence-table", message, file=f"{path}/{WEIGHTS_FILE}", tensor=_WEIGHTS)
    try:
        own = load_tokenizer(inside, entries, *classes)
        cut = tokenizer_length(inside)
    except EtchError as error:
        error.file = path if error.file is None else f"{path}/{error.file}"
        raise
    if replace(own, template=tokenizer.template, json=tokenizer.json, notes=tokenizer.notes) != tokenizer:
        message = "queries have another tokenizer than documents: that is not supported"
        raise refusal("sentence-conflict", message, file=f"{path}/{TOKENIZER_FILE}")
    single = tokenizer.template.single
    before = [part.content for part in single].index("A")
    return QueryWeights(tuple(weights.tolist()), before, len(single) - 1 - before, None if cut is None else cut[0])
