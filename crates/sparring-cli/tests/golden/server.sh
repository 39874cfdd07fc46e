# A small server for the golden tests: every feature once, by hand.

answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
refuse() { printf '{"jsonrpc":"2.0","id":%s,"error":%s}\n' "$id" "$1"; }
text() { answer "{\"content\":[{\"type\":\"text\",\"text\":$1}]}"; }

message='{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}'
numbers='{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}'
total='{"type":"object","properties":{"total":{"type":"number"}},"required":["total"]}'
any='{"type":"object"}'

while read -r line; do
  id=${line#*\"id\":}
  id=${id%%[,\}]*}
  case $line in
  *'"method":"initialize"'*)
    answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{},"prompts":{},"completions":{}},"serverInfo":{"name":"golden","version":"1.0"}}' ;;
  *'"method":"notifications/'*) ;;
  *'"method":"ping"'*) answer '{}' ;;

  *'"method":"tools/list"'*'"cursor":"more"'*)
    answer "{\"tools\":[{\"name\":\"wrong\",\"description\":\"Breaks its output schema\",\"inputSchema\":$any,\"outputSchema\":$total},{\"name\":\"bare\",\"inputSchema\":$any,\"outputSchema\":$total}]}" ;;
  *'"method":"tools/list"'*)
    answer "{\"tools\":[{\"name\":\"echo\",\"description\":\"Says it again\\nand this is not shown\",\"inputSchema\":$message,\"x-unknown\":1},{\"name\":\"sum\",\"description\":\"Adds two numbers\",\"inputSchema\":$numbers,\"outputSchema\":$total},{\"name\":\"media\",\"title\":\"Every kind of content\",\"inputSchema\":$any},{\"name\":\"fail\",\"inputSchema\":$any}],\"nextCursor\":\"more\"}" ;;
  *'"name":"echo"'*)
    said=${line#*\"message\":}
    text "${said%%\}*}" ;;
  *'"name":"sum"'*)
    answer '{"content":[{"type":"text","text":"{\"total\": 5}"}],"structuredContent":{"total":5}}' ;;
  *'"name":"wrong"'*)
    answer '{"content":[],"structuredContent":{"total":"five"}}' ;;
  *'"name":"bare"'*) text '"no structure"' ;;
  *'"name":"fail"'*)
    answer '{"content":[{"type":"text","text":"the disk is full"}],"isError":true}' ;;
  *'"name":"media"'*)
    answer '{"content":[{"type":"text","text":"Here:"},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"},{"type":"audio","data":"UklGRg==","mimeType":"audio/wav"},{"type":"resource","resource":{"uri":"memo://1","mimeType":"text/plain","text":"a memo"}},{"type":"resource","resource":{"uri":"memo://2","mimeType":"application/zip","blob":"UEsDBA=="}},{"type":"resource_link","uri":"memo://3","name":"third","mimeType":"text/html"}]}' ;;
  *'"method":"tools/call"'*)
    refuse '{"code":-32602,"message":"Unknown tool","data":{"known":["echo","sum"]}}' ;;

  *'"method":"resources/list"'*)
    answer '{"resources":[{"uri":"memo://1","name":"first","mimeType":"text/plain","description":"A memo"},{"uri":"memo://both","name":"both"}]}' ;;
  *'"method":"resources/templates/list"'*)
    answer '{"resourceTemplates":[{"uriTemplate":"memo://{number}","name":"memo"}]}' ;;
  *'"uri":"memo://1"'*)
    answer '{"contents":[{"uri":"memo://1","mimeType":"text/plain","text":"a memo\nof two lines\n"}]}' ;;
  *'"uri":"memo://both"'*)
    answer '{"contents":[{"uri":"memo://1","text":"a memo"},{"uri":"memo://2","mimeType":"application/zip","blob":"UEsDBA=="}]}' ;;
  *'"method":"resources/read"'*)
    refuse '{"code":-32002,"message":"Resource not found"}' ;;

  *'"method":"prompts/list"'*)
    answer '{"prompts":[{"name":"greeting","description":"Greets somebody","arguments":[{"name":"name","required":true},{"name":"tone"}]},{"name":"plain"}]}' ;;
  *'"name":"greeting"'*'"method":"prompts/get"'* | *'"method":"prompts/get"'*'"name":"greeting"'*)
    answer '{"description":"Greets somebody","messages":[{"role":"user","content":{"type":"text","text":"Greet Ada.\nBe formal."}},{"role":"assistant","content":{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}}]}' ;;
  *'"method":"prompts/get"'*)
    refuse '{"code":-32602,"message":"Unknown prompt"}' ;;

  *'"method":"completion/complete"'*'"context"'*)
    answer '{"completion":{"values":["flask","fastapi"],"total":12,"hasMore":true}}' ;;
  *'"method":"completion/complete"'*'"ref/prompt"'*)
    answer '{"completion":{"values":["formal","forward"]}}' ;;
  *'"method":"completion/complete"'*)
    answer '{"completion":{"values":[]}}' ;;
  *) refuse '{"code":-32601,"message":"Method not found"}' ;;
  esac
done
