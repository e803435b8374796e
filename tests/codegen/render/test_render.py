# SPDX-License-Identifier: Apache-2.0
"""Text for the compiler: literals mean exactly their values, and no string of a checkpoint gets out of its literal."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile import HOSTILE
from sampling import one_in
from tiny_checkpoint import DEFAULT_VOCAB, write_json, write_tiny_checkpoint
from tiny_sentence import write_tiny_sentence_model

from codegen import pipeline
from codegen.errors import EtchError
from codegen.quantize import RECIPES, choose_recipe
from codegen.render.manifest import manifest
from codegen.render.model import Model, Rendered, render_model
from codegen.render.text import constant, float_literal, literal_lines, number_lines, pascal, string_view
from codegen.tasks import verbs
from codegen.tokenizer import compile_tokenizer

LINEARS = ("query", "key", "value", "attention_output", "intermediate", "output", "pooler")
ROOT = Path(__file__).resolve().parents[3]
COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="no C++ compiler")
# Printable ASCII but for quote, backslash and question mark, or three octal digits.
LITERAL = re.compile(r'\{"((?:[ !#->@-\[\]-~]|\\[0-7]{3})*)", (\d+)\}')


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


# --- strings ---------------------------------------------------------------------------------------------------------


def strings() -> list[bytes]:
    """Hostile ones, every byte alone and before a digit, and random bytes."""
    source = random.Random(1)
    every = [bytes([byte]) for byte in range(256)] + [bytes([byte]) + b"7" for byte in range(256)]
    noise = [source.randbytes(source.randrange(1, 60)) for _ in range(100)]
    tricky = [source.choice([b"?", b"/", b"\\", b'"', b"\n", b")", b"0", b"8", b"*"]) * 3 for _ in range(20)]
    return [b"", *map(encoded, HOSTILE), *every, *noise, *tricky, b"??/\n??=??'??<", bytes(range(256))]


@needs_compiler
@pytest.mark.parametrize("options", [["-std=c++17"], ["-std=c++17", "-trigraphs"], ["-std=gnu++20"]], ids=" ".join)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_string_views_compile_to_exactly_their_bytes(compiler: str, options: list[str], tmp_path: Path) -> None:
    chosen = [data for data in strings() if len(data) < 60_000]
    lines = [
        *("#include <cstdio>", "#include <string_view>", "constexpr std::string_view kStrings[] = {"),
        *(f"    {string_view(data)}," for data in chosen),
        *(f"    {{{chr(10).join(literal_lines(data))}, {len(data)}}}," for data in chosen),
        *("};", "int main() {", "    for (auto s : kStrings) {"),
        *('        std::printf("%zu ", s.size());', "        std::fwrite(s.data(), 1, s.size(), stdout);"),
        *("    }", "}"),
    ]
    source = tmp_path / "strings.cpp"
    source.write_text("\n".join(lines) + "\n", encoding="ascii")  # nothing but ASCII is written down
    warnings = ["-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *options, *warnings, "-O0", source, "-o", tmp_path / "strings"], check=True)
    printed = subprocess.run([tmp_path / "strings"], check=True, capture_output=True).stdout
    assert printed == 2 * b"".join(b"%d " % len(data) + data for data in chosen)


def test_string_views_are_nothing_but_a_literal_and_its_length() -> None:
    for data in strings():
        match = LITERAL.fullmatch(string_view(data))
        assert match, data[:60]
        assert int(match[2]) == len(data)
        back = re.sub(r"\\([0-7]{3})", lambda escape: chr(int(escape[1], 8)), match[1]).encode("latin-1")
        assert back == data


# --- numbers ---------------------------------------------------------------------------------------------------------

FLOATS = np.array(
    [0.0, 1.0, -1.0, 0.1, -1e-3, 2**-40, 3.4028235e38, -3.4028235e38, 1.17549435e-38, 1 / 3, 127, 1e10, 16777217],
    np.float32,
)


def test_float_literals_are_exact() -> None:
    random_bits = np.random.default_rng(3).integers(0, 1 << 32, 2000, dtype=np.uint32).view(np.float32)
    for value in (*FLOATS, *random_bits[np.isfinite(random_bits)]):
        text = float_literal(value)
        assert re.fullmatch(r"-?\d+\.\d+(e[+-]\d+)?f|-?\de[+-]\d+f", text), text
        assert np.float32(float(text[:-1])) == value


@needs_compiler
def test_arrays_compile_to_their_elements(tmp_path: Path) -> None:
    arrays: dict[str, np.ndarray] = {
        "float": FLOATS,
        "std::int8_t": np.array([-128, -127, 0, 127], np.int8),
        "std::uint8_t": np.array([0, 255], np.uint8),
        "std::int32_t": np.array([-(2**31) + 1, 2**31 - 1, 0], np.int32),
        "std::uint32_t": np.array([0, 2**32 - 1], np.uint32),
        "std::uint16_t": np.arange(40, dtype=np.uint16) * 1638,
    }
    lines = ["#include <cstdint>", "#include <cstdio>"]
    for index, (kind, values) in enumerate(arrays.items()):
        lines += [f"constexpr {kind} k{index}[] = {{", *number_lines(values), "};"]
    lines.append("int main() {")
    lines += [f"    std::fwrite(k{index}, 1, sizeof k{index}, stdout);" for index in range(len(arrays))]
    source = tmp_path / "arrays.cpp"
    source.write_text("\n".join([*lines, "}"]) + "\n")
    warnings = ["-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Wno-overflow", "-Werror"]
    subprocess.run([COMPILERS[0], *warnings, source, "-o", tmp_path / "arrays"], check=True)
    printed = subprocess.run([tmp_path / "arrays"], check=True, capture_output=True).stdout
    assert printed == b"".join(values.tobytes() for values in arrays.values())


def test_names() -> None:
    assert pascal("encoder_layer") == "EncoderLayer"
    assert constant("word_embeddings") == "kWordEmbeddings"


# --- whole models ----------------------------------------------------------------------------------------------------


def make(folder: Path, change: Callable[[dict[str, Any]], object] | None = None, **shape: Any) -> Model:
    write_tiny_checkpoint(folder, **shape)
    if change is not None:
        config = json.loads((folder / "config.json").read_text())
        change(config)
        write_json(folder / "config.json", config)
    checkpoint = pipeline.load(folder)
    return pipeline.make_model("tiny", checkpoint, pipeline.to_graph(checkpoint, None), RECIPES["w8a8"], "host")


@pytest.mark.parametrize(
    ("recipe", "target", "bits", "kernels"),
    [
        ("w8a8", "host", {}, "kPanelKernels"),
        ("w7a8", "host", {}, "kPanelKernels"),
        ("w7a8", "host", {"query": 8, "output": 4}, "kPanelKernels"),
        ("w7a8", "host", dict.fromkeys(LINEARS, 8), "kPanelKernels"),
        ("w7a8", "m-profile", {}, "kRowsKernels"),
        ("fp32", "host", {}, "kPanelKernels"),
    ],
)
def test_kernels_are_those_of_the_target_and_weights_of_7_bits_are_marked(
    recipe: str, target: str, bits: dict[str, int], kernels: str, tmp_path: Path
) -> None:
    write_tiny_checkpoint(tmp_path, layers=2)
    checkpoint = pipeline.load(tmp_path)
    graph = pipeline.to_graph(checkpoint, None)
    model = pipeline.make_model("tiny", checkpoint, graph, choose_recipe(recipe, 8, bits), target)
    weights = texts(model, "incbin")["tiny_weights.hpp"].decode()
    assert f"inline constexpr const KernelList& kKernels = {kernels};\n" in weights
    marked = set(re.findall(r"/\*(\w+)=\*/\{[^}]*/\*of_7_bits=\*/true\},", weights))
    layered = set(LINEARS) - {"pooler"}
    assert marked == (layered - bits.keys() if recipe == "w7a8" else set())


def texts(model: Model, form: str) -> dict[str, bytes]:
    """Every file of the output, but for the checkpoint's hash."""
    files = [*render_model(model, form), Rendered("etch.json", [manifest(model, form, {})])]  # type: ignore[arg-type]
    return {file.name: b"".join(file.content).replace(model.checkpoint.encode(), b"HASH") for file in files}


