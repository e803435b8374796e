# SPDX-License-Identifier: Apache-2.0
"""The same checkpoint in etch and in the runtimes that users would pick instead, side by side. Started by
tools/compare.

`compare` prepares each runtime's files, starts one worker process for each runtime, and lets them compute in turn:
A B C A B C. A worker holds one runtime, on the processors that all share.
"""
