# SPDX-License-Identifier: Apache-2.0
"""What a linked program says: flash by table and symbol, RAM by kind, regions over the ops, stack, checks. Started by
tools/report.

    ELF ── elf_file ──> Image ─┬─ attribution ──> Pieces ── groups ──> flash ─┐
    map ── linker_map ─────────┘               regions ───────────────────────├─ report ──> text, JSON, SVG
    etch.json ── model_folder ──> tables, buffers ── arena ───────────────────┤
    *.stack.txt ── stack ── ram, checks ──────────────────────────────────────┘
"""
