read -r line
echo "got: $line" >&2
echo '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"first"}}'
echo '{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete"}}'
echo '{"jsonrpc":"2.0","method":"notifications/never-shown"}'
while read -r line; do :; done
