# SPDX-License-Identifier: Apache-2.0
"""The texts' halves of models of texts and images or sound: they embed."""
