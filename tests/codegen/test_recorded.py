# SPDX-License-Identifier: Apache-2.0
"""The recorded checkpoints: whole, plausible, and what the script writes where its libraries are installed."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import HERE, Recorded, folder, read_recorded, variants
from recorded.record import PINNED
from tiny_checkpoint import read_raw_safetensors

from codegen.frontends import FRONT_ENDS

FAMILIES = sorted(path.name for path in HERE.iterdir() if path.is_dir() and not path.name.startswith("_"))
VARIANTS = [variant for family in FAMILIES for variant in variants(family)]
LARGEST = {
    **{"model.safetensors": 48_000, "head.safetensors": 32_000, "recorded.json": 24_000},
    **{"pipeline.json": 19_000, "tokenizer.json": 8_000, "texts.json": 16_000},
}
LARGEST_OF_BYTES = LARGEST | {"tokenizer.json": 14_000, "vocab.json": 10_000}  # each byte is a piece, or two
LARGEST_OTHER = 5_000


def test_every_family_has_some() -> None:
    writers = {path.name for path in (Path(__file__).parent / "generation").iterdir() if path.is_dir()}
    assert set(FRONT_ENDS) <= set(FAMILIES) | writers


# Of what there is no text of masks alone, or none that is no pair.
SHORTEST = {
    **dict.fromkeys(("funnel/decoded", "funnel/softmax", "funnel/whole"), 8),
    **dict.fromkeys(("canine/groups", "canine/mean", "canine/softmax", "choices/canine", "tags/canine"), 8),
    "answers/canine": 3,
    "masks/esm": 3,
    "answers/longformer": 9,
    "choices/longformer": 9,
}
PADDED = {"siglip": 16, "siglip2": 16, "siglip_text_model": 16, "siglip2_text_model": 16}


@pytest.mark.parametrize("variant", VARIANTS)
def test_they_are_small(variant: str) -> None:
    sizes = {path.name: path.stat().st_size for path in folder(variant).rglob("*") if path.is_file()}
    of_bytes = (
        variant.startswith(("clip", "groupvit", "owl", "siglip", "xclip"))
        or variant.endswith("_gemma")
        or "t5gemma" in variant
    )
    largest = LARGEST_OF_BYTES if of_bytes else LARGEST
    assert {name: size for name, size in sizes.items() if size >= largest.get(name, LARGEST_OTHER)} == {}


@pytest.mark.parametrize("variant", VARIANTS)
def test_outputs_differ_by_text_and_little_by_precision(variant: str) -> None:
    texts = read_recorded(variant)
    assert len(texts[0].ids) == SHORTEST.get(variant, PADDED.get(variant.partition("/")[0], 1))
    assert max(len(text.ids) for text in texts) >= 10
    for text in texts:
        assert len(text.ids) == len(text.segments)
        assert 0 < np.abs(text.float32 - text.float64).max() < 1e-5
    assert len({text.float64.tobytes() for text in texts}) == len(texts)
    assert all(read_raw_safetensors(path)[0] for path in weights_of(folder(variant)))


def weights_of(path: Path) -> list[Path]:
    """The files of weights of a recorded folder, at least one."""
    found = sorted(path.rglob("*.safetensors"))
    assert found
    return found


@pytest.mark.sweep
def test_the_script_writes_them_again(tmp_path: Path) -> None:
    for package, version in PINNED.items():
        try:
            found = metadata.version(package)
        except metadata.PackageNotFoundError:
            pytest.skip(f"{package} is not installed")
        if found != version:
            pytest.skip(f"{package} {found} is installed, not {version}")
    subprocess.run([sys.executable, HERE / "record.py", "--out", tmp_path], check=True, capture_output=True)
    for variant in VARIANTS:
        assert {path.relative_to(folder(variant)) for path in folder(variant).rglob("*")} == {
            path.relative_to(tmp_path / variant) for path in (tmp_path / variant).rglob("*")
        }
        for ours, again in zip(*(weights_of(path / variant) for path in (HERE, tmp_path)), strict=True):
            assert ours.read_bytes() == again.read_bytes()
        for old, new in zip(read_recorded(variant), read_recorded(variant, tmp_path), strict=True):
            assert same(old, new)


def same(old: Recorded, new: Recorded) -> bool:
    """The same but for how another CPU rounds."""
    return (
        (old.ids, old.segments) == (new.ids, new.segments)
        and np.abs(old.float32 - new.float32).max() < 1e-5
        and np.abs(old.float64 - new.float64).max() < 1e-12
    )
