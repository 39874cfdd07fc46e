. ../handshake.sh
echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"x","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}]}}'
read -r asked
echo '{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"done"}],"structuredContent":{"a":1e999,"b":[12345678901234567890123,1.0]}}}'
while read -r line; do :; done
