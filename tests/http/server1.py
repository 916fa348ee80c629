# SPDX-License-Identifier: Apache-2.0
"""An HTTP/1.1 server for the tests, with TLS or without, that misbehaves when its path asks for it.

It is written on sockets, because a library's server would not send a truncated answer.
"""
import gzip
import json
import socket
import ssl
import threading
import time
from urllib.parse import parse_qs, urlsplit


class Server:
    def __init__(self, certificate=None, client_ca=None, require_client=False, address="127.0.0.1", maximum=None):
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*certificate)
            self.context.set_alpn_protocols(["http/1.1"])
            self.context.sni_callback = self._sni
            if maximum:
                self.context.minimum_version = ssl.TLSVersion.TLSv1
                self.context.maximum_version = maximum
                self.context.set_ciphers("ALL:@SECLEVEL=0")
            if client_ca:
                self.context.load_verify_locations(client_ca)
                self.context.verify_mode = ssl.CERT_REQUIRED if require_client else ssl.CERT_OPTIONAL
        self.listener = socket.create_server((address, 0), family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                                             backlog=512)
        self.port = self.listener.getsockname()[1]
        self.connections = 0  # ever
        self.resumed = 0
        self.open = 0
        self.most_open = 0
        self.requests = []  # (connection, method, target, user of the client certificate)
        self.lock = threading.Lock()
        self.release = threading.Event()
        self.names = {}
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.release.set()
        self.listener.close()

    def _sni(self, sock, name, _context):
        self.names[id(sock)] = name

    def _accept(self):
        while True:
            try:
                raw, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(raw,), daemon=True).start()

    def _shake_hands(self, raw):
        sock = self.context.wrap_socket(raw, server_side=True, do_handshake_on_connect=False)
        try:
            sock.do_handshake()
        except ssl.SSLError:
            # The alert must arrive, whatever the client sends meanwhile.
            socket.socket.shutdown(sock, socket.SHUT_WR)
            time.sleep(0.3)
            sock.close()
            raise
        return sock

    def _serve(self, raw):
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.lock:
            self.connections += 1
            number = self.connections
            self.open += 1
            self.most_open = max(self.most_open, self.open)
        try:
            sock = self._shake_hands(raw) if self.context else raw
            with sock:
                Connection(self, sock, number).run()
        except (OSError, ssl.SSLError, ValueError):
            pass
        finally:
            raw.close()
            with self.lock:
                self.open -= 1


class Connection:
    def __init__(self, server, sock, number):
        self.server, self.sock, self.number = server, sock, number
        self.file = sock.makefile("rb")
        self.user, self.sni = None, None
        if isinstance(sock, ssl.SSLSocket):
            self.sni = server.names.get(id(sock))
            subject = (sock.getpeercert() or {}).get("subject", ())
            self.user = dict(pair for part in subject for pair in part).get("commonName")
            if sock.session_reused:
                server.resumed += 1

    def run(self):
        while self.one():
            pass

    def one(self):
        line = self.file.readline().decode("latin-1")
        if not line:
            return False
        # The random bytes of a TLS handshake may well be three words.
        if len(line.split()) != 3 or not line.split()[2].startswith("HTTP/"):
            self.send(400, b"this is HTTP")
            return False
        method, target, _ = line.split()
        headers = []
        while (header := self.file.readline().decode("latin-1").rstrip("\r\n")):
            headers.append(header.split(": ", 1))
        lower = {k.lower(): v for k, v in headers}
        body = self.file.read(int(lower.get("content-length", 0)))
        with self.server.lock:
            self.server.requests.append((self.number, method, target, self.user))
        parts = urlsplit(target)
        query = {k: v[0] for k, v in parse_qs(parts.query, keep_blank_values=True).items()}
        action = getattr(self, "do_" + parts.path.strip("/").split("/")[-1].replace("-", "_"), self.do_echo)
        return action(method=method, target=target, headers=headers, lower=lower, body=body, query=query)

    def send(self, status, body=b"", headers=(), length=None):
        head = [f"HTTP/1.1 {status} Some", f"Content-Length: {len(body) if length is None else length}", *headers, "", ""]
        self.sock.sendall("\r\n".join(head).encode() + body)
        return True

    def do_echo(self, method, target, headers, body, **_):
        answer = {"method": method, "target": target, "headers": headers, "body": body.decode("latin-1")[:1000],
                  "length": len(body), "user": self.user, "sni": self.sni, "connection": self.number}
        return self.send(200, json.dumps(answer).encode(), ["Content-Type: application/json"])

    def do_status(self, query, **_):
        headers = [f"{k}: {v}" for k, v in query.items() if k != "code"]
        return self.send(int(query["code"]), b'{"kind":"Status","message":"as asked"}', headers)

    def do_early(self, **_):
        self.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nRetry-After: 99\r\n\r\n")
        return self.send(201, b"{}", ["Retry-After: 7"])

    def do_slow(self, query, **_):
        time.sleep(float(query["s"]))
        return self.send(200, b"{}")

    def do_gzip(self, lower, **_):
        if "gzip" not in lower.get("accept-encoding", ""):
            return self.send(200, b"plain")
        return self.send(200, gzip.compress(b"packed " * 1000), ["Content-Encoding: gzip"])

    def do_stream(self, query, **_):
        """`n` pieces of `size` bytes, each a line, `ms` apart; then wait when `hold`."""
        self.sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n")
        size = int(query.get("size", 20))
        for i in range(int(query.get("n", 1))):
            piece = (b"%d " % i).ljust(size - 1, b".") + b"\n"
            self.sock.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
            time.sleep(float(query.get("ms", 0)) / 1000)
        if "hold" in query:
            self.server.release.wait(60)
        if "cut" in query:
            return False
        self.sock.sendall(b"0\r\n\r\n")
        return True

    def do_truncated(self, **_):
        self.send(200, b"half", length=8)
        return False

    def do_nothing(self, **_):
        return False

    def do_reset(self, **_):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        return False

    def do_last(self, **_):
        """Answer, and close the connection at the next request, which has been read."""
        self.send(200, b"{}")
        self.one_silent()
        return False

    def one_silent(self):
        line = self.file.readline()
        with self.server.lock:
            self.server.requests.append((self.number, "SILENT", line.decode("latin-1").strip(), self.user))

    def do_hang(self, **_):
        self.server.release.wait(60)
        return False

    def do_garbage(self, **_):
        self.sock.sendall(b"this is not HTTP at all\r\n\r\n")
        return False
