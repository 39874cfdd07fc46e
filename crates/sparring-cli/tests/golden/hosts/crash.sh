# A server that lists a tool twice, and crashes when another one is called.
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case $line in
  *'"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"box","version":"1"}}' ;;
  *'"tools/list"'*) result='{"tools":[{"name":"crash","inputSchema":{"type":"object"}},{"name":"twice","inputSchema":{"type":"object"}},{"name":"twice","inputSchema":{"type":"object"}}]}' ;;
  *'"tools/call"'*) echo 'no more paper' >&2; exit 7 ;;
  *) continue ;;
  esac
  echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$result}"
done
