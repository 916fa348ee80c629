# SPDX-License-Identifier: Apache-2.0
"""The transport over the package `kubernetes`, to servers that stall, break off and lie."""
import http.server
import json
import os
import pathlib
import socket
import ssl
import sys
import threading
import time

import kubernetes
import pytest
from driver import Driver

from mpijob import _abi, transport
from mpijob.kubernetes_transport import KubernetesTransport

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "faults"))
from server import PODS, Server, half_close, normal, raw, reset, silence, stream  # noqa: E402

SOON = 2.0  # for what should take no time, on a busy machine


def client_for(url, **more):
    configuration = kubernetes.client.Configuration()
    configuration.host = url
    for name, value in more.items():
        setattr(configuration, name, value)
    return kubernetes.client.ApiClient(configuration)


@pytest.fixture
def serve():
    """Make a server, and a driver of the transport to it."""
    made = []

    def make(*script, configuration=None, accept=(), **more):
        server = Server(script, accept)
        driver = Driver(KubernetesTransport(client_for(server.url, **configuration or {}), **more))
        made.extend((driver.free, server.close))
        return server, driver
    yield make
    for end in made:
        end()
    assert not transport._live


@pytest.fixture
def no_descriptor_is_lost():
    before = len(os.listdir("/proc/self/fd"))
    yield
    end = time.monotonic() + 5
    while len(os.listdir("/proc/self/fd")) > before and time.monotonic() < end:
        time.sleep(0.05)
    assert len(os.listdir("/proc/self/fd")) <= before


# ---- what is sent, and what comes back ----

def test_requests_and_answers(no_descriptor_is_lost, serve):
    server, driver = serve(normal, configuration={"api_key": {"authorization": "Bearer t"}})
    assert json.loads(driver.ask("GET", PODS + "/a").data)["metadata"]["name"] == "a"
    call = driver.ask("POST", PODS, b'{"metadata":{"name":"x y"}}')
    assert (call.code, call.status, json.loads(call.data)["metadata"]["name"]) == (0, 201, "x y")
    assert driver.ask("GET", PODS + "?fieldSelector=metadata.name%3Db").data.count(b'"uid-') == 1
    assert driver.ask("DELETE", PODS + "/a").status == 200
    assert driver.ask("GET", PODS + "/a").code == _abi.MPIJOB_ERR_NOT_FOUND
    heads = [request.headers for request in server.requests]
    assert {head["authorization"] for head in heads} == {"Bearer t"}
    assert heads[1]["content-type"] == "application/json"
    assert "content-type" not in heads[0]


def test_headers_arrive_as_they_are(serve):
    head = "HTTP/1.1 429 X\r\nRetry-After: 7\r\nWarning: 299 - \"zwei W\u00f6rter\"\r\nwarning: 299 - \"b\"\r\nContent-Length: 0\r\n\r\n"
    _, driver = serve(raw(head.encode()))
    call = driver.ask("GET", PODS)
    assert (call.code, call.status, call.retry_after) == (_abi.MPIJOB_ERR_SERVER, 429, 7.0)
    assert driver.warnings == ["zwei W\u00f6rter", "b"]


def test_no_redirection_is_followed(serve):
    other, _ = serve(normal)
    server, driver = serve(raw(f"HTTP/1.1 307 X\r\nLocation: {other.url}{PODS}\r\nContent-Length: 0\r\n\r\n"))
    assert driver.ask("GET", PODS).status == 307
    assert (len(server.requests), len(other.requests)) == (1, 0)


def test_tokens_are_asked_for_each_time(serve):
    given = []

    def refresh(configuration):
        given.append(1)
        configuration.api_key["authorization"] = f"Bearer {len(given)}"

    server, driver = serve(normal, configuration={"refresh_api_key_hook": refresh, "api_key": {"authorization": "old"}})
    driver.ask("GET", PODS)
    driver.ask("GET", PODS)
    first, second = (request.headers["authorization"] for request in server.requests)
    assert first != "old"
    assert first != second


def test_a_token_that_cannot_be_had(serve):
    def refresh(configuration):
        raise RuntimeError("the plugin is not there")
    server, driver = serve(normal, configuration={"refresh_api_key_hook": refresh, "api_key": {"authorization": "old"}})
    call = driver.ask("POST", PODS, b"{}")
    assert call.code == _abi.MPIJOB_ERR_AUTH
    assert call.message.endswith("no credentials: the plugin is not there")
    assert server.requests == []


# ---- connections ----

