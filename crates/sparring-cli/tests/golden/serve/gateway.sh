# Serves the gateway over HTTP with more flags while a command line runs that finds it at $URL.
mkfifo "$TMP/address"
spar serve --config mcp.json --allow mcp__helper --quiet --http 127.0.0.1:0 $1 > "$TMP/address" &
gateway=$!
read -r URL < "$TMP/address"
export URL
(eval "$2") > "$TMP/told" 2> "$TMP/noted"
status=$?
kill $gateway
wait $gateway
host=${URL#http://}
host=${host%%/*}
sed "s/$host/[HOST]/g" "$TMP/told"
sed "s/$host/[HOST]/g" "$TMP/noted" >&2
exit $status
