# SPDX-License-Identifier: Apache-2.0
"""`etch wheel`: a generated model as a Python package that needs no compiler where it is installed."""
