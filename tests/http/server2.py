# SPDX-License-Identifier: Apache-2.0
"""An HTTP/2 server for the tests, on the package h2, one thread; its paths ask for what it does.

Run as a program in an environment that has h2: server2.py CERTIFICATE KEY STREAMS; it prints its port, then answers lines on
its standard input with what it has counted, as JSON.
"""
import json
import selectors
import socket
import ssl
import sys
import time
from urllib.parse import parse_qs, urlsplit

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings


class Stream:
    """What is still to be sent on a stream: `left` pieces of `size` bytes, `gap` seconds apart."""

    def __init__(self, left=0, size=0, gap=0.0, hold=False, fault=None):
        self.left, self.size, self.gap, self.hold, self.fault = left, size, gap, hold, fault
        self.number, self.rest, self.due = 0, b"", time.monotonic()


class Connection:
    def __init__(self, server, sock, number):
        self.server, self.sock, self.number = server, sock, number
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.h2.local_settings = h2.settings.Settings(client=False, initial_values={
            h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: server.streams})
        self.h2.initiate_connection()
        self.streams, self.targets = {}, {}
        self.most = 0
        self.out = b""
        self.dead = self.leaving = False

    def receive(self):
        try:
            while True:
                data = self.sock.recv(65536)
                if not data:
                    self.dead = True
                    return
                # After GOAWAY what comes is read and dropped: a socket closed on unread bytes is reset.
                for event in [] if self.leaving else self.h2.receive_data(data):
                    self.event(event)
                if not self.sock.pending():
                    return
        except ssl.SSLWantReadError:
            pass
        except (OSError, h2.exceptions.ProtocolError):
            self.dead = True

    def event(self, event):
        if isinstance(event, h2.events.RequestReceived):
            self.targets[event.stream_id] = dict(event.headers)
            self.most = max(self.most, len(self.targets))
            self.server.most = max(self.server.most, sum(len(c.targets) for c in self.server.connections))
        elif isinstance(event, h2.events.DataReceived):
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            self.request(event.stream_id, self.targets[event.stream_id])
        elif isinstance(event, h2.events.StreamReset):
            self.streams.pop(event.stream_id, None)
            self.targets.pop(event.stream_id, None)
        elif isinstance(event, h2.events.ConnectionTerminated):
            self.dead = True

    def request(self, stream, headers):
        target = headers[":path"]
        parts = urlsplit(target)
        query = {k: v[0] for k, v in parse_qs(parts.query, keep_blank_values=True).items()}
        self.server.requests.append([self.number, headers[":method"], target])
        if parts.path == "/silent":
            return
        if parts.path == "/refuse" and not self.server.refused:
            self.server.refused = True
            self.h2.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
            return
        if parts.path == "/drop":
            self.dead = True
            return
        self.h2.send_headers(stream, [(":status", query.get("code", "200")), ("content-type", "application/json")])
        if parts.path == "/stream":
            self.streams[stream] = Stream(int(query.get("n", 1)), int(query.get("size", 20)), float(query.get("ms", 0)) / 1000,
                                          "hold" in query, query.get("fault"))
        else:
            text = {"connection": self.number, "authority": headers[":authority"], "headers": headers}
            answer = Stream()
            answer.rest = json.dumps(text).encode()
            self.streams[stream] = answer
            answer.due += float(query.get("s", 0))

    def advance(self, now):
        """Send what flow control and time allow. Gives when there is more to do."""
        next_due = None
        for stream_id, stream in list(self.streams.items()):
            if self.feed(stream_id, stream, now) and (next_due is None or stream.due < next_due):
                next_due = stream.due
        return next_due

    def feed(self, stream_id, stream, now):
        while stream.due <= now and len(self.out) < 1 << 20:
            if not stream.rest and stream.left:
                stream.rest = (b"%d " % stream.number).ljust(stream.size - 1, b".") + b"\n"
                stream.number += 1
                stream.left -= 1
                stream.due = now + stream.gap
            if stream.rest:
                room = min(self.h2.local_flow_control_window(stream_id), self.h2.max_outbound_frame_size, len(stream.rest))
                if room <= 0:
                    return False
                self.h2.send_data(stream_id, stream.rest[:room])
                stream.rest = stream.rest[room:]
                self.out += self.h2.data_to_send()
            elif not stream.left:
                if stream.hold:
                    return False
                self.finish(stream_id, stream)
                return False
        return True

    def finish(self, stream_id, stream):
        del self.streams[stream_id]
        self.targets.pop(stream_id, None)
        if stream.fault == "reset":
            self.h2.reset_stream(stream_id, h2.errors.ErrorCodes.INTERNAL_ERROR)
        elif stream.fault == "drop":
            self.dead = True
        elif stream.fault == "goaway":
            self.h2.end_stream(stream_id)
            self.h2.close_connection(last_stream_id=stream_id)
            self.leaving = True
        else:
            self.h2.end_stream(stream_id)

    def send(self):
        self.out += self.h2.data_to_send()
        try:
            while self.out:
                self.out = self.out[self.sock.send(self.out):]
        except (ssl.SSLWantWriteError, BlockingIOError):
            pass
        except OSError:
            self.dead = True


class Server:
    def __init__(self, certificate, key, streams):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.context.set_alpn_protocols(["h2"])
        self.streams = streams
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.connections, self.requests = [], []
        self.ever = self.most = 0
        self.refused = False
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ, self.accept)
        self.selector.register(sys.stdin, selectors.EVENT_READ, self.asked)

    def accept(self):
        raw, _ = self.listener.accept()
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        raw.settimeout(10)
        try:
            sock = self.context.wrap_socket(raw, server_side=True)
        except OSError:
            return
        sock.setblocking(False)
        self.ever += 1
        connection = Connection(self, sock, self.ever)
        self.connections.append(connection)
        self.selector.register(sock, selectors.EVENT_READ, connection.receive)

    def asked(self):
        if not sys.stdin.readline():
            sys.exit(0)
        print(json.dumps({"ever": self.ever, "open": len(self.connections), "most": self.most, "requests": self.requests,
                          "most_on_one": max([c.most for c in self.connections], default=0)}), flush=True)
        self.requests = []

    def run(self):
        print(self.listener.getsockname()[1], flush=True)
        while True:
            now = time.monotonic()
            due = None
            for connection in list(self.connections):
                wanted = connection.advance(now)
                connection.send()
                if connection.dead:
                    self.selector.unregister(connection.sock)
                    connection.sock.close()
                    self.connections.remove(connection)
                    continue
                self.selector.modify(connection.sock, selectors.EVENT_READ |
                                     (selectors.EVENT_WRITE if connection.out else 0), connection.receive)
                if wanted is not None and len(connection.out) < 1 << 20 and (due is None or wanted < due):
                    due = wanted
            wait = None if due is None else max(0.0, due - time.monotonic())
            for key, _ in self.selector.select(wait):
                key.data()


Server(sys.argv[1], sys.argv[2], int(sys.argv[3])).run()
