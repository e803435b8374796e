# SPDX-License-Identifier: Apache-2.0
"""`etch sqlite`: a generated model as functions of SQL, in a loadable extension of SQLite."""
