# SPDX-License-Identifier: Apache-2.0
"""Memory operations and message sockets between XPUs of a SUE network: put, get and atomics on windows of memory,
streams and datagrams.

docs/python.md describes the package, docs/memory.md the operations, docs/sockets.md the sockets."""

from ._initiator import Memory, Operation
from ._library import CONSTANTS as _CONSTANTS
from ._library import (Error, OperationFailed, SocketFailed, socket_status_name,
                       socket_status_text, status_name, status_text)
from ._sockets import ANY, EndOfStream, Sending, Socket, Sockets
from ._target import ALL_RIGHTS, DRAWN, Notice, Target, Window

# Exports statuses, rights, kinds and AUTO: the names of suede/mem.h without the prefix.
globals().update(_CONSTANTS)

__all__ = ["ALL_RIGHTS", "ANY", "DRAWN", "EndOfStream", "Error", "Memory", "Notice", "Operation",
           "OperationFailed", "Sending", "Socket", "SocketFailed", "Sockets", "Target", "Window",
           "socket_status_name", "socket_status_text", "status_name", "status_text", *_CONSTANTS]
