# Serves a mock, or with --llm an LLM endpoint, over HTTP while a command line runs that finds it at $URL.
mkfifo "$TMP/address"
spar mock $1 --http 127.0.0.1:0 > "$TMP/address" 2> "$TMP/mock" &
mock=$!
read -r URL < "$TMP/address"
export URL
host=${URL#http://}
host=${host%%/*}
(eval "$2") > "$TMP/told" 2> "$TMP/noted"
status=$?
kill $mock
wait $mock
hidden="s/$host/[HOST]/g; s/127.0.0.1%3A${host#*:}/[HOST]/g"
sed "$hidden" "$TMP/told"
sed "$hidden" "$TMP/noted" >&2
exit $status
