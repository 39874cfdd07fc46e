read -r line
echo "you said $line"
echo '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}'
while read -r line; do :; done
