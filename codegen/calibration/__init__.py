# SPDX-License-Identifier: Apache-2.0
"""`--calibrate` and `--smooth`: weights chosen by what a user's texts make of the inputs."""
