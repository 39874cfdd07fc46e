read -r hello
i=0
while [ $i -lt 1100 ]; do echo "banner $i"; i=$((i + 1)); done
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}'
read -r initialized
read -r asked
echo '{"jsonrpc":"2.0","id":2,"result":{}}'
while read -r line; do :; done
