"""Reads a trace, its meta and fixtures with the readers of the public Python tool, and prints what they made of them."""

import json
import sys
from pathlib import Path

from trajectly.canonical import sha256_of_data
from trajectly.events import compute_event_id, read_events_jsonl
from trajectly.fixtures import FixtureStore
from trajectly.trace.io import read_trace_meta

trace, meta, fixtures = map(Path, sys.argv[1:])
events = read_events_jsonl(trace)
entries = FixtureStore.load(fixtures).entries
print(
    json.dumps(
        {
            "types": [event.event_type for event in events],
            "ids_are_computed": all(event.event_id == compute_event_id(event) for event in events),
            "normalizer": read_trace_meta(meta).normalizer_version,
            "entries": [[entry.kind, entry.name] for entry in entries],
            "tool_hashes": all(
                entry.input_hash == sha256_of_data(entry.input_payload) for entry in entries if entry.kind == "tool"
            ),
        }
    )
)
