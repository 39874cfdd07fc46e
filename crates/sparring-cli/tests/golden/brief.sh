# Runs a command, and leaves out of the stories of failures what the next
# reader would see again and again: the frames, how to run a test alone, ports.
"$@" > "$TMP/out"
status=$?
sed -e '/^what was said:$/d' -e '/^  -> /d' -e '/^  <- /d' \
    -e '/^again:$/d' -e '/^  spar test /d' \
    -e 's/127\.0\.0\.1:[0-9]*/127.0.0.1:[PORT]/g' -e 's/of which [0-9]* bytes/of which [N] bytes/' \
    "$TMP/out"
exit $status
