# SPDX-License-Identifier: Apache-2.0
"""For tests of transports: a client of the library around one, without what the package's own Client adds."""
import ctypes
import time

from mpijob import _abi
from mpijob._library import core, decoded
from mpijob.errors import check


class Call:
    """A request under way."""

    def __init__(self, driver, method, path, body=None, stream=False, timeout=0.0):
        self._pieces, self.done, self.code, self.status, self.message, self.retry_after = [], False, 0, 0, "", 0.0
        kept = ctypes.create_string_buffer(body, len(body)) if body else None
        request = _abi.mpijob_request(method=method.encode(), path=path.encode(), streaming=stream, timeout_ms=int(timeout * 1000),
                                      content_type=b"application/json" if body else None,
                                      body=ctypes.addressof(kept) if kept else None, body_len=len(body or b""))
        self._done = _abi.mpijob_callbacks_done_fn(self._end)
        self._data = _abi.mpijob_callbacks_data_fn(self._take)
        callbacks = _abi.mpijob_callbacks(done=self._done)
        if stream:
            callbacks.data = self._data
        self.call = ctypes.c_void_p()
        check(core.mpijob_client_start(driver.client, ctypes.byref(request), ctypes.byref(callbacks), ctypes.byref(self.call)))

    @property
    def data(self):
        self._pieces[:] = [b"".join(self._pieces)]
        return self._pieces[0]

    def _take(self, user, data, length):
        self._pieces.append(ctypes.string_at(data, length))
        return 0

    def _end(self, user, answer):
        assert not self.done
        answer = answer.contents
        self.done, self.code, self.status, self.message = True, answer.code, answer.status, decoded(answer.message) or ""
        self.retry_after = answer.retry_after_ms / 1000
        if answer.body_len:
            self._pieces.append(ctypes.string_at(answer.body, answer.body_len))

    def cancel(self):
        core.mpijob_call_cancel(self.call)

    def pause(self, on):
        core.mpijob_call_pause(self.call, on)


class Driver:
    """A client that tries everything once."""

    def __init__(self, transport):
        struct, taken = transport._mpijob_transport()
        self.client = ctypes.c_void_p()
        self.warnings = []
        check(core.mpijob_client_new(ctypes.byref(struct), taken, ctypes.byref(self.client)))
        self._warning = _abi.mpijob_client_options_warning_fn(lambda user, text: self.warnings.append(decoded(text)))
        options = _abi.mpijob_client_options(retries=-1, warning=self._warning)
        check(core.mpijob_client_set_options(self.client, ctypes.byref(options)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.free()

    def free(self):
        if self.client:
            core.mpijob_client_free(self.client)
            self.client = None

    def poll(self, seconds=0.05):
        return core.mpijob_client_poll(self.client, int(seconds * 1000))

    def start(self, *arguments, **more):
        return Call(self, *arguments, **more)

    def until(self, condition, seconds=15):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "waited in vain"
            self.poll()

    def ask(self, *arguments, **more):
        call = self.start(*arguments, **more)
        self.until(lambda: call.done)
        return call