def test_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with Driver(KubernetesTransport(client_for(url))) as driver:
        call = driver.ask("POST", PODS, b"{}")
        assert (call.code, call.message) == (_abi.MPIJOB_ERR_UNREACHABLE, f"cannot connect to {url}: Connection refused")


def test_a_name_that_nobody_knows():
    with Driver(KubernetesTransport(client_for("https://nobody.invalid"))) as driver:
        call = driver.ask("GET", PODS)
        assert call.code == _abi.MPIJOB_ERR_UNREACHABLE
        assert "<" not in call.message


@pytest.mark.parametrize(("fault", "posts"), [
    (reset, 1), (half_close, 1), (raw("HTTP/1.1 200 X\r\nContent-Length: 99\r\n\r\n{"), 1),
    (raw("HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"), 1),
    (raw("HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{"), 1), (raw("SSH-2.0-x\r\n"), 1),
    (raw("HTTP/1.1 200 X\r\nContent-Ty"), 1), (raw("HTTP/1.1 200 X\r\n"), 1),
])
def test_a_write_is_sent_once(serve, fault, posts):
    server, driver = serve(fault)
    call = driver.ask("POST", PODS, b'{"metadata":{"name":"x"}}')
    assert call.code == _abi.MPIJOB_ERR_IO
    assert call.message.startswith(f"{server.url}: the connection broke: ")
    assert server.count("POST") == posts


def test_a_connection_that_is_reset_at_once(serve):
    server, driver = serve(normal, accept=[lambda conn: conn.reset() for _ in range(2)])
    assert [driver.ask(method, PODS).code for method in ("GET", "POST")] == [_abi.MPIJOB_ERR_IO] * 2  # to read again may help
    assert server.requests == []


@pytest.mark.parametrize("fault", [reset, half_close])
def test_a_write_on_a_used_connection_is_sent_once(serve, fault):
    server, driver = serve(normal, fault)
    assert driver.ask("GET", PODS + "/b").status == 200
    assert driver.ask("POST", PODS, b"{}").code == _abi.MPIJOB_ERR_IO
    assert server.count("POST") == 1


def test_a_connection_that_was_closed_meanwhile_is_not_used(serve):
    server, driver = serve(raw("HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\n{}"), normal)
    assert driver.ask("GET", PODS).status == 200
    time.sleep(0.2)
    assert driver.ask("POST", PODS, b'{"metadata":{"name":"x"}}').status == 201
    assert server.count("POST") == 1


# ---- what takes too long ----

def dribble(head, piece, every=0.05):
    def handler(conn, _):
        conn.raw(head)
        while True:
            conn.raw(piece)
            time.sleep(every)
    return handler


@pytest.mark.parametrize("fault", [
    silence, dribble("HTTP/1.1 200 X\r\nX: ", "y"), dribble("HTTP/1.1 200 X\r\nContent-Length: 999999\r\n\r\n", "y"),
    dribble("HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\ny\r\n"),
])
def test_the_limit_is_one_on_the_whole_exchange(no_descriptor_is_lost, serve, fault):
    _, driver = serve(fault)
    begun = time.monotonic()
    call = driver.ask("GET", PODS, timeout=0.5)
    assert call.code == _abi.MPIJOB_ERR_TIMEOUT
    assert 0.4 < time.monotonic() - begun < 0.5 + SOON
    assert call.message.endswith("no answer within 0.5 s")


def test_the_limit_of_the_transport(serve):
    _, driver = serve(silence, request_timeout=0.3)
    assert driver.ask("GET", PODS).code == _abi.MPIJOB_ERR_TIMEOUT


def test_a_stream_has_no_limit(serve):
    _, driver = serve(dribble("HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\ny\r\n"), request_timeout=0.2)
    call = driver.start("GET", PODS + "?watch=1", stream=True)
    driver.until(lambda: len(call.data) > 10)
    assert not call.done


def black_hole():
    """A listener whose queue is full, so that nobody more gets a connection."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    queued = [socket.socket() for _ in range(4)]
    for one in queued:
        one.setblocking(False)
        one.connect_ex(listener.getsockname())
    time.sleep(0.1)
    return listener, queued


@pytest.fixture
def hole():
    listener, queued = black_hole()
    yield f"127.0.0.1:{listener.getsockname()[1]}"
    for one in (listener, *queued):
        one.close()


@pytest.fixture
def mute():
    """A listener that accepts and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def test_a_connection_that_does_not_come(hole):
    with Driver(KubernetesTransport(client_for("http://" + hole), connect_timeout=0.3)) as driver:
        for stream_it in (False, True):
            call = driver.ask("POST", PODS, b"{}", stream=stream_it)
            assert call.code == _abi.MPIJOB_ERR_UNREACHABLE
            assert call.message == f"cannot connect to http://{hole}: timed out"


