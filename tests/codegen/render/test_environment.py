# SPDX-License-Identifier: Apache-2.0
"""What values of templates become: in C++ they are as they were given, in pages they are escaped, whichever is made
first in a process."""

from __future__ import annotations

from codegen.render.environment import template_environment


def test_pages_escape_values_and_sources_do_not() -> None:
    for html, meant in ((True, "&lt;&#34;&gt;"), (False, '<">'), (True, "&lt;&#34;&gt;")):
        made = template_environment(html=html).from_string("{{ value }}").render(value='<">')
        assert made == meant


def test_templates_are_compiled_once() -> None:
    first = template_environment().get_template("model.h.j2")
    assert template_environment().get_template("model.h.j2") is first
