# SPDX-License-Identifier: Apache-2.0
"""`etch web`: a generated model as a page that computes in the browser, and as an ES module."""
