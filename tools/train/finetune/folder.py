# SPDX-License-Identifier: Apache-2.0
"""The folder to make: filled beside its place, put there whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from base import Base
from common.refusal import Refused
from targets import Labels

from codegen.load.files import CheckpointFolder
from codegen.load.other_files import is_other_file

# What is written anew, and what speaks of the model that the source was, or of its card.
_NOT_COPIED = re.compile(
    r"(config|generation_config|tokenizer|tokenizer_config|modules|config_sentence_transformers|sentence_bert_config"
    r"|config_setfit|adapter_config|head|trainer_state)\.json|artifact\.metadata|.*\.md"
)
# Where the old file was, and an older name of the longest text.
_DROPPED = ("name_or_path", "max_len", "tokenizer_file", "special_tokens_map_file")


@contextlib.contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """A folder to fill; it becomes `out` at the end, and goes where anything fails."""
    out = Path(os.path.abspath(out))
    check_free(out)
    beside = out.with_name(f".{out.name}.{os.getpid()}")
    beside.mkdir()
    try:
        yield beside
        check_free(out)
        beside.rename(out)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def check_free(out: Path) -> None:
    """Refuses a place that is taken, or cannot be written."""
    if os.path.lexists(out):
        raise Refused(f"--out {out.name}: exists already; choose another folder, or remove it")
    _check_writable("--out", out)


def state_file(asked: Path | None, out: Path) -> Path:
    """Where a run is kept; refused where nothing can be."""
    state = asked or out.with_name(f"{out.name}.state")
    if state.is_dir():
        raise Refused(f"--state {state.name}: is a folder, expected a file")
    _check_writable("--state", state)
    return state


def _check_writable(option: str, place: Path) -> None:
    """Before a training, not after it."""
    try:
        with tempfile.TemporaryFile(dir=Path(os.path.abspath(place)).parent):
            pass
    except OSError as error:
        raise Refused(f"{option} {place.name}: its folder cannot be written: {error.strerror}") from None


def write_settings(folder: Path, base: Base, labels: Labels) -> None:
    """config.json and the tokenizer's files: the checkpoint's own, but for labels and the longest text."""
    _write_json(folder / "config.json", base.config_with(labels))
    write_tokenizer(folder, CheckpointFolder(base.folder), base.max_tokens)


def write_tokenizer(folder: Path, source: CheckpointFolder, max_tokens: int) -> None:
    """The tokenizer's files of `source`, whatever they are called, and its terms; but for the longest text."""
    for name in source.names():
        if is_other_file(name) and not _NOT_COPIED.fullmatch(name) and source.has_file(name):
            (folder / name).write_bytes(source.read(name))
    if source.has("tokenizer.json"):
        tokenizer = source.read_json("tokenizer.json")
        tokenizer["truncation"] = tokenizer["padding"] = None
        _write_json(folder / "tokenizer.json", tokenizer)
    settings = source.read_json_if_present("tokenizer_config.json") or {}
    settings = {k: v for k, v in settings.items() if k not in _DROPPED}
    _write_json(folder / "tokenizer_config.json", settings | {"model_max_length": max_tokens})


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
