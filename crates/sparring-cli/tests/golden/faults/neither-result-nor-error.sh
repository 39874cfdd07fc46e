. ../handshake.sh
echo '{"jsonrpc":"2.0","id":2}'
while read -r line; do :; done
