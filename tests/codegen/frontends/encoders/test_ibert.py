# SPDX-License-Identifier: Apache-2.0
"""I-BERT: its integers are left out, and asking for them is refused. test_recorded_models.py has what it computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of

from codegen.oracle.interpret import Interpreter

LABELS, MASKS = "ibert/labels", "masks/ibert"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "integers": (LABELS, configure(quant_mode=True), "config-not-supported", "set it to false"),
    "another activation": (LABELS, configure(hidden_act="relu"), "activation-not-supported", "'relu'"),
    "another class": (MASKS, configure(architectures=["RobertaForMaskedLM"]), "architecture-not-supported", "IBert"),
    "a tensor more": (LABELS, add("ibert.encoder.more", (2,)), "unused-tensor", "ibert.encoder.more"),
    "padding that texts have": (LABELS, configure(pad_token_id=2), "config-value", "pad_token_id 2"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def test_what_is_said_of_integers_does_not_matter(tmp_path: Path) -> None:
    ids = [0, 7, 30, 2]
    change = configure(quant_mode=None, force_dequant="gelu", hidden_act=None)
    one, other = (Interpreter(graph_of(path)) for path in (folder(LABELS), changed(LABELS, change, tmp_path)))
    assert np.array_equal(one.output(ids, [0] * 4), other.output(ids, [0] * 4))
