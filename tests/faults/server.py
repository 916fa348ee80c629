# SPDX-License-Identifier: Apache-2.0
"""An API server that does wrong things on purpose: tiny, over plain HTTP/1.1, every byte in our hands."""
import json
import socket
import struct
import threading
import time
import urllib.parse

PODS = "/api/v1/namespaces/t/pods"


def pod(name, version, phase="Pending"):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "t", "uid": "uid-" + name,
            "resourceVersion": str(version)}, "status": {"phase": phase}}


def event(kind, name, version, **more):
    return {"type": kind, "object": dict(pod(name, version), **more)}


def status(code, reason, message="", **details):
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message or reason,
            "reason": reason, "code": code, "details": details}


class Request:
    def __init__(self, head, body):
        lines = head.decode("latin-1").split("\r\n")
        self.method, target, _ = lines[0].split(" ", 2)
        parts = urllib.parse.urlsplit(target)
        self.path, self.query = parts.path, dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        self.headers = dict((k.lower(), v.strip()) for k, v in (line.split(":", 1) for line in lines[1:] if ":" in line))
        self.body = body

    @property
    def is_watch(self):
        return self.query.get("watch") in ("1", "true")


STREAM_HEAD = b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


def to_bytes(data):
    return data if isinstance(data, bytes) else data.encode()


def answer_bytes(code, body, headers=(), kind="application/json"):
    body = to_bytes(body if isinstance(body, (bytes, str)) else json.dumps(body))
    head = [f"HTTP/1.1 {code} X", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers]
    return to_bytes("\r\n".join(head) + "\r\n\r\n") + body


def chunk_bytes(data):
    data = to_bytes(data)
    return b"%x\r\n%s\r\n" % (len(data), data)


def event_bytes(one):
    return to_bytes(one if isinstance(one, (bytes, str)) else json.dumps(one) + "\n")


class Connection:
    """What a handler gets: ways to answer, and to break things."""

    def __init__(self, sock, server):
        self.sock, self.server, self.open = sock, server, True

    def raw(self, data):
        self.sock.sendall(to_bytes(data))

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self):
        self.open = False
        self.sock.close()

    def half_close(self):
        self.sock.shutdown(socket.SHUT_WR)
        self.linger(3)

    def linger(self, seconds):
        """Say nothing until the client goes away."""
        self.sock.settimeout(seconds)
        try:
            while self.sock.recv(4096):
                pass
        except OSError:
            pass
        self.close()

    def answer(self, code, body, headers=(), kind="application/json"):
        self.raw(answer_bytes(code, body, headers, kind))

    def begin_stream(self):
        self.raw(STREAM_HEAD)

    def chunk(self, data):
        self.raw(chunk_bytes(data))

    def events(self, *events, split=0):
        for one in events:
            text = event_bytes(one)
            for at in range(0, len(text), split or len(text)):
                self.chunk(text[at:at + (split or len(text))])

    def end_stream(self):
        self.raw("0\r\n\r\n")


class Server:
    """Listens on loopback. SCRIPT is a list of handlers(connection, request), one for each request that comes, the last
    one for all that follow; ACCEPT one of handlers(connection) for connections, before a byte is read."""

    def __init__(self, script=(), accept=(), pods=("a", "b", "c"), history=()):
        self.script, self.accept = list(script), list(accept)
        self.pods = {name: pod(name, 5) for name in pods}
        self.history = list(history)  # events that a watch from version 10 gets
        self.requests = []
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self.listener.close()

    def count(self, method, watch=None):
        return sum(1 for r in self.requests if r.method == method and (watch is None or r.is_watch == watch))

    def _serve(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(Connection(sock, self),), daemon=True).start()

    def _talk(self, conn):
        try:
            with self.lock:
                first = self.accept.pop(0) if self.accept else None
            if first:
                first(conn)
            while conn.open:
                request = self._read(conn.sock)
                if not request:
                    break
                with self.lock:
                    self.requests.append(request)
                    handler = self.script[0] if self.script else normal
                    if len(self.script) > 1 or (self.script and getattr(self.script[0], "once", False)):
                        self.script.pop(0)
                handler(conn, request)
        except OSError:
            pass
        conn.sock.close()

    @staticmethod
    def _read(sock):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = sock.recv(65536)
            if not piece:
                return None
            data += piece
        head, body = data.split(b"\r\n\r\n", 1)
        request = Request(head, body)
        if "100-continue" in request.headers.get("expect", ""):
            sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        while len(request.body) < int(request.headers.get("content-length", 0)):
            piece = sock.recv(65536)
            if not piece:
                return None
            request.body += piece
        return request


