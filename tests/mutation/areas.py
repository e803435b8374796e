# SPDX-License-Identifier: Apache-2.0
"""What is mutated, and which tests must notice."""

from __future__ import annotations

import sys
from dataclasses import dataclass

PYTEST = (sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider")

FROZEN = "tests/codegen/test_frozen_values.py"

# Of the comparisons with the wheel those that take seconds.
AGAINST_THE_WHEEL = (
    *("tokenizer", "byte_level", "unigram", "word_level", "normal_forms", "decode", "character_bpe"),
    *(
        "word_piece_steps",
        "marian_tokenizer",
        "bert_generation_tokenizer",
        "m2m_tokenizer",
        "character_splits",
        "normalizer_sequences",
    ),
    *("canine_tokenizer", "character_tokenizers", "fairseq_tokenizer", "herbert_tokenizer", "moses_tokenizer"),
    "normalized_moses_tokenizer",
    "joined_words",
)
QUICK_TO_COMPARE = (
    "own_texts or runs_of or plain_text or odd_content or other_prefixes or malformed or white_space "
    "or longer or every_truncation or test_added_tokens or does_not_make or test_decode or test_texts or hangul "
    "or marks_in_any_order or letters_before or in_a_row or without_id or test_rows or compiled_map or test_a_folder "
    "or read_ahead or of_a_lexicon or (every_sequence and xlnet) or a_small_folder or test_ids "
    "or clusters_about or drawn_texts"
)

# The calls of a model that answers at once, and what of its promises shows what they do.
ANSWERING = ("answer", "batch", "encode", "input", "kernel", "memory", "steps", "turn")
PROMISES = (("overlaps",), ("steps",), ("failing-executor",), ("batches", "2"), ("one-workspace",))


@dataclass(frozen=True)
class Suite:
    """Tests that must notice, and the target to be built for them.

    Of the one program that tests by pytest `ask`, the calls are recorded (replay.py).
    """

    command: tuple[str, ...]
    target: str | None = None
    asks: str | None = None
    compiles: bool = False  # models of its own, which `target` does not show

    @property
    def compiled_whole(self) -> bool:
        """Whether the objects of `target` are all that it tests."""
        return self.target is not None and not self.compiles


@dataclass(frozen=True)
class Area:
    """What is mutated, as patterns below the root, and who must notice, the quickest first."""

    sources: tuple[str, ...]
    suites: tuple[Suite, ...]
    without: tuple[str, ...] = ()


def calls_of(names: tuple[str, ...], quick: tuple[str, ...], slow: tuple[str, ...]) -> Area:
    """Headers of calls that the build's own models do not have: by models that the tests generate. Calls in C++, then
    what their programs print, which takes longer to compile."""
    suites = []
    # Of these targets the parts of the runtime, and of the program, that are linked with those models.
    for tests, target in ((quick, "etch"), (slow, "classify-agnews_small")):
        command = (*PYTEST, "-m", "not sweep", *(f"tests/end_to_end/{test}" for test in tests))
        suites.append(Suite(command, target, compiles=True))
    return Area(tuple(f"runtime/include/etch/calls/{name}.hpp" for name in names), tuple(suites))


EVERY_CALL = "test_every_call_finds_the_same"
REFUSED = "models/test_refused_texts.py::test_every_call_refuses_them"
AREAS = {
    "tokenizer": Area(
        (
            *(
                f"runtime/src/tokenizer/{part}*.{ending}"
                for part in ("", "normalizers/", "segmenters/", "models/", "unicode/")
                for ending in ("cpp", "hpp")
            ),
            "runtime/include/etch/tokenizer/utf8.hpp",
        ),
        (
            Suite(("bin/test-tokenizer", "--gtest_fail_fast"), "test-tokenizer"),
            Suite(
                (
                    *PYTEST,
                    *(f"tests/end_to_end/tokenizer/test_{name}.py" for name in AGAINST_THE_WHEEL),
                    "-k",
                    QUICK_TO_COMPARE,
                ),
                "tokenizer_driver",
                asks="tokenizer_driver",
            ),
        ),
        ("grapheme_tables.cpp", "letter_tables.cpp", "unicode_tables.cpp", "unicode_tables.hpp"),
    ),
    "planner": Area(
        tuple(f"codegen/memory/{name}.py" for name in ("plan", "call_memory", "placement", "liveness")),
        (
            Suite(
                (
                    *PYTEST,
                    FROZEN,
                    "tests/codegen/memory/test_liveness.py",
                    "tests/codegen/memory/test_plan_sizes.py",
                    "tests/codegen/lower/test_plan_parts.py",
                    "tests/codegen/memory/test_plan.py",
                )
            ),
        ),
    ),
    "regions": Area(
        ("codegen/memory/regions.py",),
        (
            Suite(
                (*PYTEST, FROZEN, "tests/codegen/memory/test_regions.py", "tests/codegen/memory/test_plan_regions.py")
            ),
        ),
    ),
    "tables": Area(
        ("codegen/memory/table_places.py", "codegen/render/table_places.py"),
        (Suite((*PYTEST, FROZEN, "tests/codegen/memory/test_table_places.py")),),
    ),
    "traffic": Area(
        ("codegen/memory/traffic.py", "codegen/memory/table_traffic.py"),
        (
            Suite(
                (
                    *PYTEST,
                    FROZEN,
                    *(f"tests/codegen/memory/test_{name}.py" for name in ("traffic", "regions", "table_places")),
                )
            ),
        ),
    ),
    "budget": Area(
        ("codegen/budget/*.py",),
        (
            Suite(
                (
                    *PYTEST,
                    FROZEN,
                    *(
                        f"tests/codegen/budget/test_budget{name}.py"
                        for name in ("_told", "_judge", "_choose", "_linked", "_search", "_space", "")
                    ),
                )
            ),
        ),
    ),
    "merge": Area(
        ("codegen/merge/*.py", "codegen/convert/joblib_file.py", "codegen/convert/setfit.py"),
        (Suite((*PYTEST, FROZEN, "tests/codegen/merge/test_merge.py", "tests/codegen/convert/test_setfit.py")),),
    ),
    "calls": Area(
        (
            *(f"runtime/include/etch/calls/{name}.hpp" for name in ANSWERING),
            *("runtime/src/token_limits.cpp", "runtime/src/overlap.cpp"),
        ),
        (
            Suite(("bin/test-calls", "--gtest_fail_fast"), "test-calls"),
            Suite(("bin/test-tokenizer", "--gtest_fail_fast", "--gtest_filter=TokenizeBatch*"), "test-tokenizer"),
            Suite(("bin/test-model", "--gtest_fail_fast"), "test-model"),
            *(Suite((f"bin/promise-{name}", *of), f"promise-{name}") for name, *of in PROMISES),
        ),
    ),
    "self_test": Area(
        ("runtime/include/etch/calls/self_test.hpp", "runtime/include/etch/calls/c_functions.hpp"),
        (Suite(("bin/test-calls", "--gtest_fail_fast"), "test-calls"),),
    ),
    "choosing": calls_of(
        ("choose", "choose_steps"),
        (f"tasks/test_choose_programs.py::{EVERY_CALL}",),
        ("tasks/test_choose_programs.py",),
    ),
    "zero_shot": calls_of(
        ("zero_shot",), (f"tasks/test_zero_shot_programs.py::{EVERY_CALL}",), ("tasks/test_zero_shot_programs.py",)
    ),
    "sides": calls_of(
        ("sides",), (f"tasks/test_embed_each_programs.py::{EVERY_CALL}",), ("tasks/test_embed_each_programs.py",)
    ),
    "questions": calls_of(
        ("questions",),
        (
            f"tasks/test_answer_programs.py::{EVERY_CALL}",
            f"tasks/test_question_heads.py::{EVERY_CALL}",
            f"{REFUSED}[answer]",
        ),
        ("tasks/test_answer_programs.py",),
    ),
    "score": calls_of(
        ("score",),
        (f"tasks/test_fill_mask_programs.py::{EVERY_CALL}", f"{REFUSED}[fill_mask]"),
        ("tasks/test_fill_mask_programs.py",),
    ),
    "writing": calls_of(
        ("beams", "generation", "writing_batch", "writing_batch_steps", "writing_steps"),
        ("writing/test_writing_calls.py", f"{REFUSED}[translate]"),
        ("writing/test_beam_programs.py", "writing/test_generation_programs.py"),
    ),
    "decode": Area(
        ("runtime/src/decode/*.cpp", "runtime/src/decode/*.hpp", "runtime/include/etch/decode/*.hpp"),
        (Suite(("bin/test-decode", "--gtest_fail_fast"), "test-decode"),),
    ),
    "matmul": Area(
        (
            "runtime/src/kernels/scalar/matmul.cpp",
            "runtime/src/kernels/avx2/matmul_s*.inl",
            "runtime/src/kernels/avx2/row_s8.inl",
            "runtime/src/kernels/avx2/steps_s8.inl",
            "runtime/src/kernels/avx2/tile_s8.inl",
            "runtime/src/kernels/avx2/vector/matmul_f32.inl",
            "runtime/src/kernels/avx2/vector/tiles.inl",
            "runtime/src/kernels/avx512_vnni/matmul_s*.inl",
            "runtime/src/kernels/avx512_vnni/vector/finish_panel.inl",
            "runtime/src/kernels/avx512_vnni/vector/matmul*.inl",
            "runtime/src/kernels/avx512_vnni/vector/tiles.inl",
        ),
        (
            Suite(
                ("bin/test-kernels", "--gtest_fail_fast", "--gtest_filter=*Matmul*:*ProductInTheTile*"), "test-kernels"
            ),
            Suite(("bin/test-ops", "--gtest_fail_fast"), "test-ops"),
        ),
    ),
}
