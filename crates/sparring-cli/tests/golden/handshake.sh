# Answers the handshake of `--protocol 2025-11-25`, then reads one request,
# whose id is 2.

read -r hello
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}'
read -r initialized
read -r asked
