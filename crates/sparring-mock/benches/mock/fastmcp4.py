"""A server over HTTP made with FastMCP that has one tool, and says where it
listens."""

import socket

import uvicorn
from fastmcp import FastMCP

server = FastMCP("echo", version="4.0")


@server.tool
def echo(message: str) -> str:
    """Says it again."""
    return message


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(1024)
print("%s:%d" % listener.getsockname(), flush=True)
app = server.http_app(path="/mcp", stateless_http=True, json_response=True)
config = uvicorn.Config(app, log_level="error", access_log=False)
uvicorn.Server(config).run(sockets=[listener])
