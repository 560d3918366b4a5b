"""Limits on strangers' requests, refusals, bounded bodies."""

from __future__ import annotations

import asyncio
import hmac
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.requests import Request

MOST_WORDS = 10_000
"""Words that the lexicon of a request may hold."""
MOST_PAGES = 1000
"""Pages of a document that a request may ask for."""
MOST_CHECKED = 20_000
"""Words of a text that is checked."""
# Bits of an IPv6 address that a client is given; it chooses the others
_SITE_PREFIX = 64
_BODIES = 16  # of the greatest size, in memory at the same time


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on one request, and on all that wait."""

    body: int = 10_000_000  # bytes of a request
    pixels: int = 50_000_000  # of a picture
    # Pictures of words in progress for one client, and the most in a request
    queue: int = 64
    pages: int = 8  # whole pictures in progress, at most half of them for one client
    deadline: float = 30  # seconds from the first line of a request to its answer
    receive: float = 20  # seconds in which a request has to arrive
    # Seconds of the processor to decode a large picture, or draw a page
    drawing: int = 5


class Refusal(Exception):  # noqa: N818 - it is an answer
    """A request that is not answered with readings.

    Attributes:
        status: of HTTP.
        reason: what is wrong and what to do, in one sentence.
        retry_after: seconds after which to try again; None if that is no use.
    """

    def __init__(
        self, status: int, reason: str, retry_after: int | None = None
    ) -> None:
        super().__init__(status, reason)
        self.status = status
        self.reason = reason
        self.retry_after = retry_after


@contextmanager
def refused() -> Iterator[None]:
    """Options that do not fit the model are the client's mistake.

    Raises:
        Refusal: 422, in place of a ValueError.
    """
    try:
        yield
    except ValueError as error:
        raise Refusal(422, str(error)) from None


class ClientDisconnected(Exception):  # noqa: N818 - nobody is to blame
    """Nobody waits for the answer."""


class Capacity:
    """Places for pictures or for bytes, which requests take and give back.

    One client may have ``each`` of them; ``report`` is told how many are taken.
    """

    def __init__(
        self,
        size: int,
        each: int,
        what: str,
        report: Callable[[float], object] = lambda taken: None,
    ) -> None:
        self.size = size
        self.each = each
        self._what = what
        self._report = report
        self._taken: Counter[str] = Counter()

    def check(self, client: str, count: int = 1) -> None:
        """Refuse at once what has no room."""
        if count + self._taken[client] > self.each:
            reason = (
                f"too many of your {self._what} are in progress; wait for their answers"
            )
            raise Refusal(429, reason, 1)
        if count + self._taken.total() > self.size:
            raise Refusal(
                503, f"too many {self._what} are in progress; try again in a second", 1
            )

    def take(self, client: str, count: int) -> None:
        """Take some places, or give them back if there are fewer than 0."""
        self.check(client, count)
        self._taken[client] += count
        if not self._taken[client]:
            del self._taken[client]
        self._report(self._taken.total())

    @contextmanager
    def places(self, client: str, count: int) -> Iterator[None]:
        """Take some places for a while."""
        self.take(client, count)
        try:
            yield
        finally:
            self.take(client, -count)


class Bodies:
    """Receives the bodies of requests, all together in bounded memory."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        most = _BODIES * limits.body
        most_of_one = _BODIES // 2 * limits.body
        self._capacity = Capacity(most, most_of_one, "bytes")

    @asynccontextmanager
    async def received(self, request: Request) -> AsyncIterator[bytearray]:
        """The body of a request; it counts until the block ends."""
        body = bytearray()
        try:
            await self._receive(request, body)
            yield body
        finally:
            self._capacity.take(client_of(request.scope), -len(body))

    async def _receive(self, request: Request, body: bytearray) -> None:
        from starlette.requests import ClientDisconnect

        length = request.headers.get("content-length", "0")
        is_number = len(length) <= 18 and length.isdecimal()
        if not is_number or int(length) > self._limits.body:
            raise self._too_large()
        try:
            async with asyncio.timeout(self._limits.receive):
                async for chunk in request.stream():
                    if len(body) + len(chunk) > self._limits.body:
                        raise self._too_large()
                    self._capacity.take(client_of(request.scope), len(chunk))
                    body += chunk
        except TimeoutError:
            slow = f"the request took over {self._limits.receive:g} seconds to arrive"
            raise Refusal(408, f"{slow}; send it faster or less of it") from None
        except ClientDisconnect:
            raise ClientDisconnected from None

    def _too_large(self) -> Refusal:
        most = f"{self._limits.body:,} bytes"
        return Refusal(413, f"a request may hold {most}; send fewer or smaller files")


def client_of(scope: Mapping[str, Any]) -> str:
    """Who asks: an address, behind a proxy that is believed the one that it forwards."""
    return site_of(str((scope.get("client") or [""])[0]))


def site_of(address: str) -> str:
    """An address; of IPv6 the network of it, in which a client has as many as it likes."""
    with suppress(ValueError):
        found = ip_address(address)
        if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
            return str(IPv6Network((found, _SITE_PREFIX), strict=False))
    return address


def check_origin(headers: Mapping[bytes, bytes], allowed: tuple[str, ...]) -> None:
    """Refuse what a web page of another site has sent, which its visitor need not know of.

    Browsers say which page asks. Behind a proxy the name of this server may be another than the
    browser's, which then says itself whether it is the same site.
    """
    origin = headers.get(b"origin", b"").decode("latin-1").lower()
    if not origin or origin in allowed or "*" in allowed:
        return
    host = headers.get(b"host", b"").decode("latin-1").lower()
    is_own = headers.get(b"sec-fetch-site") == b"same-origin"
    if not is_own and _place(origin) != host:
        raise Refusal(
            403, f"web pages of {origin[:100]} may not ask; start it with --cors ORIGIN"
        )


def _place(origin: str) -> str:
    """Name and port of an origin; nothing for ``null`` and for what is none."""
    with suppress(ValueError):
        return urlsplit(origin).netloc
    return ""


def check_host(header: str, allowed: tuple[str, ...]) -> None:
    """Refuse names under which a web page elsewhere could reach this server (DNS rebinding).

    Addresses, names without a dot and those under ``localhost`` cannot be anybody else's.
    """
    name = re.sub(r":\d*$", "", header.lower()).strip("[]").removesuffix(".")
    with suppress(ValueError):
        ip_address(name)
        return
    if "." in name and not name.endswith(".localhost") and name not in allowed:
        raise Refusal(
            421, f"not a name of this server; start it with --allow-host {name[:100]}"
        )


def is_allowed(headers: Mapping[bytes, bytes], key: str) -> bool:
    """Whether a request carries the key; how long that takes does not depend on how much fits."""
    scheme, _, bearer = headers.get(b"authorization", b"").partition(b" ")
    given = headers.get(b"x-api-key", b"")
    if scheme.lower() == b"bearer":
        given = bearer.strip()
    return hmac.compare_digest(given, key.encode())