def name_labels(labels: list[str]) -> Callable[[dict[str, Any]], None]:
    def change(config: dict[str, Any]) -> None:
        config["id2label"] = {str(index): label for index, label in enumerate(labels)}
        config["label2id"] = {label: index for index, label in enumerate(labels)}

    return change


@pytest.mark.parametrize("form", ["c", "incbin"])
def test_hostile_labels_change_string_literals_only(form: str, tmp_path: Path) -> None:
    labels = [label for label in dict.fromkeys(HOSTILE) if len(label) < 1000 and label != "\ud800"]
    assert len(labels) >= 40
    plain = texts(make(tmp_path / "plain", labels=len(labels)), form)
    hostile = texts(make(tmp_path / "hostile", name_labels(labels), labels=len(labels)), form)
    assert plain.keys() == hostile.keys()
    for name, content in hostile.items():
        if not name.endswith(".tables"):
            content.decode("ascii")  # no bidi control, no byte that an editor may show as something else
        if name == "tiny.hpp":
            assert content != plain[name]
            for label in labels:
                assert string_view(encoded(label)).encode() in content
            shape = [LITERAL.sub("STRING", text[name].decode()) for text in (plain, hostile)]
            assert shape[0] == shape[1]
            assert shape[0].count("STRING") == len(labels)
        else:
            assert content == plain[name], name


