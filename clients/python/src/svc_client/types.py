"""The requests, answers and events of the service, as on the wire.

Members and values may be added at any time, so ignore those that you do not know. Amounts are
credits with at most six decimals. Times are RFC 3339 in UTC.
"""

from __future__ import annotations

from typing import Any, TypedDict, Union

from ._generated import *  # noqa: F403
from ._generated import NotReady, Ready

Readiness = Union[Ready, NotReady]


class Page(TypedDict):
    """One page of a list, newest first. ``nextCursor`` is None on the last page."""

    data: list[Any]
    nextCursor: str | None


class DeletedKey(TypedDict):
    """The key that was deleted."""

    keyId: str


class DeletedWebhookEndpoint(TypedDict):
    """The endpoint that was deleted."""

    id: str
