. ../handshake.sh
i=0
while [ $i -lt 50 ]; do
  echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
  i=$((i + 1))
done
echo '{"jsonrpc":"2.0","id":77,"result":{}}'
echo '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"at last"}]}}'
while read -r line; do :; done
