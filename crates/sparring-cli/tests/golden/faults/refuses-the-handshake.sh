read -r hello
echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"not today"}}'
while read -r line; do :; done
