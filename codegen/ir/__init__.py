# SPDX-License-Identifier: Apache-2.0
"""The two forms that a model takes: Graph in float (graph.py), Program over buffers and tables (program.py).

Both are made of ops whose fields say what they are (op.py); what a stage does with a type of op it registers
(stage.py); both are verified after each stage that makes one (check_graph.py, check_program.py).
"""
