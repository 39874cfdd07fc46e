"""The official clients on a scripted endpoint: asks at the URL in its first argument, with
the API in its second, plain or by `stream` in its third, and prints what it received.

The packages of OpenAI and Anthropic accept data that their types do not allow, so all
data is validated here too.
"""

import json
import sys

from pydantic import TypeAdapter

url, api, mode = sys.argv[1:]
stream = mode == "stream"
schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def valid(value, kind=None):
    """Validates a value of a client strictly, and returns it."""
    TypeAdapter(kind or type(value)).validate_python(value.to_dict())
    return value


class ChatCompletions:
    def __init__(self):
        from openai import OpenAI

        self.client = OpenAI(base_url=f"{url}/v1", api_key="none")
        self.once = self.client.with_options(max_retries=0)
        self.tools = [
            {"type": "function", "function": {"name": "get_weather", "parameters": schema}}]
        self.messages = [{"role": "user", "content": "Oslo?"}]

    def ask(self, client):
        request = {"model": "gpt", "messages": self.messages, "tools": self.tools}
        if not stream:
            return valid(client.chat.completions.create(**request))
        from openai import LengthFinishReasonError

        with client.chat.completions.stream(
            **request, stream_options={"include_usage": True}
        ) as events:
            try:
                for event in events:
                    if event.type == "chunk":
                        valid(event.chunk)
                return events.get_final_completion()
            except LengthFinishReasonError as error:
                return error.completion

    def read(self, answer):
        [choice] = answer.choices
        message = choice.message
        calls = [it.function for it in message.tool_calls or []]
        return {
            "text": message.content, "refusal": message.refusal, "stop": choice.finish_reason,
            "calls": [[call.name, json.loads(call.arguments)] for call in calls],
            "usage": [answer.usage.prompt_tokens, answer.usage.completion_tokens]}

    def add_result(self, answer, text):
        message = answer.choices[0].message
        [call] = message.tool_calls
        function = {"name": call.function.name, "arguments": call.function.arguments}
        self.messages += [
            {"role": "assistant", "tool_calls": [
                {"type": "function", "id": call.id, "function": function}]},
            {"role": "tool", "tool_call_id": call.id, "content": text}]

    def other_requests(self):
        several = self.client.embeddings.create(model="e", input=["a", "b", "a"], dimensions=8)
        [a, b, again] = [it.embedding for it in valid(several).data]
        floats = self.client.embeddings.create(
            model="e", input="a", dimensions=8, encoding_format="float")
        [same] = [it.embedding for it in valid(floats).data]
        close = all(abs(x - y) < 1e-6 for x, y in zip(a, same))
        return {
            "embeddings": [len(a), a == again, a == b, close],
            "models": [valid(it).id for it in self.client.models.list()],
            "model": valid(self.client.models.retrieve("gpt")).id}


class Responses(ChatCompletions):
    def __init__(self):
        super().__init__()
        self.tools = [{
            "type": "function", "name": "get_weather", "parameters": schema, "strict": False}]
        self.input = "Oslo?"
        self.previous = None

    def ask(self, client):
        request = {"model": "gpt", "input": self.input, "tools": self.tools}
        if self.previous:
            request["previous_response_id"] = self.previous
        if not stream:
            return valid(client.responses.create(**request))
        from openai.types.responses import ResponseStreamEvent

        last = None
        for event in client.responses.create(**request, stream=True):
            valid(event, ResponseStreamEvent)
            last = event
        # The client does not raise these errors itself.
        if last.type == "response.failed":
            raise RuntimeError(last.response.error.message)
        return last.response

    def read(self, answer):
        messages = [it for it in answer.output if it.type == "message"]
        parts = [part for message in messages for part in message.content]
        refusals = [part.refusal for part in parts if part.type == "refusal"]
        calls = [it for it in answer.output if it.type == "function_call"]
        reason = answer.incomplete_details and answer.incomplete_details.reason
        return {
            "text": answer.output_text or None, "refusal": "".join(refusals) or None,
            "stop": reason or answer.status,
            "calls": [[call.name, json.loads(call.arguments)] for call in calls],
            "usage": [answer.usage.input_tokens, answer.usage.output_tokens]}

    def add_result(self, answer, text):
        [call] = [it for it in answer.output if it.type == "function_call"]
        self.previous = answer.id
        self.input = [{"type": "function_call_output", "call_id": call.call_id, "output": text}]


