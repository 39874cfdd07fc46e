echo "it goes wrong" >&2
exit 1
