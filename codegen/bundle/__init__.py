# SPDX-License-Identifier: Apache-2.0
"""`etch bundle`: model, runtime and headers as plain files, or as a package of another build tool."""
