# A server whose one tool, `it`, has a hostile output schema. The argument names which.

case $1 in
alternatives)
  # Each level has two ways to the next one: 2 to the power of 40 in all.
  schema='{"type":"object","properties":{"x":{"$ref":"#/$defs/l0"}},"$defs":{'
  level=0
  while [ $level -lt 40 ]; do
    next=$((level + 1))
    schema="$schema\"l$level\":{\"anyOf\":[{\"\$ref\":\"#/\$defs/l$next\"},{\"\$ref\":\"#/\$defs/l$next\"}]},"
    level=$next
  done
  schema="$schema\"l40\":{\"type\":\"string\"}}}"
  value='{"x":1}' ;;
recursive)
  # Each level of the value can be read in six ways.
  any=''
  for kind in 1 2 3 4 5 6; do
    any="$any,{\"properties\":{\"below\":{\"\$ref\":\"#\"},\"kind\":{\"const\":\"$kind\"}},\"required\":[\"kind\"]}"
  done
  schema="{\"type\":\"object\",\"anyOf\":[${any#,}]}"
  value='{"kind":"none"}'
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
    value="{\"below\":$value,\"kind\":\"6\"}"
  done ;;
plain-pattern)
  schema='{"type":"object","properties":{"x":{"pattern":"^(a+)+$"}}}'
  value="{\"x\":\"$(head -c 100000 /dev/zero | tr '\0' a)!\"}" ;;
backtracking-pattern)
  schema='{"type":"object","properties":{"x":{"pattern":"^(?:(?=a)a+)+$"}}}'
  value='{"x":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}' ;;
huge-enum)
  schema="{\"type\":\"object\",\"properties\":{\"x\":{\"enum\":[\"a\"$(seq -f ',"%09.0f"' 800000 | tr -d '\n')]}}}"
  value='{"x":"b"}' ;;
loop)
  schema='{"type":"object","properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}}}'
  value='{"x":1}' ;;
remote)
  schema='{"type":"object","properties":{"x":{"$ref":"http://127.0.0.1:9/schema.json"}}}'
  value='{"x":1}' ;;
file)
  schema='{"type":"object","properties":{"x":{"$ref":"file:///etc/hostname"}}}'
  value='{"x":1}' ;;
esac

while read -r line; do
  id=${line#*\"id\":}
  id=${id%%[,\}]*}
  case $line in
  *'"method":"initialize"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"hostile","version":"1.0"}}}\n' "$id" ;;
  *'"method":"tools/list"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"it","inputSchema":{"type":"object"},"outputSchema":%s}]}}\n' "$id" "$schema" ;;
  *'"method":"tools/call"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":%s}}\n' "$id" "$value" ;;
  esac
done
