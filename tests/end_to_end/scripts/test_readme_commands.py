# SPDX-License-Identifier: Apache-2.0
"""What the README and the pages it leads to say in passing: calls in their sentences compile, their commands exist and
take their options, their errors can happen. Longer examples are the projects of outside/ (test_readme.py)."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from classify_program import ROOT, built
from generator_program import etch
from pages import BLOCKS, SPANS, TEXT
from recorded.outputs import folder
from tiny_sentence import write_tiny_sentence_model

from codegen.cli import make_parser
from tools.support import reference

SHELL = [line for kind, block in BLOCKS if not kind for line in block.splitlines() if line and "-->" not in line]
COMMANDS = [part.strip() for line in SHELL for part in re.split(r"\s#\s", line)[0].split("&&")]

# --- calls in sentences ----------------------------------------------------------------------------------------------

# A call as the README shows it -> the statement that it is here, in this order.
CALLS = {
    "classify(text)": "(void)etch::agnews::classify(workspace, text, result);",
    "classify_batch(workspace, texts, count, results)": "(void)classify_batch(workspace, texts, count, results);",
    "begin(workspace, text)": "(void)begin(workspace, text);",
    "step(workspace, budget, result)": "(void)step(workspace, budget, result);",
    "etch::Executor": "etch::Executor executor;",
    "workspace.executor": "workspace.executor = &executor;",
    "3 * kScratchBytes": "alignas(64) static std::uint8_t scratch[3 * kScratchBytes];",
    "etch::hosted::ThreadPool pool(4)": "etch::hosted::ThreadPool pool(4);",
    "etch::hosted::use_huge_pages()": "(void)etch::hosted::use_huge_pages();",
    "pool.executor(scratch)": "executor = pool.executor(scratch);",
    "workspace.special_tokens = etch::SpecialTokens::plain_text": (
        "workspace.special_tokens = etch::SpecialTokens::plain_text;"
    ),
    "SpecialTokens::plain_text": "workspace.special_tokens = etch::SpecialTokens::plain_text;",
    "etch::chat_text(kChat, &system, messages, count, text, capacity)": (
        "const std::string_view system; (void)etch::chat_text(etch::writer::kChat, &system, texts, count, nullptr, 0);"
    ),
    "kChat.exists()": "(void)etch::writer::kChat.exists();",
    "workspace.special_tokens = etch::SpecialTokens::in_text": (
        "workspace.special_tokens = etch::SpecialTokens::in_text;"
    ),
    "SpecialTokens::in_text": "workspace.special_tokens = etch::SpecialTokens::in_text;",
    "result.truncated": "(void)result.truncated;",
    "etch::agnews::classify(workspace, text, result)": "(void)etch::agnews::classify(workspace, text, result);",
    "result.probability": "(void)result.probability;",
    "tag(workspace, text, result)": "(void)etch::tagger::tag(tagging, text, tags);",
    **{f"result.{member}": f"(void)tags.{member};" for member in ("spans", "capacity", "count", "aggregation")},
    "embed_sparse(workspace, text, result)": "(void)etch::splade::embed_sparse(weighing, text, sparse);",
    **{f"result.{member}": f"(void)sparse.{member};" for member in ("weights", "dense")},
    "etch::dot_product(a, b)": "(void)etch::dot_product(sparse, sparse);",
    "etch::sort_by_id": "etch::sort_by_id(sparse.weights, 0);",
    "etch::sort_by_id(weights, count)": "etch::sort_by_id(sparse.weights, 0);",
    "embed_each(workspace, text, result)": "(void)etch::late::embed_each(looking, text, found);",
    "result.vectors": "found.vectors = nullptr;",
    "result.side": "found.side = etch::Side::query;",
    "etch::Side::document": "found.side = etch::Side::document;",
    "etch::max_sim": "(void)etch::max_sim(nullptr, 0, nullptr, 0, 1);",
    "etch::max_sim(query, query_count, document, document_count, kVectorWidth)": (
        "(void)etch::max_sim(found.vectors, 1, found.vectors, 1, etch::late::kVectorWidth);"
    ),
    'kPrompts.find("query")': '(void)etch::tiny::kPrompts.find("query");',
    "choose(workspace, prompt, choices, count, probabilities, choice)": (
        "(void)etch::chooser::choose(choosing, text, texts, count, probabilities, choice);"
    ),
    "workspace.max_target": "writing.max_target = 3;",
    "Status::executor_failed": "(void)etch::Status::executor_failed;",
    "Status::workspace_in_use": "(void)etch::Status::workspace_in_use;",
    "Status::region_missing": "(void)etch::Status::region_missing;",
    "Status::tables_not_copied": "(void)etch::Status::tables_not_copied;",
    "etch::cosine_similarity": "(void)&etch::cosine_similarity;",
    "etch::cosine_similarity(a, b)": "(void)etch::cosine_similarity(a, b);",
    "cosine_similarity(a, b)": "(void)etch::cosine_similarity(a, b);",
}
# What looks like a call and is something else: targets of CMake.
TARGETS = {"etch::runtime", "etch::NAME", "etch::agnews_cuda"}


def is_call(span: str) -> bool:
    """C++: a qualified name, a call, a member of one of the examples' variables, an expression."""
    if span in TARGETS or span.startswith(("find_package", "target_link_libraries", "etch_add_model", "-D", "error[")):
        return False
    return "::" in span or re.search(r"^[\w.]+\(.+\)$|^(?:workspace|result|pool)\.\w+|\* k[A-Z]", span) is not None


