# SPDX-License-Identifier: Apache-2.0
"""Which tests a change can affect.

Python: every test file that imports a changed file, at first or at second hand; a conftest.py belongs to all tests
below it. Everything else: the table below, by the longest beginning of the path. What neither knows can affect
everything.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from import_statements import ROOT, imports_of

CPP = (
    *("test-kernels", "test-ops", "test-calls", "test-decode", "test-tokenizer", "test-hosted", "test-model"),
    *("test-cuda", "test-firmware"),
)
BUILT = "tests/end_to_end"  # what runs built models
OLDEST = "tests/codegen/test_oldest_python.py"  # reads all sources that users run
FROZEN = "tests/codegen/test_frozen_values.py"  # reads all of the generator
DIRECTIONS = "tests/test_import_directions.py"  # the same, and the tools
READ = (f"{BUILT}/scripts/test_readme.py", f"{BUILT}/scripts/test_readme_commands.py")  # what reads the pages for users
GPU = (
    "test-cuda",
    "tests/codegen/render/test_render_cuda.py",
    f"{BUILT}/models/test_cuda_shapes.py",
    f"{BUILT}/program/test_cuda_stub.py",
    *(f"{BUILT}/scripts/test_{name}.py" for name in ("cuda_programs", "gpu_check")),
    f"{BUILT}/promises/test_promise_cuda_arithmetic.py",
    f"{BUILT}/promises/test_promise_cuda_host.py",
    f"{BUILT}/outside/test_cuda_build.py",
)
READS_RUNTIME = (
    "tests/codegen/render/test_head_names.py",
    "tests/codegen/test_names.py",
    "tests/codegen/test_pack.py",
    "tests/codegen/render/test_render.py",
    "tests/codegen/emulate/test_emulate_polynomials.py",
    "tests/codegen/tokenizer/test_tokenizer_tables.py",
    "tests/coverage",
    "tests/mutation",
)
FIRMWARE = (f"{BUILT}/firmware", f"{BUILT}/report", "test-firmware")

# The beginning of a path: programs of C++ tests, files and folders of Python tests.
TABLE: dict[str, tuple[str, ...]] = {
    "LICENSE": (f"{BUILT}/outside",),
    "README.md": (*READ, f"{BUILT}/outside"),
    "codegen/": (BUILT, OLDEST, FROZEN, DIRECTIONS),  # what runs it in processes of its own; importers come on top
    "codegen/CHANGELOG.md": (*READ, f"{BUILT}/outside/test_versions.py"),
    **{f"codegen/{page}.md": READ for page in ("ERRORS", "OPTIONS", "README", "SECURITY")},
    "codegen/templates/": ("tests/codegen", "tests/fuzz", BUILT),
    "firmware-demo/": (*FIRMWARE, "tests/coverage"),
    "firmware-demo/README.md": (*READ, f"{BUILT}/firmware/test_firmware_linked.py"),
    "generated/": ("test-model", "test-cuda", "tests/codegen", "tests/fuzz", BUILT),
    "runtime/": (*CPP, *READS_RUNTIME, "tests/fuzz", BUILT),
    "generated/README.md": (*READ, f"{BUILT}/outside/test_versions.py"),
    "runtime/ARITHMETIC.md": (*READ, "tests/codegen/emulate/test_arithmetic_page.py"),
    "runtime/README.md": READ,
    "runtime/src/cuda/README.md": READ,
    "tools/README.md": READ,
    "tools/benchmarks/README.md": READ,
    "tools/cli/README.md": READ,
    "runtime/src/cuda/": (*GPU, f"{BUILT}/report"),
    "runtime/src/hosted/": ("test-hosted", "tests/fuzz", BUILT),
    "tests/README.md": READ,
    "tests/codegen/": ("tests/codegen", "tests/fuzz", BUILT),  # its data
    "tests/coverage/": ("tests/coverage",),
    "tests/end_to_end/": (BUILT,),  # what its tests compile
    "tests/end_to_end/models/cuda/": GPU,
    "tests/end_to_end/firmware/": FIRMWARE,
    "tests/end_to_end/firmware/kernels/": (*FIRMWARE, "tests/coverage"),
    "tests/end_to_end/outside/": (f"{BUILT}/outside", f"{BUILT}/scripts/test_readme.py"),
    "tests/end_to_end/promises/": tuple(
        f"{BUILT}/{name}" for name in ("promises", "models/test_shape_promises.py", "models/test_other_machines.py")
    ),
    "tests/end_to_end/program/stub_model/": (
        "tests/fuzz",
        *(
            f"{BUILT}/program/test_{name}.py"
            for name in ("classify_label_sets", "classify_stub", "cuda_stub", "embed_stub", "regress_stub")
        ),
    ),
    "tests/fuzz/": ("tests/fuzz",),
    "tests/golden/": ("tests/codegen", BUILT),
    "tests/mutation/": ("tests/mutation",),
    "tests/runtime/": CPP,
    "tests/runtime/calls/": ("test-calls",),
    "tests/runtime/cuda/": GPU,
    "tests/runtime/decode/": ("test-decode",),
    "tests/runtime/hosted/": ("test-hosted",),
    "tests/runtime/kernels/": ("test-kernels", "test-ops", "test-model", "test-cuda", f"{BUILT}/firmware"),
    "tests/runtime/model/": ("test-model",),
    "tests/runtime/ops/": ("test-ops", "test-cuda", f"{BUILT}/firmware"),
    "tests/runtime/tokenizer/": ("test-tokenizer", "tests/codegen/tokenizer", BUILT),
    "tools/api": (f"{BUILT}/scripts",),
    "tools/bench": (f"{BUILT}/scripts/test_bench.py", f"{BUILT}/scripts/test_cuda_programs.py"),
    "tools/cli/": (BUILT, "tests/fuzz"),
    "tools/compare": (f"{BUILT}/scripts/test_compare.py", f"{BUILT}/scripts/test_compare_whole.py"),
    "tools/curve": (f"{BUILT}/report",),
    "tools/demo": (f"{BUILT}/scripts/test_demo.py",),
    "tools/doxygen/": (f"{BUILT}/scripts",),
    "tools/examples/": (*READ, f"{BUILT}/outside/test_examples.py"),
    "tools/examples/lines.rs": (*READ, f"{BUILT}/outside/test_examples.py", f"{BUILT}/bindings/test_wheel.py"),
    "tools/examples/two_models.cpp": (*READ, f"{BUILT}/outside/test_bundle.py", f"{BUILT}/outside/test_examples.py"),
    "tools/firmware": FIRMWARE,
    "tools/fuzz": ("tests/fuzz",),
    "tools/gpu": GPU,
    "tools/package/": (f"{BUILT}/outside",),
    "tools/peers/": tuple(
        f"{BUILT}/scripts/test_{name}.py" for name in ("compare", "compare_whole", "peer_embeddings")
    ),
    "tools/python/": (
        *(f"{BUILT}/bindings/test_{name}.py" for name in ("wheel", "wheel_prompts", "wheel_texts", "wheel_threads")),
        f"{BUILT}/building/test_names_of_models.py",
        f"{BUILT}/writing/test_chat_program.py",
    ),
    "tools/report": (f"{BUILT}/report", f"{BUILT}/firmware"),
    "tools/spark/": (f"{BUILT}/bindings/test_spark.py",),
    "tools/sqlite/": (f"{BUILT}/bindings/test_sqlite.py",),
    "tools/stack/": (f"{BUILT}/promises", f"{BUILT}/building/test_model_build.py", f"{BUILT}/firmware"),
    "tools/web/": (f"{BUILT}/bindings/test_web.py", f"{BUILT}/bindings/test_web_modules.py"),
    "tools/train/": ("tests/codegen", BUILT),
    "tools/train/agnews_roberta/": (f"{BUILT}/recipes/test_agnews_roberta_recipe.py",),
    "tools/train/agnews_tiny/": (f"{BUILT}/models/test_agnews_tiny.py",),
    "tools/train/captions/": (f"{BUILT}/recipes/test_captions_recipe.py", f"{BUILT}/firmware"),
    "tools/train/finetune/": tuple(
        f"{BUILT}/recipes/test_{name}.py"
        for name in (
            *("finetune", "finetune_folder", "finetune_generated", "finetune_refusals", "finetuned"),
            *("gru_recipe", "pretrain_recipe", "small_recipe", "tokens_recipe"),
        )
    ),
    "tools/train/gru/": (f"{BUILT}/recipes/test_gru_recipe.py",),
    "tools/train/pretrain/": (f"{BUILT}/recipes/test_pretrain_recipe.py",),
    "tools/train/small/": (f"{BUILT}/recipes/test_small_recipe.py",),
    "tools/train/tokens/": (f"{BUILT}/recipes/test_tokens_recipe.py",),
}
# On top of what the table says: what reads every script of tools/.
OF_TOOLS = (f"{BUILT}/scripts", f"{BUILT}/scripts/test_readme_commands.py", OLDEST, DIRECTIONS)


@dataclass(frozen=True)
class Affected:
    """C++ programs and files of Python tests; `unknown` are the paths because of which it is everything."""

    programs: frozenset[str]
    files: frozenset[str]
    unknown: tuple[str, ...] = ()

    @property
    def needs_build(self) -> bool:
        """Whether anything of it runs what CMake builds."""
        return bool(self.programs) or any(file.startswith((BUILT, "tests/fuzz")) for file in self.files)


def affected(changed: Iterable[str]) -> Affected:
    """What these paths, relative to the root and with /, can affect."""
    programs: set[str] = set()
    files: set[str] = set()
    unknown = []
    for path in changed:
        found = _by_table(path) | _by_imports(path)
        if not found:
            unknown.append(path)
        if path.startswith("tools/"):
            found.update(_below(OF_TOOLS))
        programs |= {name for name in found if not name.startswith("tests/")}
        files |= {name for name in found if name.startswith("tests/")}
    if unknown:
        return Affected(frozenset(CPP), frozenset(python_tests()), tuple(unknown))
    return Affected(frozenset(programs), frozenset(files))


@cache
def python_tests() -> tuple[str, ...]:
    """Every file of Python tests."""
    return tuple(sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")))


def _below(places: Iterable[str]) -> Iterator[str]:
    for place in places:
        if place.startswith("tests/"):
            yield from (file for file in python_tests() if file == place or file.startswith(place + "/"))
        else:
            yield place


def _by_table(path: str) -> set[str]:
    if path in python_tests():
        return {path}
    if path.startswith("tests/") and _by_imports(path):
        return set()  # a helper: those that import it
    beginnings = [beginning for beginning in TABLE if path.startswith(beginning)]
    return set(_below(TABLE[max(beginnings, key=len)])) if beginnings else set()


def _by_imports(path: str) -> set[str]:
    if not path.endswith(".py"):
        return set()
    if Path(path).name == "conftest.py":
        return set(_below([str(Path(path).parent)]))
    return {test for test in python_tests() if path in _reached(test)}


@cache
def _reached(file: str) -> frozenset[str]:
    """Files that this one imports, and theirs."""
    reached: set[str] = set()
    waiting = [file]
    while waiting:
        for imported in _imports(waiting.pop()):
            if imported not in reached:
                reached.add(imported)
                waiting.append(imported)
    return frozenset(reached)


@cache
def _imports(file: str) -> frozenset[str]:
    """Files of this project that a file imports; a package's own file comes with each of its modules."""
    names = (name for imported in imports_of(file) for name in imported.all)
    return frozenset(path for name in names for path in _files_of(name))


