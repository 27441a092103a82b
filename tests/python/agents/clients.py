"""The adapters of the public Python SDK, around a client that asks where OpenAI's does, and around other frameworks'."""

import json
import os
import urllib.request
from types import SimpleNamespace

from trajectly.sdk import invoke_tool_call, langchain_invoke, openai_chat_completion


class Said(dict):
    """An answer with attributes, as clients have, that the SDK can write down."""

    __getattr__ = dict.__getitem__


def create(*, model, messages):
    body = json.dumps({"model": model, "messages": messages}).encode()
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
    with urllib.request.urlopen(request) as response:
        return json.load(response, object_hook=Said)


client = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
messages = [{"role": "user", "content": "Where is order O-7?"}]

answer = openai_chat_completion(client, model="gpt-4o-mini", messages=messages)
assert answer["response"] == "It is on its way.", answer
chain = SimpleNamespace(invoke=lambda question: {"response": "chained: " + question})
langchain_invoke(chain, answer["response"])
assert invoke_tool_call("note", lambda text: len(text), answer["response"]) == 17
# The same client as it is: the session alone sees this one.
if os.environ.get("EDIT") != "no plain call":
    create(model="gpt-4o-mini", messages=messages + [{"role": "user", "content": "And O-8?"}])