def test_calls_in_sentences_compile(tmp_path: Path) -> None:
    """With the headers that the README names, and no others."""
    shown = {span for span in SPANS if is_call(span)}
    assert shown <= set(CALLS), "how is it compiled?"
    assert len(shown) > 8
    headers = sorted(span for span in SPANS if re.fullmatch(r"etch/[\w/]+\.hpp", span))
    lines = [statement for call, statement in CALLS.items() if call in shown]
    write_tiny_sentence_model(tmp_path / "checkpoint")
    assert etch("generate", tmp_path / "checkpoint", "--out", tmp_path / "tiny").code == 0
    assert etch("generate", folder("tags/bert"), "--out", tmp_path / "tagger").code == 0
    assert etch("generate", folder("choices/bert"), "--out", tmp_path / "chooser").code == 0
    assert etch("generate", folder("sparse/bert"), "--out", tmp_path / "splade").code == 0
    assert etch("generate", folder("vectors/bert"), "--out", tmp_path / "late").code == 0
    assert etch("generate", ROOT / "tests/codegen/generation/gpt2/texts", "--out", tmp_path / "writer").code == 0
    names = ("tiny", "tagger", "splade", "chooser", "late", "writer")
    program = [f"#include <{name}.hpp>" for name in ("agnews", *names)]
    program += [f"#include <{header}>" for header in headers]
    program += ["using namespace etch::agnews;", "void calls();", "void calls() {", "static Workspace workspace;"]
    program += ["const std::string_view text, texts[2];", "std::size_t count = 2;", "std::uint64_t budget = 1;"]
    program += ["Result result, results[2];", "etch::tiny::Result a{}, b{};", "(void)a;", "(void)b;"]
    program += ["static etch::tagger::Workspace tagging;", "etch::tagger::Result tags{};", "(void)tags;"]
    program += ["static etch::splade::Workspace weighing;", "etch::splade::Result sparse{};", "(void)sparse;"]
    program += ["static etch::chooser::Workspace choosing;", "(void)choosing;", "float probabilities[2];"]
    program += ["(void)probabilities;", "etch::chooser::Choice choice{};", "(void)choice;"]
    program += ["static etch::late::Workspace looking;", "etch::late::Result found{};", "(void)looking; (void)found;"]
    program += ["static etch::writer::Workspace writing;", "(void)writing;"]
    program += ["(void)text; (void)texts; (void)count; (void)budget; (void)results;", *lines, "}"]
    (tmp_path / "calls.cpp").write_text("\n".join(program) + "\n")
    flags = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    folders = [
        ROOT / "runtime/include",
        ROOT / "generated/agnews",
        *(tmp_path / name for name in names),
    ]
    command = ["g++", *flags, *(f"-I{folder}" for folder in folders), "calls.cpp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


# --- commands --------------------------------------------------------------------------------------------------------


def words(command: str) -> list[str]:
    return shlex.split(command, comments=True)


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("etch ")])
def test_etch_takes_it(command: str) -> None:
    assert make_parser().parse_args(words(command)[1:]).command == words(command)[1]


