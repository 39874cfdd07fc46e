. ../handshake.sh
echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{ "inputSchema":{"type":"object","properties":{"a":{"maximum":1e2,"minimum":12345678901234567890123.0}}}, "name":"\u0078"}]}}'
while read -r line; do :; done
