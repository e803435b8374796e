# SPDX-License-Identifier: Apache-2.0
"""Where buffers and tables lie: sizes, offsets, regions, and what a call moves."""
