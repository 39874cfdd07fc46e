echo "cannot open the config" >&2
exit 3
