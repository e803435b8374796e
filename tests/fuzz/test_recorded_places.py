# SPDX-License-Identifier: Apache-2.0
"""One value of a recorded checkpoint's files is another one, or gone: whatever it was, the loaders take the folder or
refuse it by name."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from fuzz_loader import Loader
from recorded_places import GONE, VALUES, Place, places
from sampling import sampled

pytestmark = [pytest.mark.sweep, pytest.mark.minutes(3)]

SAMPLE = 500
LEAST_CODES = {True: 30, False: 40}  # more than so many are met by a sample, eight of which met 37 to 43, and by all


def outcomes(loader: Loader, copy: Path, place: Place) -> list[str]:
    """Of two values, drawn for each place, and of none."""
    drawn = random.Random(str(place)).sample(VALUES, 2)
    shutil.copytree(place.folder, copy)
    file = copy / place.file
    text = file.read_text(encoding="utf-8")
    found = []
    for edited in (place.edited(text, value) for value in (*drawn, GONE)):
        file.write_text(edited, encoding="utf-8")
        try:
            found.append(loader.outcome(copy))
        except BaseException as error:
            raise AssertionError(f"{place} in {edited[:2000]}") from error
    shutil.rmtree(copy)
    return found


def test_each_is_taken_or_refused_by_name(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    chosen = sampled(list(places()), SAMPLE, "places of recorded checkpoints")
    loader = Loader()
    codes = [code for place in chosen for code in outcomes(loader, tmp_path / "model", place)]
    loader.close()
    assert codes.count("ok") > len(codes) // 8
    assert len(set(codes)) > LEAST_CODES[len(chosen) == SAMPLE]
    assert "panicked" not in capfd.readouterr().err  # the library, before it is refused
