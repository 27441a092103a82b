"""A model triages a ticket with two tools: it reads the ticket, and files it under a priority."""

import sys
from typing import Literal

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

MODEL = "gpt-4o-mini"
MAX_TURNS = 6
INSTRUCTIONS = (
    "You triage support tickets. Fetch the ticket, store its priority, then say in one sentence what you did. "
    "high: customers cannot work or lose money now. normal: it can wait a day. low: a question."
)


# Trajectly sees the calls in the conversation and judges them. It does not replay them: in a test, too, the tools run.
@tool
def fetch_ticket(ticket_id: str) -> str:
    """Reads a ticket"""
    if ticket_id == "T-1042":
        return "Since 07:40 every card payment fails. Please fix this today."
    return f"error: there is no ticket {ticket_id}"


@tool
def store_triage(ticket_id: str, priority: Literal["low", "normal", "high"]) -> str:
    """Files a ticket under its priority"""
    return f"{ticket_id} is filed as {priority}"


def triage(ticket_id: str) -> str:
    """Triages a ticket, and returns what the model says of it."""
    tools = {tool.name: tool for tool in [fetch_ticket, store_triage]}
    # Reads OPENAI_API_KEY, and OPENAI_BASE_URL, which a test sets.
    model = ChatOpenAI(model=MODEL, temperature=0).bind_tools(list(tools.values()))
    messages = [SystemMessage(INSTRUCTIONS), HumanMessage(f"Triage ticket {ticket_id}.")]
    for _ in range(MAX_TURNS):
        answer = model.invoke(messages)
        if not answer.tool_calls:
            return answer.text
        messages.append(answer)
        messages.extend(tools[call["name"]].invoke(call) for call in answer.tool_calls)
    raise RuntimeError(f"the model did not come to an end within {MAX_TURNS} turns")


if __name__ == "__main__":
    print(triage(sys.argv[1]))
