# SPDX-License-Identifier: Apache-2.0
"""The kubelet's logs for pods that kwok plays: what a test says that a container printed, over HTTPS, as the API server asks."""
import http.server
import ssl
import threading
import time
import urllib.parse

PORT = 10250


class Log:
    """What one run of a container printed: (time, line) each, and whether it has ended."""

    def __init__(self, lines, ended=True, error=""):
        self.lines, self.ended, self.condition, self.error = [], ended, threading.Condition(), error
        for line in lines:
            self.add(line)

    def add(self, line):
        with self.condition:
            self.lines.append((time.time(), line))
            self.condition.notify_all()

    def end(self):
        with self.condition:
            self.ended = True
            self.condition.notify_all()


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1e9) % 10**9:09d}Z"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def do_GET(self):
        try:
            self.answer()
        except OSError:  # nobody waits for it any more
            self.close_connection = True

    def answer(self):
        parts = urllib.parse.urlsplit(self.path)
        words, query = parts.path.strip("/").split("/"), dict(urllib.parse.parse_qsl(parts.query))
        log = None
        if words[0] == "containerLogs" and len(words) == 4:
            log = self.server.kubelet.find(words[2], query.get("previous") == "true")
        self.server.kubelet.asked.append((words[-2], query))
        if log is None:
            text = b"no such log"
            self.send_response(500 if words[2].startswith(self.server.kubelet.failing) else 404)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.tell(log, query)
        if log.error:  # as a kubelet that fails after its answer has begun
            self.chunk(log.error.encode())
        self.wfile.write(b"0\r\n\r\n")

    def tell(self, log, query):
        since = time.time() - float(query["sinceSeconds"]) if "sinceSeconds" in query else 0
        with log.condition:
            at = max(0, len(log.lines) - int(query["tailLines"])) if "tailLines" in query else 0
        limit = int(query.get("limitBytes", 1 << 40))
        while True:
            with log.condition:
                while at == len(log.lines) and not log.ended and query.get("follow") == "true":
                    log.condition.wait()
                new, at = log.lines[at:], len(log.lines)
                last = log.ended or query.get("follow") != "true"
            for when, line in new:
                data = ((stamp(when) + " " if query.get("timestamps") == "true" else "") + line).encode(errors="surrogateescape")
                if when >= since and limit > 0:
                    self.chunk(data[:limit])
                    limit -= len(data)
            if last:
                return


class Kubelet:
    """Serve logs on the address of all of kwok's nodes."""

    def __init__(self, cp):
        self.logs, self.asked = {}, []
        self.failing = ()  # pods whose names begin so have logs that cannot be had now
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cp.path("server.crt"), cp.path("server.key"))
        self.server = http.server.ThreadingHTTPServer((cp.address, PORT), Handler)
        self.server.daemon_threads = True
        self.server.kubelet = self
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def find(self, pod, previous=False):
        """The log of the pod, or of what begins its name."""
        for name, log in self.logs.items():
            if pod.startswith(name.removesuffix("@previous")) and name.endswith("@previous") == previous:
                return log
        return None

    def says(self, pod, *lines, ended=True, previous=False, error=""):
        """Set what pods print whose names begin so; each line ends as it says. The kubelet's error comes behind it."""
        log = self.logs[pod + ("@previous" if previous else "")] = Log(lines, ended, error)
        return log

    def stop(self):
        for log in self.logs.values():
            log.end()
        self.server.shutdown()
        self.server.server_close()
