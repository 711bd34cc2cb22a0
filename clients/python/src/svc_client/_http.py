"""Sends requests with the standard library."""

from __future__ import annotations

import http.client
import socket
import ssl
import time
from urllib.parse import urlsplit

from ._steps import ANSWER_BYTES_MAX, Answer, Request, timed_out
from .errors import ApiConnectionError

# Older idle connections are closed, because servers close them after a few seconds.
_IDLE_SECONDS_MAX = 2.0
_CHUNK_BYTES = 65_536


class Transport:
    """Connections to one host. Threads may share it."""

    def __init__(self, base_url: str, ssl_context: ssl.SSLContext | None) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("base_url must be an http or https URL.")
        self._host = parts.hostname
        self._port = parts.port
        self._ssl = (
            (ssl_context or ssl.create_default_context()) if parts.scheme == "https" else None
        )
        self._idle: list[tuple[float, http.client.HTTPConnection]] = []

    def _connection(self, request: Request) -> http.client.HTTPConnection:
        # A request that must not be repeated gets a connection that the server cannot have closed.
        while request.is_repeatable:
            try:
                since, connection = self._idle.pop()
            except IndexError:
                break
            if time.monotonic() - since < _IDLE_SECONDS_MAX:
                return connection
            connection.close()
        if self._ssl is None:
            return http.client.HTTPConnection(self._host, self._port)
        return http.client.HTTPSConnection(self._host, self._port, context=self._ssl)

    def send(self, request: Request) -> Answer | ApiConnectionError:
        connection = self._connection(request)
        deadline = time.monotonic() + request.timeout
        is_kept = False
        try:
            answer, is_kept = _exchange(connection, request, deadline)
            return answer
        except TimeoutError:
            return timed_out(request.timeout)
        except (OSError, http.client.HTTPException) as cause:
            error = ApiConnectionError("No complete answer arrived.")
            error.__cause__ = cause
            return error
        finally:
            if is_kept:
                self._idle.append((time.monotonic(), connection))
            else:
                connection.close()

    def close(self) -> None:
        while self._idle:
            self._idle.pop()[1].close()


def _limit(connection: http.client.HTTPConnection, deadline: float) -> None:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    connection.timeout = left
    if isinstance(connection.sock, socket.socket):
        connection.sock.settimeout(left)


def _exchange(
    connection: http.client.HTTPConnection, request: Request, deadline: float
) -> tuple[Answer, bool]:
    _limit(connection, deadline)
    connection.request(request.method, request.target, request.body, request.headers)
    _limit(connection, deadline)
    response = connection.getresponse()
    chunks: list[bytes] = []
    length = 0
    while not response.isclosed():
        _limit(connection, deadline)
        chunk = response.read1(_CHUNK_BYTES)
        if not chunk:
            break
        chunks.append(chunk)
        length += len(chunk)
        if length > ANSWER_BYTES_MAX:
            raise http.client.HTTPException("The answer has more than 16 MiB.")
    # `read1` reports a body that was cut short only by its length.
    if response.length:
        raise http.client.IncompleteRead(b"".join(chunks), response.length)
    headers = {name.lower(): value for name, value in response.getheaders()}
    # Older versions of Python do not notice that the body has ended.
    response.close()
    return Answer(response.status, headers, b"".join(chunks)), not response.will_close
