# SPDX-License-Identifier: Apache-2.0
"""A connection to a management socket (docs/management.md)."""

import json
import socket


class RpcError(Exception):
    pass


class Connection:
    def __init__(self, path, seconds=10):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(seconds)
        self.id = 0
        try:
            self.socket.connect(str(path))
            self.lines = self.socket.makefile("r", encoding="utf-8")
            self.greeting = self._read()
        except BaseException:
            self.socket.close()
            raise

    def _read(self):
        line = self.lines.readline()
        if not line.endswith("\n"):
            raise RpcError("the management socket was closed")
        return json.loads(line)

    def call(self, method, **params):
        """Returns the result. Raises RpcError with the daemon's message, or OSError."""
        self.id += 1
        request = {"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        while True:
            answer = self._read()
            if answer.get("id") == self.id:
                break
        if "error" in answer:
            raise RpcError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def close(self):
        self.socket.close()


class Connections:
    """A connection to each node of a back end. A broken connection is made anew."""

    def __init__(self, backend):
        self.backend = backend
        self.open = {}

    def call(self, node, method, **params):
        try:
            if node.name not in self.open:
                self.open[node.name] = Connection(self.backend.socket(node))
            return self.open[node.name].call(method, **params)
        except (OSError, ValueError) as error:
            self.forget(node)
            raise RpcError(f"{node.name}: {error}") from None
        except RpcError as error:
            if "closed" in str(error):
                self.forget(node)
            raise RpcError(f"{node.name}: {error}") from None

    def forget(self, node):
        connection = self.open.pop(node.name, None)
        if connection:
            connection.close()

    def close(self):
        for connection in self.open.values():
            connection.close()
        self.open.clear()
