# Runs a command, and removes from failed tests what differs or repeats: the frames,
# the command that reruns a test, and ports.
"$@" > "$TMP/out"
status=$?
sed -e '/^traffic:$/d' -e '/^  -> /d' -e '/^  <- /d' \
    -e '/^rerun:$/d' -e '/^  spar test /d' \
    -e 's/127\.0\.0\.1:[0-9]*/127.0.0.1:[PORT]/g' -e 's/of which [0-9]* bytes/of which [N] bytes/' \
    "$TMP/out"
exit $status