def test_a_label_of_a_megabyte(tmp_path: Path) -> None:
    labels = ["a" * 1_000_000, "b"]
    header = texts(make(tmp_path, name_labels(labels), labels=2), "incbin")["tiny.hpp"].decode()
    assert "a" * 1_000_000 in header
    assert len(LITERAL.sub("STRING", header)) < 10_000


def test_hostile_tokens_change_array_data_only(tmp_path: Path) -> None:
    """Tokens that the loader takes end up in arrays; the code around them is the same but for numbers."""
    tokens = [token for token in dict.fromkeys(HOSTILE) if token not in DEFAULT_VOCAB]
    taken: list[str] = []
    for token in tokens:
        try:
            write_tiny_checkpoint(tmp_path / "one", vocab=(*DEFAULT_VOCAB, token))
            compile_tokenizer(pipeline.load(tmp_path / "one").tokenizer)
        except (EtchError, UnicodeEncodeError) as error:
            assert isinstance(error, EtchError) or token == "\ud800"  # the file cannot even be written
            continue
        taken.append(token)
    assert len(taken) >= 30
    plain_tokens = [f"q{index}" for index in range(len(taken))]
    models = [
        make(tmp_path / which, vocab=(*DEFAULT_VOCAB, *extra)) for which, extra in (("p", plain_tokens), ("h", taken))
    ]
    for form in ("c", "incbin"):
        plain, hostile = (texts(model, form) for model in models)
        assert plain.keys() == hostile.keys()
        for name in plain.keys() - {"tiny.tables"}:
            assert skeleton(plain[name]) == skeleton(hostile[name]), name


def skeleton(content: bytes) -> str:
    """Code with N for each number, and N for lines of nothing but numbers."""
    text = re.sub(r"\b(0x[0-9A-F]+|\d+)u?\b", "N", content.decode("ascii")).replace("-N", "N")
    return re.sub(r"(?m)(^ *(N,? ?)+\n)+", "N\n", text)


def test_other_strings_of_the_config_reach_nothing(tmp_path: Path) -> None:
    plain = texts(make(tmp_path / "plain"), "incbin")
    keys = ("_name_or_path", "transformers_version", "torch_dtype", "finetuning_task")
    for index, text in enumerate(('*/ "; int evil;', "??/\n#include <x>", "{{ 7 * 7 }}")):
        changed = make(tmp_path / str(index), lambda config, text=text: config.update(dict.fromkeys(keys, text)))
        assert texts(changed, "incbin") == plain


