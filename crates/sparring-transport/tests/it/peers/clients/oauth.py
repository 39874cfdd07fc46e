"""The official Python SDK's client, let in by OAuth: calls two tools of the server
at a URL, of which the second needs more than the first, lets all tokens expire in
between, and prints what it heard as JSON, with what PyJWT read in its token by the
issuer's keys. The arguments are how to connect, the URL, and how to get a token:
`code`, `credentials ID SECRET` or `key ID FILE`."""

import json
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import jwt
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

BACK = "http://127.0.0.1:7/callback"


class Storage:
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Browser:
    """Goes where it is sent, and keeps what it is to bring back."""

    logins = 0

    async def open(self, url):
        self.logins += 1
        async with httpx2.AsyncClient() as web:
            answer = await web.get(url)
        location = answer.headers["location"]
        assert location.startswith(BACK), location
        self.brings = parse_qs(urlsplit(location).query)

    async def back(self):
        brings = {name: self.brings[name][0] for name in ("code", "state", "iss")}
        return AuthorizationCodeResult(**brings)


def provider(url, storage, browser, how, *more):
    issuer = url.removesuffix("/mcp")
    if how == "code":
        metadata = OAuthClientMetadata(client_name="Guido", redirect_uris=[BACK])
        return OAuthClientProvider(url, metadata, storage, browser.open, browser.back)
    if how == "credentials":
        client, secret = more
        return ClientCredentialsOAuthProvider(
            server_url=url, storage=storage, client_id=client, client_secret=secret, issuer=issuer
        )
    client, file = more
    signed = SignedJWTParameters(
        issuer=client, subject=client, signing_algorithm="ES256", signing_key=Path(file).read_text()
    )
    return PrivateKeyJWTOAuthProvider(
        server_url=url,
        storage=storage,
        client_id=client,
        assertion_provider=signed.create_assertion_provider(),
        issuer=issuer,
    )


async def main(mode, url, *how):
    storage, browser = Storage(), Browser()
    auth = provider(url, storage, browser, *how)
    web = httpx2.AsyncClient(auth=auth, timeout=20)

    async def text_of(tool):
        return (await client.call_tool(tool, {})).content[0].text

    async with web, Client(streamable_http_client(url, http_client=web), mode=mode) as client:
        heard = {"whoami": await text_of("whoami")}
        issuer = url.removesuffix("/mcp")
        async with httpx2.AsyncClient() as other:
            await other.post(
                f"{issuer}/_spar/oauth/expire", headers={"authorization": "Bearer operator"}
            )
        # It renews by its own clock alone; a 401 has it log in again.
        auth.context.token_expiry_time = 1
        heard["again"] = await text_of("whoami")
        heard["forget"] = await text_of("forget")
        heard["logins"] = browser.logins
    token = storage.tokens.access_token
    keys = httpx2.get(f"{issuer}/jwks.json").json()
    key = jwt.PyJWKSet.from_dict(keys)[jwt.get_unverified_header(token)["kid"]]
    claims = jwt.decode(token, key, algorithms=["ES256"], audience=url, issuer=issuer)
    heard["scope"] = sorted(claims["scope"].split())
    print(json.dumps(heard))


anyio.run(main, *sys.argv[1:])
