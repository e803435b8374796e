# SPDX-License-Identifier: Apache-2.0
"""tools/report beside an etch.json of another model, or one that contradicts itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from linked import PARTS, REGIONS, WITH_REGIONS, Linker, manifest, write_model
from report_program import facts, refused


def test_regions_that_contradict_themselves(link_host: Linker, tmp_path: Path) -> None:
    elf = link_host(WITH_REGIONS)
    folder = tmp_path / "tiny"

    def with_fast(**changes: int) -> dict[str, object]:
        return REGIONS | {"regions": REGIONS["regions"] | {"fast": REGIONS["regions"]["fast"] | changes}}

    outcome = facts(elf, "--model", write_model(folder, **with_fast(room=639)))
    assert outcome.code == 1
    assert outcome.check("region fast of tiny within room") == {
        "name": "region fast of tiny within room",
        "passed": False,
        "found": "640 of 639 bytes",
    }
    assert facts(elf, "--model", write_model(folder, **with_fast(bytes=690))).code == 1  # the gap
    refused("arena-bound", elf, "--model", write_model(folder, **with_fast(lower_bound=639)))
    refused("arena-overlap", elf, "--model", write_model(folder, **with_fast(bytes=639)))
    for region in ("slow", "other"):
        buffers = REGIONS["region_buffers"]
        moved = REGIONS | {"region_buffers": buffers | {"d": buffers["d"] | {"region": region}}}
        refused("arena-overlap", elf, "--model", write_model(folder, **moved))


def test_folders_of_other_models(link_host: Linker, tmp_path: Path) -> None:
    elf = link_host()
    folder = tmp_path / "tiny"
    tables = manifest()["table_list"]
    assert "is of 'other'" in refused("another-model", elf, "--model", write_model(folder, name="other"))
    larger = {name: table | {"bytes": table["bytes"] + 1} for name, table in tables.items()}
    assert "word_embeddings_table" in refused("another-model", elf, "--model", write_model(folder, table_list=larger))
    bytes_ = {"tiny.tables": "0" * 64}
    assert "other bytes" in refused("another-model", elf, "--model", write_model(folder, files=bytes_))
    old = manifest()
    del old["arena_ops"]
    (folder / "etch.json").write_text(json.dumps(old))
    assert "lacks arena_ops" in refused("old-manifest", elf, "--model", folder)
    refused("not-generated", elf, "--model", tmp_path / "nowhere")


def test_a_plan_that_contradicts_itself(link_host: Linker, tmp_path: Path) -> None:
    elf = link_host()
    buffers = manifest()["arena_buffers"]
    moved = buffers | {"b": buffers["b"] | {"offset": 599}}
    message = refused("arena-overlap", elf, "--model", write_model(tmp_path / "tiny", arena_buffers=moved))
    assert "a and b are alive together" in message
    past = buffers | {"b": buffers["b"] | {"offset": 601}}
    refused("arena-overlap", elf, "--model", write_model(tmp_path / "tiny", arena_buffers=past))
    refused("arena-bound", elf, "--model", write_model(tmp_path / "tiny", arena_lower_bound=999))


NOTHING = {name: entry | {"bytes": 0} for name, entry in manifest()["arena_buffers"].items()}
MALFORMED: dict[str, tuple[dict[str, Any], str]] = {
    "an op that there is not": (
        {"arena_buffers": manifest()["arena_buffers"] | {"c": {"offset": 0, "bytes": 3, "first_op": 2, "last_op": 3}}},
        "c is alive from op 2 to 3, the last one is 2",
    ),
    "alive backwards": (
        {"arena_buffers": manifest()["arena_buffers"] | {"c": {"offset": 0, "bytes": 3, "first_op": 2, "last_op": 1}}},
        "c is alive from op 2 to 1",
    ),
    "no ops": ({"arena_ops": []}, "the last one is -1"),
    "no buffers": ({"arena_buffers": {}, "arena_lower_bound": 0}, "the arena of tiny holds nothing"),
    "buffers of nothing": ({"arena_buffers": NOTHING, "arena_lower_bound": 0}, "the arena of tiny holds nothing"),
    "no regions": (REGIONS | {"regions": {}}, "there is one region at least"),
    "regions alone": ({"regions": REGIONS["regions"]}, "'regions' and 'region_buffers' come together"),
    "buffers of regions alone": ({"region_buffers": REGIONS["region_buffers"]}, "come together"),
    "an empty region": (REGIONS | {"region_buffers": {}}, "the region fast of tiny holds nothing"),
    "a buffer in two": (
        REGIONS | {"region_buffers": REGIONS["region_buffers"] | {"a": REGIONS["region_buffers"]["d"]}},
        "a lies in region 'fast' and in the arena",
    ),
    "another arena": (REGIONS | {"arena_bytes": 1001}, "'bytes' of region 'slow', the workspace's, is 1000"),
    "another bound": (REGIONS | {"arena_lower_bound": 999}, "'lower_bound' of region 'slow'"),
    "a table in no place": (
        {"table_places": {"flash": {"bytes": 1, "room": 1, "cost": 1, "copied": False, "tables": [*PARTS][1:]}}},
        "'table_places' has not each table once",
    ),
    "a table twice": (
        {"table_places": {"f": {"bytes": 1, "room": 1, "cost": 1, "copied": True, "tables": [*PARTS, *PARTS]}}},
        "'table_places' has not each table once",
    ),
}


def test_a_manifest_that_contradicts_itself(link_host: Linker, tmp_path: Path) -> None:
    elf = link_host()
    for case, (changes, words) in MALFORMED.items():
        message = refused("manifest-malformed", elf, "--model", write_model(tmp_path / "tiny", **changes))
        assert words in message, case
