# Runs a command, and removes from failed tests what differs or repeats: the frames,
# the command that reruns a test, and ports.
"$@" > "$TMP/out"
status=$?
awk '/^(traffic|rerun):$/ { block = 1; next } block && /^  / { next } { block = 0; print }' "$TMP/out" |
    sed -e 's/127\.0\.0\.1:[0-9]*/127.0.0.1:[PORT]/g' -e 's/of which [0-9]* bytes/of which [N] bytes/'
exit $status
