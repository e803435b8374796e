# SPDX-License-Identifier: Apache-2.0
"""`etch fetch`: a repository of the Hugging Face Hub as a checkpoint folder."""
