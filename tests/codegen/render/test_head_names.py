# SPDX-License-Identifier: Apache-2.0
"""Names of heads share a namespace with what the generated sources declare: one that would not compile is refused."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tiny_heads import write_encoder, write_gru, write_head

from codegen import pipeline
from codegen.errors import EtchError
from codegen.head_folders import HeadFolder, check_beside, parse_head
from codegen.memory.table_places import parse_place

ROOT = Path(__file__).resolve().parents[3]
KINDS = ("single", "multi", "values", "tags", "masks", "next", "answers")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated folder with heads of all kinds and tables that are copied."""
    place = tmp_path_factory.mktemp("names")
    heads = [HeadFolder(f"of_{kind}", write_head(place / kind, kind)) for kind in KINDS]
    heads.append(HeadFolder("of_gru", write_gru(place / "gru")))
    places = parse_place("itcm=4K,copied"), parse_place("flash=4M")
    request = pipeline.Request(
        write_encoder(place / "encoder"), place / "model", heads=tuple(heads), table_places=places
    )
    pipeline.generate(request, lambda _: None)
    return place / "model"


def is_allowed(name: str, model: Path) -> bool:
    """Beside this model's own name and tables."""
    try:
        check_beside(
            [parse_head(f"{name}=folder").name], model.name, json.loads((model / "etch.json").read_text())["table_list"]
        )
    except EtchError as error:
        assert error.code == "name-not-allowed"
        return False
    return True


def test_what_is_allowed_compiles(model: Path, tmp_path: Path) -> None:
    """All words of the sources that may be a head's name, as namespaces that are there before."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++")
    sources = [path for path in sorted(model.iterdir()) if path.suffix in (".cpp", ".hpp")]
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    words = sorted(set(re.findall(r"\b[a-z][a-z0-9_]{0,39}\b", text)))
    chosen = [word for word in words if not word.startswith("of_") and is_allowed(word, model)]
    assert len(chosen) > 300
    declared = "".join(f"namespace {word} {{}}\n" for word in chosen)
    source = tmp_path / "names.cpp"
    for path in sources:
        if path.suffix == ".cpp":
            source.write_text(f'namespace etch {{ namespace model {{\n{declared}}}}}\n#include "{path.name}"\n')
            folders = (model, ROOT / "runtime/include", ROOT / "runtime/src")
            command = [compiler, "-std=c++17", "-fsyntax-only", *(f"-I{folder}" for folder in folders), source]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, "\n".join(line for line in done.stderr.splitlines() if "error" in line)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("model", "the model itself has this name"),
        *((name, "a table of this model has this name") for name in ("labels", "prefix", "ranks", "blocks")),
        ("word_embeddings_table_source", "a table of this model has this name"),
        ("copy_tables", "every generated model has something of this name"),
        ("tables_copied", "every generated model has something of this name"),
    ],
)
def test_names_of_the_models_own_are_refused(name: str, what: str, tmp_path: Path) -> None:
    encoder, folder = write_encoder(tmp_path / "encoder"), write_head(tmp_path / "tags", "tags")
    with pytest.raises(EtchError) as caught:
        heads = (HeadFolder("one", folder), parse_head(f"{name}={folder}"))
        pipeline.generate(pipeline.Request(encoder, tmp_path / "model", heads=heads), lambda _: None)
    assert (caught.value.code, caught.value.stage) == ("name-not-allowed", "arguments")
    assert caught.value.message == f"head name '{name}': {what}"
    assert not (tmp_path / "model").exists()
