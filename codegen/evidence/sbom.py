# SPDX-License-Identifier: Apache-2.0
"""A bill of materials of a generated model: CycloneDX 1.5 (https://cyclonedx.org/docs/1.5/json/)."""

from __future__ import annotations

import re
import uuid
from typing import Any

from .origin import Origin

_SPACE = uuid.UUID("8f3c64e0-8a43-5c9b-9f0e-5d8d2f6f2a11")  # of serial numbers: one of our own, for names below
# Names of model cards that SPDX spells otherwise; a licence that it does not list has a name, not an identifier.
_IDENTIFIERS = {
    one.lower(): one
    for one in (
        *("Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Unlicense", "WTFPL", "AFL-3.0", "Artistic-2.0"),
        *("CC0-1.0", "CC-BY-3.0", "CC-BY-4.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0"),
        *("GPL-3.0-only", "LGPL-3.0-only", "AGPL-3.0-only", "MPL-2.0", "EPL-2.0", "ODbL-1.0", "Unicode-3.0"),
    )
}
_SPDX = re.compile(r"^license: *([A-Za-z0-9.+-]+) *$", re.MULTILINE)


def sbom(origin: Origin) -> dict[str, Any]:
    """The document. It has no time in it: the same model gives the same bytes."""
    manifest, licence = origin.manifest, origin.licence
    name, checkpoint = manifest["name"], manifest["checkpoint_sha256"]
    version = f"{manifest['generator']}+{checkpoint[:8]}"
    seed = "\n".join([name, version, *(f"{key} {value}" for key, value in sorted(origin.inputs.items()))])
    model = _part("machine-learning-model", "model", name, version, _licences(licence))
    model["modelCard"] = {"modelParameters": {"task": manifest["task"]}}
    parts = [
        # Its tables of characters are facts of the Unicode Character Database (LICENSE).
        _part("library", "runtime", "etch", manifest["generator"], _named("Apache-2.0", "Unicode-3.0")),
        _part("data", "checkpoint", f"{name} checkpoint", checkpoint[:8], _licences(licence))
        | {"hashes": [_sha256(checkpoint)]},
    ]
    parts += [_file(path, digest) for path, digest in sorted(manifest["files"].items())]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_SPACE, seed)}",
        "version": 1,
        "metadata": {
            "tools": {
                "components": [
                    {"type": "application", "name": tool, "version": number} for tool, number in origin.versions.items()
                ]
            },
            "component": model,
        },
        "components": parts,
        "dependencies": [
            {"ref": "model", "dependsOn": [part["bom-ref"] for part in parts]},
            *({"ref": part["bom-ref"]} for part in parts),
        ],
    }


def _part(kind: str, reference: str, name: str, version: str, licences: list[Any]) -> dict[str, Any]:
    part: dict[str, Any] = {"type": kind, "bom-ref": reference, "name": name, "version": version}
    return part | ({"licenses": licences} if licences else {})


def _file(path: str, digest: str) -> dict[str, Any]:
    return {"type": "file", "bom-ref": f"file:{path}", "name": path, "hashes": [_sha256(digest)]}


def _sha256(digest: str) -> dict[str, str]:
    return {"alg": "SHA-256", "content": digest}


def _named(*names: str) -> list[Any]:
    found = ((name, _IDENTIFIERS.get(name.lower())) for name in names)
    return [{"license": {"id": spdx} if spdx else {"name": name}} for name, spdx in found]


def _licences(text: str | None) -> list[Any]:
    """What the checkpoint's folder says; nothing where it says nothing."""
    if text is None:
        return []
    found = _SPDX.search(text)
    return _named(found[1] if found else "as in the terms beside the model")
