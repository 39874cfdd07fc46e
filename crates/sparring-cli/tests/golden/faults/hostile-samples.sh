# A server whose one tool, `it`, has a small input schema with very large values. The argument
# names which.

case $1 in
nested)
  # Ten values in each of twelve levels.
  schema='{"type":"string","minLength":1000}'
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
    schema="{\"type\":\"array\",\"minItems\":10,\"items\":$schema}"
  done
  schema="{\"type\":\"object\",\"properties\":{\"a\":$schema},\"required\":[\"a\"]}" ;;
wide)
  # An object with 26 objects of the same kind.
  names='' properties=''
  for name in a b c d e f g h i j k l m n o p q r s t u v w x y z; do
    names="$names,\"$name\"" properties="$properties,\"$name\":{\"\$ref\":\"#\"}"
  done
  schema="{\"type\":\"object\",\"required\":[${names#,}],\"properties\":{${properties#,}}}" ;;
endless)
  schema='{"type":"object","properties":{"a":{"type":"string","minLength":1000000000000},"b":{"type":"array","minItems":1000000000000,"items":{"type":"string","minLength":1000000000}}},"required":["a","b"]}' ;;
esac

while read -r line; do
  id=${line#*\"id\":}
  id=${id%%[,\}]*}
  case $line in
  *'"method":"initialize"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"hostile","version":"1"}}}\n' "$id" ;;
  *'"method":"notifications/'*) ;;
  *'"method":"ping"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id" ;;
  *'"method":"tools/list"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"it","description":"It.","inputSchema":%s,"annotations":{"readOnlyHint":true}}]}}\n' "$id" "$schema" ;;
  *'"method":"tools/call"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"ok"}]}}\n' "$id" ;;
  *)
    printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id" ;;
  esac
done
