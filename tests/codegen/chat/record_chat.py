# SPDX-License-Identifier: Apache-2.0
"""Writes recorded.json: what `transformers` makes of the conversations of chat_templates.py, as text by each template,
null where that refuses one, and as ids by the tokenizer of a recorded model. Run it where `transformers` is.

    python tests/codegen/chat/record_chat.py
"""

from __future__ import annotations

import json
from pathlib import Path

import jinja2
from chat_templates import CONVERSATIONS, TEMPLATES, VARIABLES, written
from transformers import AutoTokenizer
from transformers.utils.chat_template_utils import render_jinja_template

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "generation" / "llama" / "texts"


def text_of(template: str, conversation: list[dict[str, str]]) -> str | None:
    """None where the template refuses it."""
    try:
        texts, _ = render_jinja_template(
            [conversation], chat_template=template, add_generation_prompt=True, **VARIABLES
        )
    except jinja2.exceptions.TemplateError:
        return None
    return texts[0]


def main() -> None:
    tokenizer = AutoTokenizer.from_pretrained(FOLDER)
    conversations = [written(*each) for each in CONVERSATIONS]
    ids = {}
    for name in ("headers", "chatml"):
        tokenizer.chat_template = TEMPLATES[name]
        ids[name] = [tokenizer.apply_chat_template(c, add_generation_prompt=True)["input_ids"] for c in conversations]
    texts = {name: [text_of(template, c) for c in conversations] for name, template in TEMPLATES.items()}
    recorded = json.dumps({"texts": texts, "ids": ids}, indent=1)
    (HERE / "recorded.json").write_text(recorded + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