# ---- what a healthy server does ----

def list_of(server, names=None, version=10, more=None):
    items = [server.pods[n] for n in (sorted(server.pods) if names is None else names)]
    meta = {"resourceVersion": str(version)}
    if more:
        meta["continue"] = more
    return {"kind": "PodList", "apiVersion": "v1", "metadata": meta, "items": items}


def normal(conn, request):
    server = conn.server
    name = request.path[len(PODS) + 1:]
    if request.is_watch:
        watch(conn, request)
    elif request.method == "POST":
        body = json.loads(request.body)
        made = pod(body["metadata"]["name"], 11)
        server.pods[made["metadata"]["name"]] = made
        conn.answer(201, made)
    elif request.method == "GET" and not name:
        pages(conn, request)
    elif name in server.pods:
        gone = server.pods.pop(name) if request.method == "DELETE" else server.pods[name]
        conn.answer(200, gone)
    else:
        conn.answer(404, status(404, "NotFound", f'pods "{name}" not found', name=name, kind="pods"))


def chosen(server, request):
    field = request.query.get("fieldSelector", "")
    only = field.removeprefix("metadata.name=") if field else None
    return [n for n in sorted(server.pods) if only in (None, n)]


def pages(conn, request):
    names = chosen(conn.server, request)
    limit, start = int(request.query.get("limit", 0)), int(request.query.get("continue", "0"))
    end = start + limit if limit else len(names)
    conn.answer(200, list_of(conn.server, names[start:end], more=str(end) if end < len(names) else None))


def watch(conn, request):
    if "sendInitialEvents" in request.query:
        conn.answer(422, status(422, "Invalid", "sendInitialEvents is forbidden for watch"))
        return
    version = int(request.query.get("resourceVersion") or 0)
    conn.begin_stream()
    conn.events(*(e for e in conn.server.history if int(e["object"]["metadata"]["resourceVersion"]) > version))
    conn.linger(20)


# ---- wrong things; those with arguments make a handler ----

def reset(conn, _):
    conn.reset()


def half_close(conn, _):
    conn.half_close()


def silence(conn, _):
    conn.linger(20)


def say(code, body, *headers, kind="application/json"):
    return lambda conn, request: conn.answer(code, body, headers, kind)


def text(code, body, *headers):
    return say(code, body, *headers, kind="text/plain")


def raw(data, then="close"):
    def handler(conn, _):
        conn.raw(data)
        getattr(conn, then)()
    return handler


def stream(*events, then="close", split=0):
    """Events, and then: the normal end of a stream, a connection that breaks, or nothing more."""
    def handler(conn, request):
        conn.begin_stream()
        conn.events(*events, split=split)
        if then == "end":
            conn.end_stream()
        elif then == "silence":
            conn.linger(20)
        else:
            getattr(conn, then)()
    return handler


def on_watch(*handlers):
    """The given handlers for watches one after another, then normal ones; normal ones for everything else."""
    left = list(handlers)

    def handler(conn, request):
        if request.is_watch and "sendInitialEvents" not in request.query and left:
            left.pop(0)(conn, request)
        else:
            normal(conn, request)
    return [handler]


def on_list(*handlers):
    """The same for lists."""
    left = list(handlers)

    def handler(conn, request):
        if request.method == "GET" and not request.is_watch and request.path == PODS and left:
            left.pop(0)(conn, request)
        else:
            normal(conn, request)
    return [handler]


def pause(seconds):
    def handler(conn, request):
        time.sleep(seconds)
        normal(conn, request)
    return handler
