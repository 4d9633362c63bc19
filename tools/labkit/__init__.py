# SPDX-License-Identifier: Apache-2.0
"""tools/lab: a fabric of XPUs and switches from one scenario file (docs/lab.md)."""
