# SPDX-License-Identifier: Apache-2.0
"""tools/gpu-check: everything that only a GPU can show, in one command. Standard library only."""
