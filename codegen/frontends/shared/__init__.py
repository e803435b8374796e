# SPDX-License-Identifier: Apache-2.0
"""What front-ends are written with: parts of layers, heads, whole shapes that several families have."""
