# SPDX-License-Identifier: Apache-2.0
"""Stands between an operator and the API server, sees each request, and does to it what a test wants."""
import dataclasses
import re
import socket
import ssl
import threading
from urllib.parse import urlsplit


@dataclasses.dataclass
class Request:
    method: str
    path: str
    agent: str

    @property
    def watch(self):
        return "watch=" in self.path or "watch=" in urlsplit(self.path).query

    @property
    def write(self):
        return self.method in ("POST", "PUT", "PATCH", "DELETE")

    @property
    def lease(self):
        return "/leases" in self.path

    def __str__(self):
        return f"{self.method} {urlsplit(self.path).path}"


class Broken(Exception):
    """The connection is to end here."""


class Proxy:
    """`before(request)` is asked before a request goes on: it returns None, (status, document text) as the answer, or
    "drop". `after(request, status)` is asked when the answer has come: None or "drop", and the client never sees it.
    Both may raise no exception."""

    def __init__(self, cp):
        self.cp = cp
        self.before = lambda request: None
        self.after = lambda request, status: None
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(cp.path("server.crt"), cp.path("server.key"))
        self.upstream = ssl.create_default_context(cafile=cp.ca_file)
        self.listener = socket.create_server((cp.address, 0), backlog=64)
        self.url = f"https://{cp.address}:{self.listener.getsockname()[1]}"
        self.lock, self.streams = threading.Lock(), set()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()
        self.cut()

    def cut(self):
        """Break all watches off; how many there were."""
        with self.lock:
            streams, self.streams = self.streams, set()
        for one in streams:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        return len(streams)

    def _accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, plain):
        client = server = None
        try:
            client = self.context.wrap_socket(plain, server_side=True)
            server = self.upstream.wrap_socket(socket.create_connection((self.cp.address, self.cp.port)),
                                               server_hostname=self.cp.address)
            source, answers = client.makefile("rb"), server.makefile("rb")
            while self._exchange(client, source, server, answers):
                pass
        except (OSError, ssl.SSLError, Broken, ValueError):
            pass
        finally:
            with self.lock:
                self.streams.discard(client)
            for one in (client or plain, server):
                if one:
                    one.close()

    def _exchange(self, client, source, server, answers):
        head = read_head(source)
        if not head:
            return False
        method, path, _ = head.split(b"\r\n", 1)[0].decode().split(" ", 2)
        request = Request(method, path, (header(head, "user-agent") or ""))
        body = read_body(source, head)
        told = self.before(request)
        if told == "drop":
            return False
        if told:
            status, text = told
            data = text.encode()
            client.sendall(b"HTTP/1.1 %d Told\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status, len(data)) + data)
            return True
        server.sendall(head + body)
        reply = read_head(answers)
        if not reply:
            raise Broken
        status = int(reply.split(b" ", 2)[1])
        if request.watch and status == 200:
            with self.lock:
                self.streams.add(client)
            client.sendall(reply)
            # Behind the last chunk the connection is good for another request.
            for chunk in chunks(answers):
                client.sendall(chunk)
            with self.lock:
                self.streams.discard(client)
            return True
        rest = read_body(answers, reply)
        if self.after(request, status) == "drop":
            return False
        client.sendall(reply + rest)
        return True


def read_head(source):
    lines = []
    while True:
        line = source.readline(65536)
        if not line:
            return None
        lines.append(line)
        if line == b"\r\n":
            return b"".join(lines)


def header(head, name):
    found = re.search(rb"(?i)\r\n" + name.encode() + rb":[ \t]*([^\r\n]*)", head)
    return found and found[1].decode()


def chunks(source):
    """The chunks of a body, each as it came; an end of SOURCE before the last one is a ValueError."""
    size = None
    while size != 0:
        line = source.readline()
        size = int(line.split(b";")[0], 16)
        yield line + source.read(size + 2)


def read_body(source, head):
    if "chunked" in (header(head, "transfer-encoding") or ""):
        return b"".join(chunks(source))
    length = int(header(head, "content-length") or 0)
    return source.read(length) if length else b""
