# SPDX-License-Identifier: Apache-2.0
"""Masked language models of every family, as `transformers` defines and saves them, and what its pipeline makes of
texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from head_model import read_tokenizer, write_cases, write_head_model
from library_models import MPNET_OFFSET
from numpy.typing import NDArray
from outputs import Tokens, write_recorded
from published_settings import DEBERTA_V1, DEBERTA_V3, ESM_2, EURO_IDS, LUKE_SIZES, MOBILE, MODERN_IDS, ROC_BERT, XMOD
from unrounded import unrounded
from variant_shapes import FNET_KEYS, XLM_KEYS, Variant, bert_like, distilbert, funnel

ENDING = "ForMaskedLM"
TOP = 16  # of the recorded outputs
PIPELINE_TOP = 5
TEXTS = (
    "the [MASK] sat on the mat",
    "[MASK]",
    "[MASK] cats in Berlin: [MASK] of Caf\u00e9 [MASK]",
    "what[MASK]news [MASK][MASK] is up",
    "  cats  dogs\t\n [MASK] ",
)
SCORED = (
    "the cat sat on the mat",
    "",
    "what is [MASK] up, dogs of Caf\u00e9 zzz",
    "the price of oil is up and the cats are unable to play " * 4,
)
VARIANTS: dict[str, Variant] = {
    "masks/bert": bert_like("Bert", 0, (20, 5, 1, 37, 20), vocab_size=800),
    "masks/bert_untied": bert_like("Bert", 0, (20, 5, 1, 23, 20), tie_word_embeddings=False, hidden_act="relu"),
    "masks/distilbert": distilbert(0, (21, 3, 2, 19, 24), activation="relu"),
    "masks/electra": bert_like("Electra", 0, (24, 3, 2, 19, 20), embedding_size=14, hidden_act="relu"),
    "masks/convbert": bert_like("ConvBert", 0, (24, 6, 2, 19, 44), embedding_size=14, hidden_act="relu"),
    "masks/fnet": bert_like("FNet", 0, (16, 2, 19, 44), FNET_KEYS),
    "masks/nystromformer": bert_like("Nystromformer", 0, (16, 2, 1, 19, 40), conv_kernel_size=5),
    "masks/funnel": funnel(0, (16, 2, 7, 19), [1, 1, 1], separate_cls=False, pooling_type="max"),
    "masks/albert": bert_like("Albert", 0, (24, 3, 3, 37, 44), embedding_size=14),
    "masks/mpnet": bert_like("MPNet", 0, (20, 5, 2, 23, 20 + MPNET_OFFSET)),
    "masks/mobilebert": bert_like("MobileBert", 0, (20, 3, 1, 17, 44), **MOBILE),
    "masks/ernie": bert_like("Ernie", 0, (20, 5, 2, 23, 20)),
    "masks/roberta": bert_like("Roberta", 0, (20, 4, 2, 35, 44 + 2), type_vocab_size=1, vocab_size=600),
    "masks/roberta_fairseq": bert_like("Roberta", 0, (16, 2, 1, 19, 44 + 2), type_vocab_size=1),
    "masks/ibert": bert_like("IBert", 0, (16, 4, 1, 15, 44 + 2), type_vocab_size=1),
    "masks/layoutlm": bert_like("LayoutLM", 0, (16, 2, 1, 19, 44), max_2d_position_embeddings=9),
    "masks/camembert": bert_like("Camembert", 0, (18, 3, 1, 23, 44 + 2), type_vocab_size=1),
    "masks/modernbert": bert_like("ModernBert", 0, (20, 5, 3, 23, 44), **MODERN_IDS, local_attention=6),
    "masks/nomic_bert": bert_like("NomicBert", 0, (20, 5, 1, 23, 44)),
    "masks/eurobert": bert_like("EuroBert", 0, (20, 5, 1, 23, 44), **EURO_IDS),
    "masks/ultrabert": bert_like("Ultrabert", 0, (12, 3, 3, 17, 44), **EURO_IDS, prediction_head_size=13),
    "masks/gte": bert_like("Gte", 0, (20, 5, 1, 23, 44)),
    "masks/megatron-bert": bert_like("MegatronBert", 0, (20, 5, 1, 23, 44)),
    "masks/xlm-roberta-xl": bert_like("XLMRobertaXL", 0, (20, 2, 1, 19, 44 + 2)),
    "masks/luke": bert_like("Luke", 0, (20, 2, 1, 19, 44 + 2), **LUKE_SIZES),
    "masks/xmod": bert_like("Xmod", 0, (20, 2, 1, 19, 44 + 2), **XMOD, pre_norm=True, ln_before_adapter=False),
    "masks/rembert": bert_like(
        "RemBert", 0, (20, 4, 1, 19, 44), input_embedding_size=12, output_embedding_size=26, hidden_act="relu"
    ),
    "masks/big_bird": bert_like("BigBird", 0, (20, 2, 1, 19, 44)),
    "masks/roc_bert": bert_like("RoCBert", 0, (20, 2, 1, 19, 44), **ROC_BERT, enable_pronunciation=False),
    "masks/roformer": bert_like("RoFormer", 0, (20, 2, 1, 19, 44), embedding_size=12),
    "masks/xlm-roberta": bert_like("XLMRoberta", 0, (16, 2, 2, 21, 44 + 2), type_vocab_size=1),
    "masks/squeezebert": bert_like("SqueezeBert", 0, (20, 2, 1, 12, 44), embedding_size=20, q_groups=2, k_groups=1),
    "masks/flaubert": bert_like("Flaubert", 0, (20, 2, 1, 44), XLM_KEYS),
    "masks/xlm": bert_like("XLM", 0, (18, 3, 1, 44), XLM_KEYS, tie_word_embeddings=False),
    "masks/esm": bert_like("Esm", 0, (20, 2, 1, 19, 44), **ESM_2),
    "masks/esmc": bert_like("Esmc", 0, (20, 2, 1, 19, 44), attention_bias=True, mlp_bias=True),
    "masks/deberta": bert_like("Deberta", 0, (20, 2, 1, 19, 44), **DEBERTA_V1),
    "masks/deberta_own": bert_like("Deberta", 0, (20, 2, 1, 19, 44), **DEBERTA_V1, legacy=False),
    "masks/deberta-v2": bert_like("DebertaV2", 0, (24, 3, 2, 23, 44), **DEBERTA_V3, embedding_size=14),
    "masks/deberta-v2_own": bert_like("DebertaV2", 0, (20, 2, 1, 19, 44), **DEBERTA_V3, legacy=False),
}


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    head = write_head_model(folder, name, VARIANTS[name], ENDING, seed)
    mask = read_tokenizer(folder).mask_token_id

    def probabilities(output: Any, ids: torch.Tensor) -> torch.Tensor:
        return output.logits[0].softmax(-1)[ids[0] == mask]

    def best(text: Tokens) -> tuple[NDArray[np.floating], NDArray[np.int64]]:
        """In float64, and which they are."""
        found = head.run(text, probabilities, double=True)
        return found, np.argsort(-found, axis=-1, kind="stable")[:, :TOP]

    def rows(found: NDArray[np.floating], order: NDArray[np.int64]) -> NDArray[np.floating]:
        return np.concatenate([order, np.take_along_axis(found, order, axis=-1)], axis=-1)

    random = np.random.default_rng(seed)
    texts = []
    for text in head.texts:
        masks = {int(random.integers(1, len(text.ids))) for _ in range(2)} if len(text.ids) > 1 else {0}
        if len(text.ids) == 1 and getattr(head.double.config, "token_dropout", False):
            continue  # such a model divides by the tokens that are no masks
        texts.append(Tokens([mask if i in masks else token for i, token in enumerate(text.ids)], text.segments))
    write_recorded(
        folder,
        head.source,
        texts,
        lambda text: rows(head.run(text, probabilities), best(text)[1]),
        lambda text: rows(*best(text)),
    )
    write_cases(folder, _by_pipeline(folder, head.single))
    write_cases(folder, _scores(folder, head.double), "scores.json")


def _by_pipeline(folder: Path, model: torch.nn.Module) -> list[dict[str, Any]]:
    """Of each text and mask: ids and scores."""
    tokenizer = read_tokenizer(folder)
    fill = transformers.pipeline("fill-mask", model=model, tokenizer=tokenizer)
    found = []
    for template in TEXTS:
        text = template.replace("[MASK]", tokenizer.mask_token)
        answers = fill(text, top_k=PIPELINE_TOP)
        answers = answers if isinstance(answers[0], list) else [answers]
        masks = [[[a["token"], float(f"{a['score']:.6g}")] for a in answer] for answer in answers]
        found.append({"text": text, "masks": masks})
    return found


def _scores(folder: Path, model: torch.nn.Module) -> list[dict[str, Any]]:
    """The pseudo-log-likelihood of each text: a loop over its tokens, in float64."""
    tokenizer = read_tokenizer(folder)
    found = []
    for template in SCORED:
        text = template.replace("[MASK]", tokenizer.mask_token)
        ids = torch.tensor([tokenizer(text, truncation=True)["input_ids"]])
        ends = tokenizer.num_special_tokens_to_add() // 2
        places = range(ends, ids.shape[1] - ends)
        total = 0.0
        for place in places:
            masked = ids.clone()
            masked[0, place] = tokenizer.mask_token_id
            with unrounded(model), torch.inference_mode():
                logits = model(input_ids=masked).logits[0, place]
            total += logits.double().log_softmax(-1)[ids[0, place]].item()
        found.append({"text": text, "score": float(f"{total:.9g}"), "scored": len(places)})
    return found
