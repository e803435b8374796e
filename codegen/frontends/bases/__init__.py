# SPDX-License-Identifier: Apache-2.0
"""What several families are built on as a whole, from a folder's class to its head; a family says what differs."""
