# Stands in for an agent, so that there is something to record and to replay at once. Put your own command in the spec.
#
# An agent that asks a model needs none of this: let its client use $OPENAI_BASE_URL, and its tools are seen in the
# conversation. One that has no model, like this one, says what it does in $TRAJECTLY_EVENTS_FILE, one JSON object a line.

tool() {
    printf '{"event_type":"tool_called","payload":{"tool_name":"%s","input":{"args":[],"kwargs":%s}}}\n' "$1" "$2"
    printf '{"event_type":"tool_returned","payload":{"tool_name":"%s","output":%s}}\n' "$1" "$3"
} >>"${TRAJECTLY_EVENTS_FILE:-/dev/null}"

tool fetch_ticket '{"id":"T-1042"}' '"Since 07:40 every card payment fails."'
tool store_priority '{"id":"T-1042","priority":"high"}' null
