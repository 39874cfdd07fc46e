# A server with one tool whose schema leads nowhere, and one that is good.

. ../handshake.sh
echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"find","inputSchema":{"type":"object","properties":{"where":{"$ref":"#/$defs/Place"}}}},{"name":"now","inputSchema":{"type":"object"}}]}}'
read -r end
