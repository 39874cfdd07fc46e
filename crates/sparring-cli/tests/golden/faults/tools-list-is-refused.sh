. ../handshake.sh
echo '{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no list today"}}'
read -r call
echo '{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"but a call"}]}}'
while read -r line; do :; done
