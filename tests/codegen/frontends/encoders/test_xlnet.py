# SPDX-License-Identifier: Apache-2.0
"""The XLNet front-end: what it refuses, and what distances share. test_recorded_models.py has what its models compute,
load/test_kept_classes.py its tokenizer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, configure, graph_of, rename

from codegen.ir import graph as g

CLASSIFIER, CLAMPED, ENCODER = "xlnet/softmax", "xlnet/clamped", "xlnet/mean"


def _tells_segments(path: Path) -> None:
    file = path / "tokenizer_config.json"
    names = {"model_input_names": ["input_ids", "token_type_ids", "attention_mask"]}
    file.write_text(json.dumps(json.loads(file.read_text()) | names))


REFUSED: dict[str, tuple[str, Change, str, str]] = {
    **{
        name: (CLASSIFIER, configure(architectures=[name]), "architecture-not-supported", name)
        for name in ("XLNetLMHeadModel", "XLNetForQuestionAnswering", "XLNetForQuestionAnsweringSimple")
    },
    "bare encoder": (CLASSIFIER, configure(architectures=["XLNetModel"]), "modules-missing", "XLNetModel"),
    "segments": (CLASSIFIER, _tells_segments, "config-not-supported", "token_type_ids"),
    "segments of an embedding": (ENCODER, _tells_segments, "config-not-supported", "token_type_ids"),
    "what is behind": (CLASSIFIER, configure(attn_type="uni"), "config-not-supported", "attn_type 'uni'"),
    "two directions": (CLASSIFIER, configure(bi_data=True), "config-not-supported", "bi_data"),
    "heads": (CLASSIFIER, configure(n_head=3), "heads-do-not-divide", "n_head 3"),
    "head width": (CLASSIFIER, configure(d_head=5), "config-value", "d_head"),
    "odd width": (CLASSIFIER, configure(d_model=15), "config-value", "d_model 15"),
    "two widths": (CLASSIFIER, configure(hidden_size=24), "config-value", "hidden_size"),
    "clamp": (CLASSIFIER, configure(clamp_len=2.5), "config-type", "clamp_len"),
    "activation": (CLASSIFIER, configure(ff_activation="mish"), "activation-not-supported", "ff_activation 'mish'"),
    "layers": (CLASSIFIER, configure(n_layer=1), "unused-tensor", "layer.1"),
    "summary": (CLASSIFIER, configure(summary_type="attn"), "pooling-not-supported", "'attn'"),
    "summary as it is": (CLASSIFIER, configure(summary_use_proj=False), "summary-not-supported", "summary_use_proj"),
    "summary to labels": (CLASSIFIER, configure(summary_proj_to_labels=True), "summary-not-supported", "summaries"),
    "summary's activation": (
        CLASSIFIER,
        configure(summary_activation="mish"),
        "activation-not-supported",
        "summary_activation 'mish'",
    ),
    "no segments": (CLASSIFIER, rename("transformer.layer.0.rel_attn.r_s_bias", "other"), "missing-tensor", "r_s_bias"),
    "no mask": (CLASSIFIER, rename("transformer.mask_emb", "other"), "missing-tensor", "mask_emb"),
    "no distances": (CLASSIFIER, rename("transformer.layer.1.rel_attn.r", "other"), "missing-tensor", "rel_attn.r"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


@pytest.mark.parametrize(("variant", "rows"), [(CLASSIFIER, 2 * 24 - 1), (CLAMPED, 2 * 4 + 1)])
def test_far_distances_are_one(variant: str, rows: int) -> None:
    """Where the configuration says from which on."""
    attention = next(op for op, _ in g.ops_of(graph_of(folder(variant))) if isinstance(op, g.Attention))
    assert attention.relative_keys is not None and attention.relative_keys.shape[0] == rows
    assert len(attention.relative_rows) == 2 * 24 - 1 and set(attention.relative_rows) == set(range(rows))