def test_a_handshake_that_does_not_come(mute):
    with Driver(KubernetesTransport(client_for("https://" + mute), connect_timeout=0.3)) as driver:
        assert driver.ask("POST", PODS, b"{}").code == _abi.MPIJOB_ERR_UNREACHABLE


# ---- giving up ----

@pytest.mark.parametrize("stream_it", [False, True])
@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("where", ["hole", "mute"])
def test_giving_up_before_an_answer(no_descriptor_is_lost, request, where, scheme, stream_it):
    made = KubernetesTransport(client_for(f"{scheme}://{request.getfixturevalue(where)}"))
    driver = Driver(made)
    call = driver.start("GET", PODS, stream=stream_it)
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        driver.poll()
    assert len(made._calls) == 1
    begun = time.monotonic()
    call.cancel()
    driver.free()
    assert time.monotonic() - begun < SOON
    assert not call.done


def test_giving_up_a_stream_that_is_silent(no_descriptor_is_lost, serve):
    server, driver = serve(stream({"a": 1}, then="silence"))
    calls = [driver.start("GET", PODS + "?watch=1", stream=True) for _ in range(20)]
    driver.until(lambda: all(call.data for call in calls))
    begun = time.monotonic()
    for call in calls:
        call.cancel()
    driver.free()
    assert time.monotonic() - begun < SOON
    assert not any(call.done for call in calls)


def test_others_go_on_when_one_is_given_up(serve):
    _, driver = serve(stream({"a": 1}, then="silence"), normal)
    call = driver.start("GET", PODS + "?watch=1", stream=True)
    driver.until(lambda: call.data)
    call.cancel()
    for _ in range(5):
        assert driver.ask("GET", PODS + "/b").status == 200


def test_a_reader_that_is_behind_stops_the_server(serve):
    sent = []

    def pour(conn, _):
        conn.begin_stream()
        for _ in range(400):
            conn.chunk(b"x" * 100000)
            sent.append(1)
        conn.end_stream()

    _, driver = serve(pour)
    call = driver.start("GET", PODS + "?watch=1", stream=True)
    call.pause(True)
    for _ in range(15):
        driver.poll(0.03)
    assert len(sent) < 300  # the buffers of the kernel hold some
    call.pause(False)
    driver.until(lambda: call.done)
    assert (call.code, len(call.data)) == (0, 40000000)


# ---- TLS ----

@pytest.fixture
def tls(tmp_path):
    """A server with a certificate that nobody knows; that of its own authority."""
    import subprocess
    done = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                           "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", tmp_path / "key",
                           "-out", tmp_path / "cert"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"2\r\n{}\r\n")
            if "watch" in self.path:
                time.sleep(5)
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_):
            pass

    def make():
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads, server.handle_error = True, lambda *_: None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tmp_path / "cert", tmp_path / "key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        made.append(server)
        return f"https://127.0.0.1:{server.server_address[1]}"

    made = []
    yield make, str(tmp_path / "cert")
    for server in made:
        server.shutdown()
        server.server_close()


def test_certificates(tls):
    make, ca = tls
    url = make()
    with Driver(KubernetesTransport(client_for(url))) as driver:
        call = driver.ask("GET", PODS)
        assert call.code == _abi.MPIJOB_ERR_UNREACHABLE
        assert "certificate verify failed" in call.message
    with Driver(KubernetesTransport(client_for(url, ssl_ca_cert=ca))) as driver:
        assert driver.ask("GET", PODS).data == b"{}"
        call = driver.start("GET", PODS + "?watch=1", stream=True)
        driver.until(lambda: call.data)
        begun = time.monotonic()
        call.cancel()
        driver.free()
        assert time.monotonic() - begun < SOON


def test_a_server_that_wants_another_certificate(tls, tmp_path):
    _, ca = tls
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ca, tmp_path / "key")
    context.load_verify_locations(ca)
    context.verify_mode = ssl.CERT_REQUIRED

    def refuse():
        accepted, _ = listener.accept()
        kept = accepted.dup()  # else what was not read would make the kernel forget the alert
        with pytest.raises(ssl.SSLError):
            context.wrap_socket(accepted, server_side=True)
        kept.recv(65536)
        kept.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=refuse)
        thread.start()
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        with Driver(KubernetesTransport(client_for(url, ssl_ca_cert=ca))) as driver:
            call = driver.ask("GET", PODS)
            assert call.code == _abi.MPIJOB_ERR_AUTH
            assert "the client certificate is refused" in call.message
        thread.join()
