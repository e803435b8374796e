# SPDX-License-Identifier: Apache-2.0
"""Recorded checkpoints with something changed: what a front-end says of them."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded.outputs import folder
from tiny_checkpoint import read_raw_safetensors, write_json, write_raw_safetensors

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir.graph import Graph

Change = Callable[[Path], None]


def configure(**values: Any) -> Change:
    """Sets keys of config.json; None removes one."""

    def change(path: Path) -> None:
        config = json.loads((path / "config.json").read_text()) | values
        write_json(path / "config.json", {key: value for key, value in config.items() if value is not None})

    return change


def null(key: str) -> Change:
    """Sets a key of config.json to null."""

    def change(path: Path) -> None:
        write_json(path / "config.json", json.loads((path / "config.json").read_text()) | {key: None})

    return change


def class_is(name: str | None) -> Change:
    """Sets the class that config.json names; None removes it."""
    return configure(architectures=None if name is None else [name])


def texts(key: str = "text_config", **values: Any) -> Change:
    """Sets keys of the configuration of texts below that of a whole model; None removes one."""

    def change(path: Path) -> None:
        config = json.loads((path / "config.json").read_text())
        merged = (config.get(key) or {}) | values
        write_json(path / "config.json", config | {key: {k: v for k, v in merged.items() if v is not None}})

    return change


def rename(old: str, new: str) -> Change:
    """Gives a tensor another name."""

    def change(path: Path) -> None:
        header, data = read_raw_safetensors(path / "model.safetensors")
        header[new] = header.pop(old)
        write_raw_safetensors(path / "model.safetensors", header, data)

    return change


def add(name: str, shape: tuple[int, ...]) -> Change:
    """Appends a tensor of float16 zeros."""

    def change(path: Path) -> None:
        header, data = read_raw_safetensors(path / "model.safetensors")
        begin = max(entry["data_offsets"][1] for key, entry in header.items() if key != "__metadata__")
        size = 2 * math.prod(shape)
        header[name] = {"dtype": "F16", "shape": list(shape), "data_offsets": [begin, begin + size]}
        write_raw_safetensors(path / "model.safetensors", header, data + bytes(size))

    return change


def drop(name: str) -> Change:
    """Takes a tensor away."""

    def change(path: Path) -> None:
        header, data = read_raw_safetensors(path / "model.safetensors")
        begin, end = header.pop(name)["data_offsets"]
        for entry in (entry for key, entry in header.items() if key != "__metadata__"):
            if entry["data_offsets"][0] >= end:
                entry["data_offsets"] = [offset - (end - begin) for offset in entry["data_offsets"]]
        write_raw_safetensors(path / "model.safetensors", header, data[:begin] + data[end:])

    return change


def changed(variant: str, change: Change, place: Path) -> Path:
    """A copy of a recorded folder, changed."""
    copy = place / "checkpoint"
    shutil.copytree(folder(variant), copy)
    change(copy)
    return copy


def graph_of(path: Path) -> Graph:
    """What the front-end makes of a folder."""
    return pipeline.to_graph(pipeline.load(path), None)


def refused(variant: str, change: Change, place: Path) -> tuple[str, str]:
    """Code and message of the refusal of a changed folder."""
    path = changed(variant, change, place)
    with pytest.raises(EtchError) as caught:
        graph_of(path)
    return caught.value.code, str(caught.value)


def assert_refused(variant: str, change: Change, code: str, words: str, place: Path) -> None:
    """A changed folder is refused with this code, and with these words in the message."""
    found, message = refused(variant, change, place)
    assert (found, words in message) == (code, True), message
