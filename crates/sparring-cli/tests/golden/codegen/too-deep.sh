. ../handshake.sh
repeat() { i=0; while [ $i -lt 200 ]; do printf '%s' "$1"; i=$((i + 1)); done; }
printf '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"deep","inputSchema":{"a":'
repeat '{"a":'
printf '1'
repeat '}'
printf '}}]}}\n'
read -r end
