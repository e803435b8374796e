# SPDX-License-Identifier: Apache-2.0
"""`--prune-vocabulary`: a tokenizer and embeddings of the pieces that texts use."""
