# SPDX-License-Identifier: Apache-2.0
"""What is made of the parsers: completion for shells, pages of a manual, the page of options."""