class Messages:
    def __init__(self):
        from anthropic import Anthropic

        self.client = Anthropic(base_url=url, api_key="none")
        self.once = self.client.with_options(max_retries=0)
        self.tools = [{"name": "get_weather", "input_schema": schema}]
        self.messages = [{"role": "user", "content": "Oslo?"}]

    def ask(self, client):
        request = {"model": "claude", "messages": self.messages, "tools": self.tools}
        if not stream:
            return valid(client.messages.create(**request, max_tokens=100))
        with client.messages.stream(**request, max_tokens=100) as events:
            for event in events:
                valid(event)
            return events.get_final_message()

    def read(self, answer):
        texts = [block.text for block in answer.content if block.type == "text"]
        calls = [block for block in answer.content if block.type == "tool_use"]
        refused = answer.stop_reason == "refusal"
        text = "".join(texts) or None
        return {
            "text": None if refused else text, "refusal": text if refused else None,
            "stop": answer.stop_reason, "calls": [[call.name, call.input] for call in calls],
            "usage": [answer.usage.input_tokens, answer.usage.output_tokens]}

    def add_result(self, answer, text):
        [call] = [block for block in answer.content if block.type == "tool_use"]
        self.messages += [
            {"role": "assistant", "content": [block.to_dict() for block in answer.content]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": call.id, "content": text}]}]

    def other_requests(self):
        count = self.client.messages.count_tokens(
            model="claude", messages=self.messages, tools=self.tools)
        return {
            "tokens": valid(count).input_tokens > 0,
            "models": [valid(it).id for it in self.client.models.list()],
            "model": valid(self.client.models.retrieve("claude")).id}


class Gemini:
    def __init__(self):
        from google import genai
        from google.genai import types

        def client(attempts):
            retry = types.HttpRetryOptions(attempts=attempts, initial_delay=0.01)
            options = types.HttpOptions(base_url=url, retry_options=retry)
            return genai.Client(api_key="none", http_options=options)

        self.client, self.once, self.types = client(2), client(1), types
        declaration = types.FunctionDeclaration(name="get_weather", parameters_json_schema=schema)
        self.config = types.GenerateContentConfig(
            tools=[types.Tool(function_declarations=[declaration])])
        self.contents = [types.Content(role="user", parts=[types.Part(text="Oslo?")])]

    def ask(self, client):
        request = {"model": "gemini", "contents": self.contents, "config": self.config}
        if not stream:
            return client.models.generate_content(**request)
        chunks = list(client.models.generate_content_stream(**request))
        last = chunks[-1]
        parts = [
            part for chunk in chunks if chunk.candidates[0].content
            for part in chunk.candidates[0].content.parts]
        last.candidates[0].content = self.types.Content(role="model", parts=parts)
        return last

    def read(self, answer):
        [candidate] = answer.candidates
        parts = candidate.content.parts if candidate.content else []
        calls = [part.function_call for part in parts if part.function_call]
        usage = answer.usage_metadata
        return {
            "text": "".join(part.text or "" for part in parts) or None,
            # The client drops the message with the reason.
            "refusal": None, "stop": candidate.finish_reason.value,
            "calls": [[call.name, call.args] for call in calls],
            "usage": [usage.prompt_token_count, usage.candidates_token_count]}

    def add_result(self, answer, text):
        content = answer.candidates[0].content
        [call] = [part.function_call for part in content.parts if part.function_call]
        result = self.types.FunctionResponse(
            id=call.id, name=call.name, response={"output": text})
        part = self.types.Part(function_response=result)
        self.contents += [content, self.types.Content(role="user", parts=[part])]

    def other_requests(self):
        count = self.client.models.count_tokens(model="gemini", contents="Oslo?")
        return {
            "tokens": count.total_tokens > 0,
            "models": [it.name for it in self.client.models.list()],
            "model": self.client.models.get(model="gemini").name}


clients = {
    "chat_completions": ChatCompletions, "responses": Responses, "messages": Messages,
    "gemini": Gemini}
peer = clients[api]()


def error():
    try:
        return peer.read(peer.ask(peer.once))
    except Exception as error:
        status = getattr(error, "status_code", getattr(error, "code", None))
        return [type(error).__name__, status, str(error)]


answers = [peer.read(peer.ask(peer.once)) for _ in range(5)]
retried = peer.read(peer.ask(peer.client))
errors = [error() for _ in range(8)]
call = peer.ask(peer.once)
peer.add_result(call, "15 degrees")
print(json.dumps({
    "answers": answers, "retried": retried["text"], "errors": errors,
    "conversation": peer.read(peer.ask(peer.once))["text"],
    "others": peer.other_requests(),
}))