def test_tensor_names_reach_no_file(tmp_path: Path) -> None:
    for content in texts(make(tmp_path), "c").values():
        assert b"bert." not in content
        assert str(tmp_path).encode() not in content


def test_manifest_is_plain_json(tmp_path: Path) -> None:
    model = make(tmp_path)
    content = json.loads(manifest(model, "c", {"a.cpp": "00"}))
    assert content["name"] == "tiny"
    assert content["files"] == {"a.cpp": "00"}
    assert content["checkpoint_sha256"] == model.checkpoint
    assert content["arena_bytes"] == model.plan.arena_bytes >= content["arena_lower_bound"]


def test_manifest_says_where_tables_and_buffers_lie(tmp_path: Path) -> None:
    model = make(tmp_path, layers=2)
    text = manifest(model, "incbin", {}).decode()
    content = json.loads(text)
    blob = next(file for file in render_model(model, "incbin") if file.name == "tiny.tables")
    tables = content["table_list"]
    assert [(name, table["bytes"]) for name, table in tables.items()] == [(t.name, t.bytes) for t in model.tables]
    assert sum(table["bytes"] for table in tables.values()) == sum(len(part) for part in blob.content)
    assert tables["word_embeddings_table"]["part"] == "word_embeddings"
    assert (tables["key_scales"]["part"], tables["key_scales"]["layers"]) == ("key", 2)
    assert (tables["word_embeddings_table"]["layers"], tables["classifier_bias"]["layers"]) == (0, 0)
    assert {table["part"] for name, table in tables.items() if name.startswith("raw_")} == {"tokenizer"}
    buffers, ops = content["arena_buffers"].values(), content["arena_ops"]
    assert ops[0] == "tokenize"
    assert max(buffer["offset"] + buffer["bytes"] for buffer in buffers) == content["arena_bytes"]
    live = [sum(b["bytes"] for b in buffers if b["first_op"] <= op <= b["last_op"]) for op in range(len(ops))]
    assert max(live) == content["arena_lower_bound"]
    assert '\n  "key_scales": {' in text  # a table a line


def test_the_same_model_gives_the_same_files(tmp_path: Path) -> None:
    model = make(tmp_path)
    for form in ("c", "incbin"):
        assert texts(model, form) == texts(replace(model), form)


def test_both_table_forms_hold_the_same_numbers(tmp_path: Path) -> None:
    """The arrays in the .cpp, read back, are the bytes of the .tables file."""
    model = make(tmp_path, layers=2)
    source = texts(model, "c")["tiny_tables.cpp"].decode()
    found = re.findall(r"alignas\(64\) const (\S+) (\w+)((?:\[\d+\])+) = \{(.*?)\n\};", source, re.DOTALL)
    kinds = {"float": np.float32, "std::int8_t": np.int8, "std::uint8_t": np.uint8}
    kinds |= {"std::uint16_t": np.uint16, "std::uint32_t": np.uint32, "std::int32_t": np.int32}
    parts = []
    for kind, name, extent, body in found:
        words = re.findall(r"-?\d[\d.]*(?:e[+-]\d+)?f?", body)
        numbers = [float(word[:-1]) if word.endswith("f") else int(word) for word in words]
        values = np.array(numbers, kinds[kind])
        assert values.size == np.prod([int(bound) for bound in re.findall(r"\d+", extent)]), name
        parts.append(values.tobytes())
    assert len(parts) == len(model.tables)
    assert b"".join(parts) == texts(model, "incbin")["tiny.tables"]


def test_table_crcs_are_those_of_zlib(tmp_path: Path) -> None:
    import zlib

    model = make(tmp_path, layers=2)
    blob, offset = texts(model, "incbin")["tiny.tables"], 0
    for table in model.tables:
        assert table.crc() == zlib.crc32(blob[offset : offset + table.bytes])
        offset += table.bytes
    assert offset == len(blob)


