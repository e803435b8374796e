# SPDX-License-Identifier: Apache-2.0
"""What stands between a user and the pipeline: values of options, reports."""
