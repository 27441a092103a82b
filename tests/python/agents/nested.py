"""Calls inside of calls, and calls at the same time, of the public Python SDK.

A tool that really runs says so in $JOURNAL.
"""

import asyncio
import os

from trajectly.sdk import llm_call, tool


def ran(name):
    with open(os.environ["JOURNAL"], "a", encoding="utf-8") as journal:
        journal.write(name + "\n")


@tool("quote")
def quote(order_id):
    ran("quote")
    return {"order": lookup(order_id), "rate": rate("EUR"), "text": ask(order_id)["response"]}


@tool("lookup")
def lookup(order_id):
    ran("lookup")
    return order_id.lower()


@tool("rate")
def rate(currency):
    ran("rate")
    return {"currency": lookup(currency), "rate": 1.25}


@llm_call(provider="acme", model="small")
def ask(prompt):
    ran("ask")
    return {"response": f"about {prompt}", "usage": {"total_tokens": 5}}


# The first that is called is the last to return.
turns = []


@tool("slow")
async def slow(item):
    ran("slow")
    while "quick" not in turns:
        await asyncio.sleep(0)
    return f"slow {item}"


@tool("quick")
async def quick(item):
    ran("quick")
    turns.append("quick")
    return f"quick {item}"


async def work():
    assert quote("O-7") == {"order": "o-7", "rate": {"currency": "eur", "rate": 1.25}, "text": "about O-7"}
    assert await asyncio.gather(slow("a"), quick("b")) == ["slow a", "quick b"]
    assert lookup("LAST") == "last"


asyncio.run(work())
