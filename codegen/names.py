# SPDX-License-Identifier: Apache-2.0
"""Model names: they become a namespace, file names and linker symbols, so they are checked, never escaped."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

from .errors import EtchError, printable

MANIFEST = "etch.json"  # of a generated folder
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
# Words of C and C++ that match _NAME.
_KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
    compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype
    default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int
    long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch
    template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
    wchar_t while xor xor_eq linux unix
"""
# Macros of the C library, and the namespace that generated code needs to see.
_LIBRARY = "errno std stderr stdin stdout"
# NAME.h must not be found in the place of a header of the C library (C, POSIX, glibc), which may include each other.
_HEADERS = """
    aio alloca argp argz assert complex cpio crypt ctype dirent dlfcn elf endian envz err error execinfo fcntl features
    fenv float fmtmsg fnmatch fstab fts ftw getopt glob grp iconv ifaddrs inttypes iso646 langinfo libgen libintl
    limits link locale malloc math mcheck memory mntent monetary mqueue ndbm netdb nl_types obstack paths poll printf
    pthread pty pwd regex regexp resolv sched search semaphore setjmp sgtty shadow signal spawn stab stdalign stdarg
    stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings stropts syscall syslog sysexits syslimits
    tar termio termios tgmath threads time trace uchar ucontext ulimit unistd utime utmp utmpx values wait wchar wctype
    wordexp
"""
# Names of etch's own: in its namespace, which holds the model's, and its libraries etch_NAME.
_OWN = """
    add_answers aligned_bytes amx_int8 argmax attention_cost attention_f32_scratch_bytes
    attention_s8_scratch_bytes attention_tiles avx2 avx512_vnni avx_vnni begin_beams best_kernels block_rows
    c_functions calls check_sampling check_tokens chosen_kernels cli copy_candidates cosine_similarity cost_of
    counted cuda cuda_flags decode decoding_behind describe detail disentangled_f32_scratch_bytes
    disentangled_s8_scratch_bytes dsp encoded_row_bytes entries_at_once etch expanded_bytes expanded_outputs
    f32 f32_key_elements f32_key_offset f32_value_elements f32_value_offset find_kernels find_tags
    finish_answers finish_decoding first_unit_of flags gather_ends global_scratch_bytes gru_scratch_bytes
    holds_one hosted ids_of
    is_golden is_space_character is_word_character kernel_name kernels keys_of_layer layout_of lower_case
    mark_ids mark_words masks_of max_encoded_row_bytes_per_value max_sim model_scratch_bytes most_pieces most_rows
    most_texts mve neon neon_dotprod neon_i8mm next_window note_mask note_masks open_stream ops outputs_of
    pack_s8_scratch_bytes packed_f32_elements packed_f32_index packed_s4_bytes packed_s4_factor_index packed_s4_factors
    packed_s4_high packed_s4_index packed_s8_bytes packed_s8_index philox piece plain plan_windows random_bits
    read_stream relative_product_bytes relative_scratch_bytes restrict_logits round_up rows_up_to runtime rvv s32
    s4_value s8 s8_key_bytes s8_key_offset s8_value_bytes s8_value_offset same_bits scalar self_test self_test_of_texts
    shared_tokens sharing_workers skips specials_of_pair sse2 tables_intact tokenize tokenize_batch
    tokenize_input tokenize_pair tokenizer tokenizer_scratch_bytes tokens_before trim_first usable_kernel_name
    values_of_layer vocabulary_blocks wasm_simd whole_text window_of_ids window_tokens write_window
    dot_product find_weights same_crc sort_by_id word_weights_scratch_bytes
    choose_experts_scratch_bytes fourier_scratch_bytes expert_outputs routes_at routes_bytes
    chat_text delta_scratch_bytes first_pooled on_keys_of pooled_count pooled_f32_scratch_bytes pooled_products_bytes
    pooled_s8_scratch_bytes state_space_scratch_bytes pooled_texts token_of grouped_count grouped_texts most_groups
    sink_f32_scratch_bytes sink_s8_scratch_bytes sink_scratch_bytes
"""
_TAKEN = {
    name: what
    for names, what in (
        (_OWN, "a name of etch itself"),
        (_HEADERS, "a header of the C library"),
        (_LIBRARY, "a name of the C library"),
        (_KEYWORDS, "a C++ keyword"),
    )
    for name in names.split()
}


def checked_name(name: str, what: str = "model", option: str = "--name") -> str:
    """`name` if it can be a model's name, or that of what is named alike; EtchError otherwise."""
    wrong = _wrong(name)
    if wrong is not None:
        message = f"{what} name '{name}' {wrong} (choose another one with {option})"
        raise EtchError("name-not-allowed", "arguments", message)
    return name


def _wrong(name: str) -> str | None:
    """What keeps it from being a name."""
    if not _NAME.fullmatch(name) or name.endswith("_") or "__" in name:
        return "is not of lower-case letters, digits and single underscores, at most 40, beginning with a letter"
    if name in _TAKEN:
        return f"is {_TAKEN[name]}"
    if name.endswith("_cuda"):
        return "ends with _cuda, as the library for GPUs does"
    return "begins with abi, as names of etch do" if name.startswith("abi") else None


def name_from_folder(out: Path, echo: Callable[[str], None]) -> str:
    """The model name that an output folder suggests. Letters are those that Unicode decomposes others into; `echo` is
    told the name where the folder's is not of ASCII, for some have none."""
    folder = os.path.basename(os.path.realpath(out))  # resolve() raises where links lead to each other
    letters = unicodedata.normalize("NFKD", folder.casefold())
    without_marks = "".join(c for c in letters if not unicodedata.combining(c))
    name = re.sub(r"[^a-z0-9]+", "_", without_marks).strip("_")
    if not name:
        message = f"the name of the folder '{folder}' has no letter of a to z: choose the model's name with --name"
        raise EtchError("name-not-allowed", "arguments", message)
    checked_name(name)
    if not folder.isascii():
        echo(f"name         {name}, of the folder '{printable(folder)}' (--name NAME: another one)")
    return name
