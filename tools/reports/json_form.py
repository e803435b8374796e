# SPDX-License-Identifier: Apache-2.0
"""The report as JSON, every symbol included."""

from __future__ import annotations

import json
from typing import Any

from .elf_file import Section
from .flash import CATEGORIES
from .ram import KINDS
from .report import Report


def json_of(report: Report) -> str:
    image = report.image
    content: dict[str, Any] = {
        "file": {"name": image.name, "machine": image.machine, "bits": image.bits, "hosted": image.hosted},
        "sections": [_section(section) for section in image.sections],
        "models": [_model(model.name, model.manifest) for model in report.models],
        "flash": {
            "bytes": report.flash.bytes,
            "segment_bytes": report.flash.segment_bytes,
            "categories": {
                category: {"bytes": report.flash.category(category), "groups": dict(report.flash.groups(category))}
                for category in CATEGORIES
            },
            "symbols": [
                {"name": e.name, "category": e.category, "group": e.group, "bytes": e.bytes}
                for e in report.flash.entries
            ],
        },
        "ram": {
            "bytes": report.ram.bytes,
            "kinds": {kind: report.ram.kind(kind) for kind in KINDS},
            "symbols": [{"name": use.name, "kind": use.kind, "bytes": use.bytes} for use in report.ram.uses],
        },
        "regions": [{"name": taken.region, "bytes": taken.bytes, "of": taken.of} for taken in report.regions],
        "arenas": [
            {
                "model": timeline.model,
                "region": timeline.region,
                "limits": [{"name": limit.name, "bytes": limit.bytes} for limit in timeline.limits],
                "bytes": timeline.bytes,
                "lower_bound": timeline.lower_bound,
                "gap": timeline.gap,
                "ops": [{"name": name, "alive": timeline.live(op)} for op, name in enumerate(timeline.ops)],
                "buffers": [
                    {"name": b.name, "offset": b.offset, "bytes": b.size, "first_op": b.first, "last_op": b.last}
                    for b in timeline.buffers
                ],
            }
            for timeline in report.timelines
        ],
        "stacks": [
            {
                "of": stack.of,
                "budget": stack.budget,
                "whole_program": stack.whole,
                "functions": [{"bytes": bound.bytes, "path": bound.path} for bound in stack.bounds],
            }
            for stack in report.stacks
        ],
        "painted_stack": report.painted,
        "checks": [{"name": c.name, "passed": c.passed, "found": c.found} for c in report.checks],
    }
    return json.dumps(content, indent=1) + "\n"


def _section(section: Section) -> dict[str, Any]:
    return {
        "name": section.name,
        "address": section.address,
        "bytes": section.size,
        "in_file": section.data is not None,
        "writable": section.writable,
    }


def _model(name: str, manifest: dict[str, Any] | None) -> dict[str, Any]:
    known = ("recipe", "target", "max_tokens", "checkpoint_sha256", "table_bytes", "arena_bytes", "stack_budget")
    return {"name": name} | ({key: manifest[key] for key in known} if manifest else {})
