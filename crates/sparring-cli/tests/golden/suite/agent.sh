# Gives its first argument to the tool get_data, and says what came of it.
task=$1
if [ -n "$URL" ]; then set -- --url "$URL"; else eval "set -- -- $COMMAND"; fi
exec "$SPAR" call get_data task_description="$task" --quiet "$@"
