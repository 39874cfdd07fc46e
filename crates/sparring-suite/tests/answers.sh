cancelled=
while read -r line; do
id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/');
case "$line" in
*server/discover*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"no\"}}" ;;
*'"initialize"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"serverInfo\":{\"name\":\"sh\",\"version\":\"1\"}}}" ;;
*notifications/cancelled*) cancelled=$line ;;
*'"own/cancelled"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$cancelled}" ;;
*'"ping"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{}}" ;;
esac
done
