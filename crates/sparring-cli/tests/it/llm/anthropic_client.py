"""The official `anthropic` package on a scripted endpoint: asks at the base URL in
its first argument, plain or by `stream` in its second, and prints what it heard."""

import json
import sys

from anthropic import Anthropic

url, mode = sys.argv[1:]
client = Anthropic(base_url=url, api_key="sk-anthropic")
once = client.with_options(max_retries=0)
schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
tools = [{"name": "get_weather", "input_schema": schema}]
messages = [{"role": "user", "content": "Oslo?"}]
pieces = 0


def ask(client):
    global pieces
    request = dict(
        model="gpt", max_tokens=100, system="be brief", messages=messages, tools=tools
    )
    if mode == "plain":
        return client.messages.create(**request)
    with client.messages.stream(**request) as stream:
        pieces += sum(1 for _ in stream.text_stream)
        return stream.get_final_message()


def error():
    try:
        return ask(once).to_json()
    except Exception as error:  # a broken stream is told by the package below it
        return [type(error).__name__, getattr(error, "status_code", None), str(error)]


first = ask(client)
text, call = first.content
messages.append({"role": "assistant", "content": [block.to_dict() for block in first.content]})
messages.append({"role": "user", "content": [
    {"type": "tool_result", "tool_use_id": call.id, "content": '{"temperature": 15}'}]})
second = ask(client)
print(json.dumps({
    "text": text.text,
    "call": [call.name, call.input],
    "stops": [first.stop_reason, second.stop_reason],
    "answer": second.content[0].text,
    "usage": [second.usage.input_tokens, second.usage.output_tokens],
    "retried": ask(client).content[0].text,
    "errors": [error() for _ in range(9)],
    "models": [model.id for model in client.models.list()],
    "in_pieces": pieces > 5,
}))