def test_the_pages_of_options_and_families_are_what_the_code_says() -> None:
    for path, page in reference.PAGES.items():
        assert path.read_text(encoding="utf-8") == page(), "tools/support/reference.py --write"
    assert len(re.findall(r"^- `--", reference.options_page(), re.MULTILINE)) > 25


def tool_commands() -> list[str]:
    """Of blocks and sentences."""
    return sorted({c for c in [*COMMANDS, *SPANS] if re.match(r"tools/[a-z-]+( |$)", c) and not c.endswith(".py")})


@pytest.mark.parametrize("command", tool_commands())
def test_tools_take_it(command: str) -> None:
    name, *arguments = words(command)
    if (ROOT / name).is_dir():
        return
    done = subprocess.run([ROOT / name, "--help"], capture_output=True, text=True, timeout=60, check=True)
    known = re.split(r"[^a-z0-9-]+", done.stdout)
    assert not [word for word in arguments if word.startswith("--") and word not in known]
    if name == "tools/firmware" and arguments:
        assert arguments[0] in known


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("cmake ")])
def test_presets_exist(command: str) -> None:
    presets = json.loads((ROOT / "CMakePresets.json").read_text())
    kind = "buildPresets" if "--build" in command else "configurePresets"
    for name in re.findall(r"--preset (\S+)", command):
        assert name in {preset["name"] for preset in presets[kind] if not preset.get("hidden")}


def test_every_command_is_of_a_kind_that_is_tested() -> None:
    kinds = r"tools/\w|etch |cmake |g\+\+ |python3 -m venv |\. ~/\.etch/bin/activate$|pip install \.$"
    kinds += "|generated/mymodel/build/bin/classify-mymodel |build/cuda/bin/classify"
    assert not [command for command in COMMANDS if not re.match(kinds, command)]


def test_files_in_commands_exist() -> None:
    named = {path for span in SPANS for path in re.findall(r"(?:tests|tools|codegen)/[\w/]+\.(?:py|txt)", span)}
    assert len(named) > 5
    assert not [path for path in named if not (ROOT / path).is_file()]


def test_quick_commands_run() -> None:
    assert etch("inspect", "tools/train/agnews/checkpoint").code == 0
    done = subprocess.run([ROOT / "tools/firmware", "list"], capture_output=True, text=True, timeout=60, check=True)
    said = re.search(r"tools/firmware list +# (\w+) boards, emulated", TEXT)
    assert said is not None
    assert len(done.stdout.splitlines()) == ("one", "two", "three", "four", "five", "six", "seven").index(said[1]) + 1


def test_options_of_the_program() -> None:
    page = (ROOT / "tools/cli/README.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"^```text\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    assert shown == built("classify").well("--help").out.decode()


# --- errors ----------------------------------------------------------------------------------------------------------


def test_errors_can_happen() -> None:
    """Their codes stand in the generator or in CMake files."""
    sources = [*(ROOT / "codegen").rglob("*.py"), *(ROOT / "runtime/cmake").glob("*.cmake"), ROOT / "CMakeLists.txt"]
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    codes = set(re.findall(r"error\[([a-z0-9-]+)\]", TEXT))
    assert len(codes) > 15
    assert not [code for code in codes if code not in text]
