"""A model triages a ticket with two tools: it reads the ticket, and files it under a priority."""

import asyncio
import sys
from typing import Literal

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient

MODEL = "gpt-4o-mini"
MAX_TURNS = 6
INSTRUCTIONS = (
    "You triage support tickets. Fetch the ticket, store its priority, then say in one sentence what you did. "
    "high: customers cannot work or lose money now. normal: it can wait a day. low: a question."
)


# Trajectly sees the calls in the conversation and judges them. It does not replay them: in a test, too, the tools run.
def fetch_ticket(ticket_id: str) -> str:
    """Reads a ticket"""
    if ticket_id == "T-1042":
        return "Since 07:40 every card payment fails. Please fix this today."
    return f"error: there is no ticket {ticket_id}"


def store_triage(ticket_id: str, priority: Literal["low", "normal", "high"]) -> str:
    """Files a ticket under its priority"""
    return f"{ticket_id} is filed as {priority}"


async def triage(ticket_id: str) -> str:
    """Triages a ticket, and returns what the model says of it."""
    # Reads OPENAI_API_KEY, and OPENAI_BASE_URL, which a test sets.
    model = OpenAIChatCompletionClient(model=MODEL, temperature=0)
    agent = AssistantAgent(
        "triage",
        model_client=model,
        system_message=INSTRUCTIONS,
        tools=[fetch_ticket, store_triage],
        max_tool_iterations=MAX_TURNS,
    )
    result = await agent.run(task=f"Triage ticket {ticket_id}.")
    await model.close()
    return result.messages[-1].to_text()


if __name__ == "__main__":
    print(asyncio.run(triage(sys.argv[1])))