@cache
def _files_of(module: str) -> tuple[str, ...]:
    parts = module.split(".")
    if len(parts) == 1 and parts[0] in _helpers():
        return _helpers()[parts[0]]
    found = [ROOT.joinpath(*parts[:depth], "__init__.py") for depth in range(1, len(parts) + 1)]
    found.append(ROOT.joinpath(*parts).with_suffix(".py"))
    return tuple(str(path.relative_to(ROOT)) for path in found if path.is_file())


@cache
def _helpers() -> dict[str, tuple[str, ...]]:
    """Modules beside the tests, which are imported by their bare names."""
    found: dict[str, tuple[str, ...]] = {}
    for folder in ("tests", "firmware-demo"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            found[path.stem] = (*found.get(path.stem, ()), str(path.relative_to(ROOT)))
    return found


def changed_paths() -> list[str]:
    """What differs from where this branch left the main one, uncommitted and new files included; on the main branch,
    from the last commit but one."""
    base = _base()
    changed = _git("diff", "--name-only", "--no-renames", base).splitlines()
    return sorted({*changed, *_git("ls-files", "--others", "--exclude-standard").splitlines()})


def _base() -> str:
    head = _git("rev-parse", "HEAD")
    for name in ("origin/HEAD", "main", "master"):
        try:
            base = _git("merge-base", "HEAD", name)
        except subprocess.CalledProcessError:
            continue
        if base != head:
            return base
    return _git("rev-parse", "HEAD~1")


def _git(*arguments: str) -> str:
    command = ["git", "-c", "core.quotepath=off", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
