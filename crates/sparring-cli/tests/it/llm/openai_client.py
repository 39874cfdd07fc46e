"""The official `openai` package on a scripted endpoint: asks at the base URL in its
first argument, plain or by `stream` in its second, and prints what it heard."""

import json
import sys

from openai import OpenAI, OpenAIError

url, mode = sys.argv[1:]
client = OpenAI(base_url=url, api_key="sk-openai")
once = client.with_options(max_retries=0)
schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
tools = [{"type": "function", "function": {"name": "get_weather", "parameters": schema}}]
messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "Oslo?"}]
pieces = 0


def ask(client):
    global pieces
    request = dict(model="gpt", messages=messages, tools=tools)
    if mode == "plain":
        return client.chat.completions.create(**request)
    with client.chat.completions.stream(
        **request, stream_options={"include_usage": True}
    ) as stream:
        pieces += sum(event.type == "content.delta" for event in stream)
        return stream.get_final_completion()


def error():
    try:
        return ask(once).to_json()
    except (OpenAIError, ValueError) as error:
        return [type(error).__name__, getattr(error, "status_code", None), str(error)]


first = ask(client)
message = first.choices[0].message
[call] = message.tool_calls
messages.append({"role": "assistant", "content": message.content, "tool_calls": [
    {"id": call.id, "type": "function",
     "function": {"name": call.function.name, "arguments": call.function.arguments}}]})
messages.append({"role": "tool", "tool_call_id": call.id, "content": '{"temperature": 15}'})
second = ask(client)
print(json.dumps({
    "text": message.content,
    "call": [call.function.name, json.loads(call.function.arguments)],
    "stops": [it.choices[0].finish_reason for it in (first, second)],
    "answer": second.choices[0].message.content,
    "usage": [second.usage.prompt_tokens, second.usage.completion_tokens],
    "retried": ask(client).choices[0].message.content,
    "errors": [error() for _ in range(9)],
    "models": [model.id for model in client.models.list()],
    "in_pieces": pieces > 5,
}))
