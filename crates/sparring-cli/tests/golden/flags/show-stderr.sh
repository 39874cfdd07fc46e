echo "a log line" >&2
. ../server.sh
