#!/bin/sh
# A very small agent: it gives its task to the tool `get_data` of the one server
# that it knows, over HTTP or over stdio, says what came of it, and keeps it.
if [ -n "$MCP_URL" ]; then
  set -- --url "$MCP_URL"
else
  eval "set -- -- $MCP_COMMAND"
fi
task=$(cat)
mkdir -p "$OUT/kept"
"$SPAR" call get_data task_description="$task" --json "$@" > "$OUT/kept/result.json"
status=$?
sed -n 's/.*"text":"\([^"]*\)".*/\1/p' "$OUT/kept/result.json"
sed -n 's/.*"data":"\([^"]*\)".*/\1/p' "$OUT/kept/result.json" | base64 -d > "$OUT/kept/image.png"
[ -s "$OUT/kept/image.png" ] || rm "$OUT/kept/image.png"
exit $status
