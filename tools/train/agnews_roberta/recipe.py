# SPDX-License-Identifier: Apache-2.0
"""AG News rows to tokenizer, model and folder."""

from __future__ import annotations

from pathlib import Path

import torch
from common.batches import by_tokens, longest_first, pad
from common.checkpoint import check_replaceable, replaced
from common.loop import Steps, train
from folder import TOKENS, configuration, pruned_tokenizer, write_folder
from rows import LABELS, read_training_rows, split
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy
from transformers import RobertaForSequenceClassification

STEPS = Steps(count=1_800, batch=32, rate=1e-3, seed=20)
_CHANNELS = (77, 188)  # that may begin larger
_TOKENIZER = Path("tokenizers") / "secroberta"
_EVALUATED_TOKENS = 8_192  # of a batch that is measured


def remake(data: Path, out: Path, state: Path, steps: Steps, outliers: float) -> None:
    """Trains and writes `out`; `state` keeps an interrupted run. Two channels of all norms begin at `outliers`."""
    check_replaceable(out)
    state.mkdir(parents=True, exist_ok=True)
    rows, held_out = split(read_training_rows(data), steps.seed)
    kept = state / "tokenizer.json"
    if not kept.exists():
        kept.write_text(pruned_tokenizer(data / _TOKENIZER / "tokenizer.json", [row.text for row in rows]), "utf-8")
    tokenizer = Tokenizer.from_file(str(kept))
    tokenizer.enable_truncation(TOKENS)
    torch.manual_seed(steps.seed)
    model = RobertaForSequenceClassification(configuration(tokenizer.get_vocab_size(), LABELS))
    _enlarge(model, outliers)
    model.set_attn_implementation("eager")  # PyTorch's fused attention is slow in bfloat16 on a CPU
    print(f"{len(rows)} rows, {tokenizer.get_vocab_size()} pieces, {model.num_parameters():,} parameters", flush=True)
    texts, labels = _tokenized(tokenizer, [row.text for row in rows]), torch.tensor([row.label for row in rows])

    def loss(batch: list[int]) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = _logits(model, [texts[i] for i in batch])
        return cross_entropy(logits.float(), labels[batch])

    depends = {"rows": rows, "vocabulary": kept.read_text("utf-8"), "outliers": outliers}
    train(model, [len(text) for text in texts], loss, steps, state / "state.pt", depends)
    right = _right(model, _tokenized(tokenizer, [row.text for row in held_out]), [row.label for row in held_out])
    print(f"held out: {right} of {len(held_out)} right", flush=True)
    with replaced(out) as folder:
        write_folder(folder, model, kept.read_text("utf-8"), data / _TOKENIZER / "tokenizer_config.json")
    print(f"wrote {out.name}", flush=True)


def _enlarge(model: RobertaForSequenceClassification, gamma: float) -> None:
    """Some channels of the norms, as those of large models are; nothing decays them."""
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.weight[list(_CHANNELS)] = gamma


def _tokenized(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
    return [encoding.ids for encoding in tokenizer.encode_batch(texts)]


def _logits(model: RobertaForSequenceClassification, texts: list[list[int]]) -> torch.Tensor:
    """[texts, labels]. What fills a text is the padding token, which has no position of its own."""
    ids, mask = pad(texts)
    return model(input_ids=ids.masked_fill(mask == 0, model.config.pad_token_id), attention_mask=mask).logits


@torch.inference_mode()
def _right(model: RobertaForSequenceClassification, texts: list[list[int]], labels: list[int]) -> int:
    """How many of the texts get their label."""
    model.eval()
    lengths = [len(text) for text in texts]
    right = 0
    for batch in by_tokens(lengths, longest_first(lengths), _EVALUATED_TOKENS):
        answers = _logits(model, [texts[i] for i in batch]).argmax(dim=1).tolist()
        right += sum(answer == labels[i] for i, answer in zip(batch, answers, strict=True))
    return right
