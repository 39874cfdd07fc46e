# A stand-in for docker and podman: tells the state in STATE, or else SAYS why
# not; its exec says what is in EXEC and exits with CODE, or else is the shared
# server. What it is asked for is written down.
echo "${0##*/} $*" | sed 's/SPAR_EXEC=[0-9a-f]*/SPAR_EXEC=[MARK]/' >>"$TMP/asked"
case "$*" in
*inspect*)
    if [ -z "$STATE" ]; then
        echo "$SAYS" >&2
        exit 1
    fi
    echo "$STATE"
    ;;
*'exec -i'*)
    if [ -n "$EXEC" ]; then
        echo "$EXEC" >&2
        exit "$CODE"
    fi
    . ../server.sh
    ;;
esac
