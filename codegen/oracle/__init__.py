# SPDX-License-Identifier: Apache-2.0
"""What a model means, in float64: any graph (interpret), and BERT once more without a graph (bert)."""
