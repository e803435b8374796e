# SPDX-License-Identifier: Apache-2.0
"""The report as text."""

from __future__ import annotations

from collections.abc import Iterator

from .arena import Timeline
from .flash import CATEGORIES, Entry
from .ram import KINDS
from .report import Report

_PATH_STEPS = 6


def text_of(report: Report, symbols: int) -> str:
    """`symbols`: how many of the largest are listed."""
    parts = [_head(report), _flash(report, symbols), _ram(report)]
    parts += [_regions(report)] if report.regions else []
    parts += [_arenas(report), _stack(report), _checks(report)]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _row(indent: int, name: str, size: int, note: str = "") -> str:
    return f"{' ' * indent}{name:<{44 - indent}} {size:>12,}{f'  {note}' if note else ''}".rstrip()


def _head(report: Report) -> Iterator[str]:
    image = report.image
    yield f"{image.name}: {image.machine}, {image.bits} bits, {'hosted' if image.hosted else 'no operating system'}"
    for model in report.models:
        known = model.manifest
        if known is None:
            yield f"model {model.name}: its generated folder is not known (--model DIR)"
        else:
            yield (
                f"model {model.name}: {known['recipe']}, target {known['target']}, up to {known['max_tokens']} tokens"
            )
    if not report.has_map:
        yield "no linker map beside it (-Wl,-Map=FILE.map): code is grouped by names alone"


def _flash(report: Report, symbols: int) -> Iterator[str]:
    flash = report.flash
    what = "program" if report.image.hosted else "flash"
    yield f"{f'{what} (bytes of the file that are loaded)':<44} {flash.bytes:>12,}"
    for category in CATEGORIES:
        size = flash.category(category)
        if size:
            yield _row(2, category, size, f"{size / flash.bytes:.1%}")
            for group, group_size in flash.groups(category):
                yield _row(4, group, group_size)
    beyond = flash.segment_bytes - flash.bytes
    yield _row(2, "with headers and space between sections", flash.segment_bytes, f"{beyond:,} more")
    if symbols:
        yield f"{'largest symbols':<44}"
        for entry in largest(report, symbols):
            yield _row(2, entry.name[:41], entry.bytes, f"{entry.category}, {entry.group}")


def largest(report: Report, count: int) -> list[Entry]:
    return sorted(report.flash.entries, key=lambda e: (-e.bytes, e.name))[:count]


def _ram(report: Report) -> Iterator[str]:
    ram = report.ram
    yield f"{'RAM (static)':<44} {ram.bytes:>12,}"
    for kind in KINDS:
        uses = sorted((use for use in ram.uses if use.kind == kind), key=lambda use: (-use.bytes, use.name))
        if uses:
            first = f"{uses[0].name} {uses[0].bytes:,}" + (f", and {len(uses) - 1} more" if len(uses) > 1 else "")
            yield _row(2, kind, ram.kind(kind), first)
    if report.timelines and not ram.kind("arena"):
        yield "  no static workspace: the arena is where the program puts it"
    if not ram.kind("stack"):
        yield "  no section for a stack: the system gives it" if report.image.hosted else "  no section for a stack"


def _regions(report: Report) -> Iterator[str]:
    yield "memory of the board"
    for taken in report.regions:
        yield _row(2, taken.region, taken.bytes, f"of {taken.of:,}, {taken.bytes / taken.of:.1%}")


def _arenas(report: Report) -> Iterator[str]:
    if not report.timelines:
        yield "arena: not known without the generated folder (--model DIR)"
    for timeline in report.timelines:
        yield described(timeline)
        yield from _timeline(timeline)


def described(timeline: Timeline) -> str:
    """In a line: what it takes, needs and might take."""
    taken = f"{timeline.bytes:,} bytes, lower bound {timeline.lower_bound:,}, gap {timeline.gap:.2%}"
    return "; ".join((f"{timeline.name}: {taken}", *(f"{one.name} {one.bytes:,}" for one in timeline.limits)))


def _timeline(timeline: Timeline) -> Iterator[str]:
    yield f"  {'op':<20} {'alive':>11}"
    for op, name in enumerate(timeline.ops):
        live = timeline.live(op)
        bar = "#" * round(24 * live / timeline.bytes)
        buffers = sorted((b for b in timeline.buffers if b.alive(op)), key=lambda b: (-b.size, b.name))
        mark = "  <- bound" if live == timeline.lower_bound else ""
        shown = ", ".join(f"{b.name} {b.size:,}" for b in buffers)
        yield f"  {name:<20} {live:>11,}  {bar:<24}  {shown}{mark}"


def _stack(report: Report) -> Iterator[str]:
    if not report.stacks:
        yield "stack: not known: the build left no *.stack.txt (GCC only), or give it with --stack FILE"
    for stack in report.stacks:
        worst = stack.worst
        scope = "the whole program, interrupts included" if stack.whole else "the deepest public function"
        yield f"stack of {stack.of}: at most {worst.bytes:,} bytes of {stack.budget:,} ({scope})"
        steps = worst.path.split(" > ")
        more = len(steps) - 2 * _PATH_STEPS
        shown = steps if more <= 1 else [*steps[:_PATH_STEPS], f"… {more} more …", *steps[-_PATH_STEPS:]]
        yield f"  {' > '.join(shown)}"
    if report.painted is not None:
        yield f"stack painted on the board: {report.painted:,} bytes"


def _checks(report: Report) -> Iterator[str]:
    yield "checks"
    for check in report.checks:
        mark = {True: "ok  ", False: "FAIL", None: "note"}[check.passed]
        required = " (not required of a program on an operating system)" if check.passed is None else ""
        yield f"  {mark}  {check.name}: {check.found}{required}"