# --- tasks -----------------------------------------------------------------------------------------------------------

# What a user of each task's header writes.
USES = {
    "single_label": "return r.label + r.probability[0] + r.logits[kLabelCount - 1] + kLabels[0].size() > 0;",
    "multi_label": "return r.label + r.probability[0] + r.logits[kLabelCount - 1] + kLabels[0].size() > 0;",
    "regression": "return r.value[kValueCount - 1] + kValueNames[0].size() > 0;",
    "embedding": "return etch::cosine_similarity(r, r) > 0;",
}


def write_task(folder: Path, task: str, width: int) -> None:
    if task == "embedding":
        write_tiny_sentence_model(folder, hidden=width, heads=1)
        return
    problems = {"multi_label": "multi_label_classification", "regression": "regression"}
    write_tiny_checkpoint(folder, labels=width, problem_type=problems.get(task))


@needs_compiler
@pytest.mark.parametrize(("task", "width"), one_in(3, list(product(USES, (2, 1000)))))
def test_every_task_compiles(task: str, width: int, tmp_path: Path) -> None:
    write_task(tmp_path / "checkpoint", task, width)
    checkpoint = pipeline.load(tmp_path / "checkpoint")
    model = pipeline.make_model("tiny", checkpoint, pipeline.to_graph(checkpoint, None), RECIPES["w8a8"], "host")
    files = texts(model, "incbin")
    verb = verbs()[task]
    files["use.cpp"] = f"""#include "etch/similarity.hpp"
#include "tiny.hpp"
using namespace etch::tiny;
static_assert(kTask == etch::Task::{task});
bool use(Workspace& workspace, const Encoding& e) {{
    Result r;
    if ({verb}(workspace, "a", r) != etch::Status::ok || {verb}_pair(workspace, "a", "b", r) != etch::Status::ok ||
        {verb}_tokens(workspace, e.ids, e.segments, e.count, r) != etch::Status::ok || r.truncated || r.tokens == 0)
        return false;
    {USES[task]}
}}
""".encode()
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    options = ["-std=c++17", "-O0", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'runtime/include'}"]
    sources = [tmp_path / name for name in ("tiny.cpp", "tiny_self_test.cpp", "use.cpp")]
    for compiler in COMPILERS:
        subprocess.run([compiler, *options, *sources], check=True)
    assert f"    TASK {verb}\n" in files["CMakeLists.txt"].decode()
    assert json.loads(files["etch.json"])["task"] == task
    assert max(len(line) for line in files["tiny_self_test.cpp"].decode().split("\n")) <= 120
    # A Result lies on the stack of self_test().
    assert model.stack_budget >= model.target.stack_budget + (8 if "label" in task else 4) * width


def test_hostile_names_of_values_change_string_literals_only(tmp_path: Path) -> None:
    names = [label for label in dict.fromkeys(HOSTILE) if len(label) < 1000 and label != "\ud800"]

    def regression(config: dict[str, Any]) -> None:
        config["problem_type"] = "regression"

    def both(config: dict[str, Any]) -> None:
        regression(config)
        name_labels(names)(config)

    plain = texts(make(tmp_path / "plain", regression, labels=len(names)), "c")
    hostile = texts(make(tmp_path / "hostile", both, labels=len(names)), "c")
    assert {name for name in plain if plain[name] != hostile[name]} == {"tiny.hpp"}
    shape = [LITERAL.sub("STRING", text["tiny.hpp"].decode()) for text in (plain, hostile)]
    assert shape[0] == shape[1]
    assert shape[0].count("STRING") == len(names)


def test_a_block_is_skipped_with_all_its_ops(tmp_path: Path) -> None:
    source = texts(make(tmp_path / "model"), "c")["tiny.cpp"].decode()
    block = r"if \(skips\(run, (\d+)\)\) continue; +// the number of ops below\n(.*?)\n        }\n"
    blocks = re.findall(block, source, re.DOTALL)
    assert len(blocks) == 2
    for count, body in blocks:
        assert body.count("run(") == int(count) > 1
