. ../handshake.sh
printf '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"%s"}]}}\n' "$GREETING${EMPTY-unset}"
