# SPDX-License-Identifier: Apache-2.0
"""What tools/test --coverage measures, and by which tests: the whole, or one area."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Area:
    """What is measured, as the beginnings of paths, and what reaches it, as paths below tests/."""

    sources: tuple[str, ...]
    programs: tuple[str, ...]  # targets that end_to_end runs
    codegen: tuple[str, ...]
    # What reaches the runtime through those programs, and the generator's command line.
    end_to_end: tuple[str, ...]
    # What generates models and builds programs of them (end_to_end/model_build.py), which count as the build does:
    # every task's calls, every op. Without coverage.py, under which the generator is slow.
    models: tuple[str, ...] = ()
    cpp_tests: tuple[str, ...] = ()  # targets; none: all
    kernels: bool = False  # also on boards, and which sets could not be measured


TOKENIZER = Area(
    sources=("runtime/src/tokenizer/", "codegen/tokenizer/"),
    cpp_tests=("test-tokenizer",),
    programs=("tokenizer_driver",),
    codegen=(
        "tokenizer",
        "load/test_load_tokenizer.py",
        "load/test_load_byte_level.py",
        "load/test_load_segmenters.py",
        "load/test_load_unigram.py",
    ),
    end_to_end=(
        "tokenizer/test_tokenizer.py",
        "tokenizer/test_byte_level.py",
        "tokenizer/test_unigram.py",
        "tokenizer/test_word_level.py",
        "tokenizer/test_word_piece_steps.py",
        "tokenizer/test_character_splits.py",
        "tokenizer/test_character_bpe.py",
        "tokenizer/test_canine_tokenizer.py",
        "tokenizer/test_character_tokenizers.py",
        "tokenizer/test_fairseq_tokenizer.py",
        "tokenizer/test_herbert_tokenizer.py",
        "tokenizer/test_m2m_tokenizer.py",
        "tokenizer/test_marian_tokenizer.py",
        "tokenizer/test_moses_tokenizer.py",
        "tokenizer/test_normalized_moses_tokenizer.py",
        "tokenizer/test_joined_words.py",
        "tokenizer/test_bert_generation_tokenizer.py",
        "tokenizer/test_normal_forms.py",
        "tokenizer/test_normalizer_sequences.py",
        "tokenizer/test_decode.py",
        "tokenizer/test_trimmed_offsets.py",
    ),
)
WHOLE = Area(
    sources=("runtime/", "codegen/"),
    programs=(
        *TOKENIZER.programs,
        "classify",
        "classify-agnews_small",
        "promise-kernel-choice",
        "promise-kernel-choice-no-avx2",
        "promise-sharing-threads",
        "promise-steps",
        "promise-batches",
        "promise-overlaps",
        "promise-failing-executor",
    ),
    codegen=("",),
    end_to_end=(
        *TOKENIZER.end_to_end,
        "generator/test_refusals_cli.py",
        "generator/test_failures_cli.py",
        "generator/test_signals_cli.py",
        "promises/test_promise_programs.py::test_kernel_choice",
        "promises/test_promise_programs.py::test_one_text_shared_by_threads[promise-sharing-threads]",
        "promises/test_promise_programs.py::test_a_call_in_steps[promise-steps]",
        "promises/test_promise_programs.py::test_batches",
        "promises/test_promise_programs.py::test_texts_where_a_call_writes",
        "promises/test_promise_programs.py::test_an_executor_that_fails",
        "promises/test_promise_self_test.py",
    ),
    models=(
        "models/test_graph_programs.py",
        "writing/test_generation_programs.py",
        "writing/test_beam_programs.py",
        "writing/test_writing_calls.py",
        "tasks/test_tag_programs.py",
        "tasks/test_fill_mask_programs.py",
        "tasks/test_sparse_programs.py",
        "tasks/test_answer_programs.py",
        "tasks/test_is_next_programs.py",
        "tasks/test_choose_programs.py",
        "tasks/test_zero_shot_programs.py",
        "tasks/test_embed_each_programs.py",
        "tasks/test_several_heads.py",
        "tasks/test_question_heads.py",
        "models/test_refused_texts.py",
        "writing/test_translate_program.py",
        "writing/test_generate_program.py",
        "models/test_region_calls.py",
        "models/test_table_calls.py",
        "models/test_wide_model.py",
    ),
    kernels=True,
)

AREAS = {"tokenizer": TOKENIZER}
