# SPDX-License-Identifier: Apache-2.0
"""How a client comes to its cluster: over HTTP, through a transport written in Python, or to one inside of this process."""
from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_void_p

from . import _abi, _signals
from ._calls import warn
from ._library import core, decoded, encoded, http, local, operator
from .errors import ParseError, UsageError, check
from .findings import Diag, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# Spelled as kubectl's options, with the members of struct mpijob_http_config_options that they set.
_TEXTS = {"kubeconfig": "kubeconfig", "context": "context", "cluster": "cluster", "user": "user", "namespace": "namespace_",
          "server": "server", "tls_server_name": "tls_server_name", "certificate_authority": "certificate_authority",
          "client_certificate": "client_certificate", "client_key": "client_key", "token": "token", "proxy_url": "proxy_url",
          "as_user": "as_user", "as_uid": "as_uid"}


class Channel:
    """A client of the library with what moves it on, and the namespace to work in."""

    def __init__(self, transport: _abi.mpijob_transport, own: Any, namespace: str, python: Any = None) -> None:
        out = c_void_p()
        #: The transport when it is written in Python: what comes up in its callbacks is raised from there.
        self.python = python
        self.namespace = namespace
        self.server: str | None = None
        self.operator: int | None = None
        check(core.mpijob_client_new(byref(transport), own, byref(out)))
        self.client: int = out.value or 0

    def named(self, error: BaseException) -> BaseException:
        """The error, whose message names the server when its answer was none of a Kubernetes API."""
        if isinstance(error, ParseError) and self.server and self.server not in error.message:
            error.message = f"{self.server}: {error.message}"
            error.args = (error.message,)
        return error

    def free(self) -> None:
        """Free all of it."""
        if self.operator:
            operator.mpijob_operator_free(self.operator)
        core.mpijob_client_free(self.client)
        self.operator, self.client = None, 0

    def poll(self, timeout_ms: int) -> int:
        """Move all calls on."""
        if self.operator:
            return int(_signals.call(operator.mpijob_operator_step, self.operator, timeout_ms))
        return int(_signals.call(core.mpijob_client_poll, self.client, timeout_ms))

    def interest(self) -> tuple[int, float | None] | None:
        """A descriptor to wait for, or -1, and the time of time.monotonic() to poll at; None: there is no such thing."""
        descriptor, deadline = ctypes.c_int(-1), ctypes.c_int64(-1)
        if self.operator:
            code = operator.mpijob_operator_interest(self.operator, byref(descriptor), byref(deadline))
        else:
            code = core.mpijob_client_interest(self.client, byref(descriptor), byref(deadline))
        if code == _abi.MPIJOB_ERR_UNSUPPORTED:
            return None
        check(code)
        return descriptor.value, None if deadline.value < 0 else deadline.value / 1000


def _set_rates(channel: Channel, qps: int = 0, burst: int = 0, retries: int = 0) -> Channel:
    try:
        options = _abi.mpijob_client_options(qps=qps, burst=burst, retries=retries, warning=_warning)
        check(core.mpijob_client_set_options(channel.client, byref(options)))
    except BaseException:
        channel.free()
        raise
    return channel


def _seconds(value: float | None) -> int:
    if value is None:
        return 0
    if value <= 0:
        raise UsageError("a limit is a number of seconds, more than 0")
    return max(1, round(value * 1000))


def over_http(*, as_groups: Sequence[str] = (), insecure_skip_tls_verify: bool = False, in_cluster: bool = False,
              interactive: bool = False, request_timeout: float | None = None, connect_timeout: float | None = None,
              user_agent: str | None = None, http1: bool = False, qps: int = 0, burst: int = 0, retries: int = 0,
              **texts: str | None) -> Channel:
    """A channel to an API server, found by the rules of kubectl."""
    unknown = sorted(set(texts) - set(_TEXTS))
    if unknown:
        raise TypeError(f"no option {unknown[0]!r}; there are {', '.join(_TEXTS)}")
    library = http()
    groups = [encoded(group) for group in as_groups]
    options = _abi.mpijob_http_config_options(insecure_skip_tls_verify=insecure_skip_tls_verify, in_cluster=in_cluster,
                                              interactive=interactive)
    for name, text in texts.items():
        setattr(options, _member(_TEXTS[name]), encoded(text))
    if groups:
        options.as_groups = (ctypes.c_char_p * len(groups))(*groups)
        options.as_groups_count = len(groups)
    settings = _abi.mpijob_http_options(user_agent=encoded(user_agent), connect_timeout_ms=_seconds(connect_timeout),
                                        request_timeout_ms=_seconds(request_timeout), http1=http1, notice=_notice)
    config, own, transport = c_void_p(), c_void_p(), _abi.mpijob_transport()
    with Diag() as diag:
        check(library.mpijob_http_config_load(byref(options), byref(config), diag.handle), diag)
        try:
            namespace = decoded(library.mpijob_http_config_namespace(config)) or "default"
            server = decoded(library.mpijob_http_config_server(config))
            check(library.mpijob_http_new(config, byref(settings), byref(transport), byref(own), diag.handle), diag)
        finally:
            library.mpijob_http_config_free(config)
    warn(diag.findings)
    channel = Channel(transport, own, namespace)
    channel.server = server
    return _set_rates(channel, qps, burst, retries)


