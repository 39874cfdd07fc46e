"""A small MCP server on stdin and stdout, with nothing but Python itself."""

import json
import sys

TOOL = {
    "name": "add",
    "description": "Adds two numbers.",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
    },
}


def add(arguments):
    try:
        text, failed = str(arguments["a"] + arguments["b"]), False
    except (KeyError, TypeError) as error:
        print(f"add failed: {error!r}", file=sys.stderr, flush=True)
        text, failed = "a and b must be numbers", True
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "python", "version": "1.0.0"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call" and params.get("name") == "add":
        return add(params.get("arguments", {}))
    if method == "ping":
        return {}
    return None


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    result = answer(request["method"], request.get("params", {}))
    if result is None:
        reply["error"] = {"code": -32601, "message": f"method not found: {request['method']}"}
    else:
        reply["result"] = result
    print(json.dumps(reply), flush=True)
