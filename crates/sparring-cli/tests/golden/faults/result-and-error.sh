. ../handshake.sh
echo '{"jsonrpc":"2.0","id":2,"result":{},"error":{"code":1,"message":"m"}}'
while read -r line; do :; done
