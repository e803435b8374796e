# SPDX-License-Identifier: Apache-2.0
"""Before the work begins a folder is made where the target is to be, and removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from folder_content import content

from codegen.errors import EtchError
from codegen.files.rendered import Rendered
from codegen.folders.output import prepare_target, write_output


def test_no_folder_can_be_made_there(tmp_path: Path) -> None:
    """Of /proc the permissions do not tell it: root may write there, says access()."""
    for place in (Path("/proc/etch-model"), Path("/proc/new/deep/model")):
        with pytest.raises(EtchError) as caught:
            prepare_target(place, pytest.fail)
        assert (caught.value.code, caught.value.stage) == ("target-not-writable", "render")


def test_what_is_tried_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "model"
    write_output(out, [Rendered("a.hpp", [b"one\n"])], lambda files: json.dumps({"files": files}).encode())
    before = content(tmp_path)
    for place in (out, tmp_path / "other", tmp_path / "new" / "deep" / "model"):
        prepare_target(place, pytest.fail)
    assert content(tmp_path) == before


@pytest.mark.parametrize("place", ["file/deep/model", "dangling/model", "loop/deep/model"])
def test_no_folder_is_on_the_way(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(EtchError) as caught:
        prepare_target(tmp_path / place, pytest.fail)
    found = tmp_path / place.split("/", maxsplit=1)[0]
    assert (caught.value.code, caught.value.message) == ("target-not-a-folder", f"{found} is not a folder")
