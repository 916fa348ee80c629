# SPDX-License-Identifier: Apache-2.0
"""A proxy for the tests: CONNECT, and plain requests for http:// servers; itself with TLS or without."""
import socket
import ssl
import threading
from urllib.parse import urlsplit


class Proxy:
    def __init__(self, status=200, password=None, certificate=None):
        """`status` is what CONNECT is answered with; `password` as in "Basic ..."."""
        self.status, self.password = status, password
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*certificate)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.asked = []  # first lines
        self.heads = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        try:
            if self.context:
                sock = self.context.wrap_socket(sock, server_side=True)
            head = b""
            while b"\r\n\r\n" not in head:
                piece = sock.recv(4096)
                if not piece:
                    return
                head += piece
            self.asked.append(head.split(b"\r\n")[0].decode())
            self.heads.append(head.decode("latin-1"))
            if self.password and f"proxy-authorization: {self.password}".lower() not in head.decode("latin-1").lower():
                sock.sendall(b"HTTP/1.1 407 Who\r\nContent-Length: 0\r\nProxy-Authenticate: Basic realm=x\r\n\r\n")
                return
            method, target, _ = head.split(b"\r\n")[0].decode().split()
            if method == "CONNECT":
                if self.status != 200:
                    sock.sendall(b"HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n" % self.status)
                    return
                host, port = target.rsplit(":", 1)
                other = socket.create_connection((host.strip("[]"), int(port)))
                sock.sendall(b"HTTP/1.1 200 Go\r\n\r\n")
            else:
                url = urlsplit(target)
                other = socket.create_connection((url.hostname, url.port or 80))
                other.sendall(head)
            threading.Thread(target=self._pump, args=(other, sock), daemon=True).start()
            self._pump(sock, other)
        except (OSError, ssl.SSLError):
            pass
        finally:
            sock.close()

    @staticmethod
    def _pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except (OSError, ssl.SSLError):
            pass
