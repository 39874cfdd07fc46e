. ../handshake.sh
printf '{"jsonrpc":"2.0","id":2,"result":{"x":"'
head -c 100000000 /dev/zero | tr '\0' 'x'
echo '"}}'
while read -r line; do :; done
