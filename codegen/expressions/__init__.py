# SPDX-License-Identifier: Apache-2.0
"""Regular expressions that part a text, as tables for the runtime: `syntax`, `characters`, `automaton`, `levels`."""