def _member(name: str) -> str:
    return name if hasattr(_abi.mpijob_http_config_options, name) else name.rstrip("_")


def through(transport: Any, namespace: str | None, qps: int = 0, burst: int = 0, retries: int = 0) -> Channel:
    """A channel through what fills a struct mpijob_transport, as `mpijob.transport` does."""
    fill = getattr(transport, "_mpijob_transport", None)
    if fill is None:
        raise UsageError(f"{type(transport).__name__} is no transport: derive from mpijob.transport.BlockingTransport or Transport")
    struct, own = fill()
    return _set_rates(Channel(struct, own, namespace or getattr(transport, "namespace", None) or "default", transport),
                      qps, burst, retries)


def chosen(kubeconfig: str | os.PathLike[str] | None, transport: Any, options: dict[str, Any]) -> Channel:
    """The channel that the arguments of a client ask for."""
    if transport is None:
        return over_http(kubeconfig=os.fspath(kubeconfig) if kubeconfig is not None else None, **options)
    stray = sorted(set(options) - {"namespace", "qps", "burst", "retries"}) + ["kubeconfig"] * bool(kubeconfig)
    if stray:
        raise UsageError(f"{stray[0]} has no meaning beside a transport")
    return through(transport, options.pop("namespace", None), **options)


def embedded(*, node: bool = True, operator: bool = True, namespace: str | None = None, reference: bool = False,
             cluster_domain: str | None = None, allow_host_path: bool = False, backoff_base: float | None = None,
             node_program: str | None = None) -> Channel:
    """A channel to a cluster inside of this process, with the operator that works there."""
    library = local()
    options = _abi.mpijob_local_options(node_program=encoded(node_program), cluster_domain=encoded(cluster_domain),
                                        no_node=not node, allow_host_path=allow_host_path,
                                        backoff_base_ms=_seconds(backoff_base), notice=_local_notice)
    own, transport = c_void_p(), _abi.mpijob_transport()
    with Diag() as diag:
        check(library.mpijob_local_new(byref(options), byref(transport), byref(own), diag.handle), diag)
    channel = _set_rates(Channel(transport, own, namespace or "default"))
    if operator:
        try:
            channel.operator = _operator(channel.client, reference, cluster_domain)
        except BaseException:
            channel.free()
            raise
    return channel


def _operator(client: int, reference: bool, cluster_domain: str | None) -> int:
    render = _abi.mpijob_render_options(reference=reference, cluster_domain=encoded(cluster_domain))
    options = _abi.mpijob_operator_options(render=ctypes.pointer(render), log=_log)
    out = c_void_p()
    with Diag() as diag:
        check(operator.mpijob_operator_new(client, byref(options), byref(out), diag.handle), diag)
    return out.value or 0


def _when_notice(user: int | None, finding: Any) -> None:
    warn([Finding.of(finding.contents)])


def _when_log(user: int | None, finding: Any) -> None:
    # What it does is news for an operator's log, not for who runs a job.
    if finding.contents.severity != _abi.MPIJOB_SEVERITY_INFO:
        warn([Finding.of(finding.contents)])


def _when_warned(user: int | None, text: bytes) -> None:
    warn([Finding("warning", "server-warning", None, None, decoded(text) or "")])


_warning = _abi.mpijob_client_options_warning_fn(_when_warned)
_notice = _abi.mpijob_http_options_notice_fn(_when_notice)
_local_notice = _abi.mpijob_local_options_notice_fn(_when_notice)
_log = _abi.mpijob_operator_options_log_fn(_when_log)
