. ../handshake.sh
head -c 10000000 /dev/zero | tr '\0' 'x' >&2
echo '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"above water"}]}}'
while read -r line; do :; done
