"""An agent of the public Python SDK: sync and async tools, models, steps and errors.

What it does beyond the usual stands in $EDIT. A tool that really runs says so in $JOURNAL.
"""

import asyncio
import os

from trajectly.sdk import agent_step, llm_call, tool

EDIT = os.environ.get("EDIT", "")


def ran(name):
    with open(os.environ["JOURNAL"], "a", encoding="utf-8") as journal:
        journal.write(name + "\n")


@tool("find_order")
def find_order(order_id):
    ran("find_order")
    if order_id == "O-0":
        raise LookupError("there is no order O-0")
    return {"id": order_id, "cents": 1250, "ratio": 0.1, "tags": ["gift", "späte Lieferung"]}


@tool("price")
async def price(cents, *, currency):
    ran("price")
    await asyncio.sleep(0)
    return f"{cents / 100:.2f} {currency}"


@tool("refund")
def refund(order_id, cents):
    ran("refund")
    return {"refunded": cents}


@tool("delete_order")
def delete_order(order_id):
    ran("delete_order")
    return True


@llm_call(provider="acme", model="small")
def ask(prompt):
    ran("ask")
    return {"response": f"answer to: {prompt}", "usage": {"total_tokens": 12}, "note": "kept"}


@llm_call(provider="acme", model="large")
async def ask_more(prompt):
    ran("ask_more")
    return {"response": f"long answer to: {prompt}", "usage": {"total_tokens": 40}}


async def work():
    agent_step("begin", {"edit": "none"})
    order = find_order("O-7")
    try:
        find_order("O-0")
    except (LookupError, RuntimeError) as error:
        agent_step("not found", {"error": str(error)})
    shown = await price(order["cents"], currency="EUR")
    answer = ask(f"refund {shown}?" if EDIT != "prompt" else f"may I refund {shown}?")
    assert answer["note"] == "kept", answer
    if EDIT == "more":
        ask("once more?")
    if EDIT == "other model":
        await ask_more("anything?")
    if EDIT == "exhaust":
        find_order("O-7")
    if EDIT == "new tool":
        delete_order("O-7")
    if EDIT == "swallow":
        try:
            delete_order("O-7")
        except RuntimeError:
            pass
    if EDIT != "no refund":
        refund("O-7", 1250 if EDIT != "amount" else 99)


asyncio.run(work())
