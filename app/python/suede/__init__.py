# SPDX-License-Identifier: Apache-2.0
"""Memory operations between XPUs of a SUE network: put, get and atomics on windows of memory.

docs/python.md describes the package, docs/memory.md the operations."""

from ._initiator import Memory, Operation
from ._library import CONSTANTS as _CONSTANTS
from ._library import Error, OperationFailed, status_name
from ._target import ALL_RIGHTS, DRAWN, Notice, Target, Window

# Statuses, rights, kinds and AUTO, as in suede/mem.h without its prefix.
globals().update(_CONSTANTS)

__all__ = ["ALL_RIGHTS", "DRAWN", "Error", "Memory", "Notice", "Operation", "OperationFailed",
           "Target", "Window", "status_name", *_CONSTANTS]
