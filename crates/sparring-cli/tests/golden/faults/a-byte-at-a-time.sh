. ../handshake.sh
printf '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"slow"}]}}\n' |
  while IFS= read -r line; do
    while [ -n "$line" ]; do
      rest=${line#?}
      printf '%s' "${line%"$rest"}"
      line=$rest
    done
    echo
  done
while read -r line; do :; done
