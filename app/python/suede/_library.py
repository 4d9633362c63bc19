# SPDX-License-Identifier: Apache-2.0
"""The library libsuede-mem and its errors."""

import os

import cffi

from . import _declarations

ffi = cffi.FFI()
ffi.cdef(_declarations.DECLARATIONS)
lib = ffi.dlopen(os.environ.get("SUEDE_MEM_LIBRARY", "libsuede-mem.so.1"))

# Names without the prefix: OK for SUEDE_MEM_OK, SOCKET_OK for SUEDE_SOCKET_OK.
CONSTANTS = {name.removeprefix("SUEDE_").removeprefix("MEM_"): value
             for name, value in _declarations.CONSTANTS.items()}
if lib.suede_mem_abi_version() != CONSTANTS["ABI_VERSION"]:
    raise ImportError("libsuede-mem is of another version than this package")


class Error(OSError):
    """A call that failed: `errno` has the code, `strerror` the message."""


class OperationFailed(Exception):
    """An operation that failed: `status` is a number of docs/memory.md."""

    def __init__(self, status):
        super().__init__(f"{status_name(status)}: {status_text(status)}")
        self.status = status


class SocketFailed(Exception):
    """A socket, or a send operation, that failed: `status` is a number of docs/sockets.md."""

    def __init__(self, status):
        super().__init__(f"{socket_status_name(status)}: {socket_status_text(status)}")
        self.status = status


def socket_status_name(status):
    return ffi.string(lib.suede_socket_status_name(status)).decode()


def socket_status_text(status):
    return ffi.string(lib.suede_socket_status_text(status)).decode()


def status_text(status):
    return ffi.string(lib.suede_mem_status_text(status)).decode()


def status_name(status):
    return ffi.string(lib.suede_mem_status_name(status)).decode()


def check(result):
    """Returns the result of a call. Raises Error if it is negative."""
    if result >= 0:
        return result
    text = ffi.string(lib.suede_mem_error_text()).decode()
    raise Error(-result, text)


def fill_in(structure, planes, fields):
    """Returns a structure of parameters with `planes`, a list of (XPU, instance), and fields by name."""
    params = ffi.new(f"{structure} *")
    params.size = ffi.sizeof(structure)
    params.plane_count = len(planes)
    for place, (xpuid, instance) in enumerate(planes):
        params.planes[place].xpuid = xpuid
        params.planes[place].instance = instance
    for name, value in fields.items():
        setattr(params, name, int(value))
    return params


class Handle:
    """An object of the library: closed by close(), at the end of a `with` block, or when unreferenced."""

    _pointer = None
    _close_call = None  # function of the library

    def _opened(self, structure, call, endpoint, params):
        pointer = ffi.new(f"{structure} **")
        check(call(os.fsencode(endpoint), params, pointer))
        self._pointer = pointer[0]

    def _let_go(self):
        """Drops the buffers that the library may access until the handle is closed."""

    def close(self):
        if self._pointer is not None:
            self._close_call(self._pointer)
            self._pointer = None
            self._let_go()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def _handle(self):
        if self._pointer is None:
            raise ValueError(f"the {type(self).__name__} is closed")
        return self._pointer


def counts_of(structure, function, handle):
    """Returns the fields of a structure of counters as a dictionary."""
    counts = ffi.new(f"{structure} *")
    counts.size = ffi.sizeof(structure)
    check(function(handle, counts))
    names = [name for name, _ in ffi.typeof(structure).fields if name not in ("size", "reserved")]
    values = {name: getattr(counts, name) for name in names}
    return {name: list(value) if isinstance(value, ffi.CData) else value
            for name, value in values.items()}
