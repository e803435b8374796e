# SPDX-License-Identifier: Apache-2.0
"""`etch evidence`: what was checked of a generated model, as one page and an SBOM."""
