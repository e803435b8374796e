# SPDX-License-Identifier: Apache-2.0
"""Chat templates in the forms that published models have them in, shortened, and conversations."""

from __future__ import annotations

CHATML = """{% for message in messages %}
{% if loop.first and message['role'] != 'system' %}
{{ '<|im_start|>system\\nBe helpful.<|im_end|>\\n' }}
{%- endif %}
{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

HEADERS = """{% for message in messages %}
{%- set content = '[' + message['role'] + ']\\n\\n' + message['content'] | trim + '<|eot_id|>' %}
{%- if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}
{{- content }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[assistant]\\n\\n' }}{% endif %}"""

INSTRUCTIONS = """{{ bos_token }}{% for message in messages %}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles take turns') }}{% endif %}
{%- if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}
{%- else %}{{ message['content'] + eos_token }}{% endif %}
{%- endfor %}"""

TURNS = """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- set first = messages[0]['content'] + '\\n\\n' -%}
    {%- set others = messages[1:] -%}
{%- else -%}
    {%- set first, others = '', messages -%}
{%- endif -%}
{%- for message in others -%}
    {%- set role = 'model' if message['role'] == 'assistant' else message['role'] -%}
    {{ '<start_of_turn>' + role + '\\n' + (first if loop.first else '') }}
    {{- message['content'] | trim + '<end_of_turn>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<start_of_turn>model\\n' }}{%- endif -%}"""

LINES = """{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>\\n' + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}"""

THINKING = """{%- if messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- set ns = namespace(last=messages|length - 1, looks=true) %}
{%- for message in messages[::-1] %}
    {%- if ns.looks and message.role == 'user' and not message.content.startswith('<tool_response>') %}
        {%- set ns.looks, ns.last = false, messages|length - 1 - loop.index0 %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == 'assistant' %}
        {%- set content = message.content %}
        {%- if '</think>' in message.content %}
            {%- set content = message.content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {{- '<|im_start|>' + message.role + '\\n' }}
        {%- generation %}
        {{- content + '<|im_end|>\\n' }}
        {%- endgeneration %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}
{%- endif %}"""

LAST_TURN = """{%- if messages[0]['role'] == 'system' %}
    {%- set said, others = messages[0]['content'] + '\\n\\n', messages[1:] %}
{%- else %}
    {%- set said, others = '', messages %}
{%- endif %}
{{- bos_token }}
{%- for message in others %}
    {%- if message['role'] == 'user' %}
        {{- '[INST] ' + (said if loop.last else '') + message['content'] + '[/INST]' }}
    {%- else %}
        {{- ' ' + message['content'] + eos_token }}
    {%- endif %}
{%- endfor %}"""

NUMBERED = "{% for message in messages %}{{ loop.index ~ message['content'] ~ messages|length }}{% endfor %}"
JSON = "{{ messages | tojson }}"

TEMPLATES = {
    "chatml": CHATML,
    "headers": HEADERS,
    "instructions": INSTRUCTIONS,
    "turns": TURNS,
    "lines": LINES,
    "thinking": THINKING,
    "last_turn": LAST_TURN,
    "numbered": NUMBERED,
    "json": JSON,
}
VARIABLES = {"bos_token": "<|begin_of_text|>", "eos_token": "<|end_of_text|>"}

# A system's message or none, then the user's and the model's in turn.
CONVERSATIONS: tuple[tuple[str | None, tuple[str, ...]], ...] = (
    (None, ("What is new?",)),
    (None, ("  \n a\u00a0\u2003", "\n\nb \u3000", "\x1cc\x85 d\t")),
    ("Be brief.", ("a", "<think>\nso\n</think>\n\nb", "c", "d</think> e </think>\nf", "g")),
    (" \nBe\n brief. ", ("{{ a }} {% b %}", "<b>&amp;\"'\\", "\u00e9t\u00e9 \u2603 \U0001f600")),
    (None, ("a<|eot_id|>[user]", "b", "c", "d", "e", "f", "g")),
)


def written(system: str | None, messages: tuple[str, ...]) -> list[dict[str, str]]:
    """As the library takes them."""
    said = [{"role": ("user", "assistant")[i % 2], "content": message} for i, message in enumerate(messages)]
    return said if system is None else [{"role": "system", "content": system}, *said]
