# SPDX-License-Identifier: Apache-2.0
"""Parts that front-ends are put together from: of layers, of positions, of heads."""
