. ../handshake.sh
echo '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"'"$(printf '%0200d' 0)"'"}]}}'
while read -r line; do :; done
