# Replaces docker and podman: the container `mine` runs, and each program in it is answers.sh.
case "$*" in
*inspect*' mine') echo '{"Status":"running","Running":true}' ;;
*'exec -i'*) . tests/answers.sh ;;
*) echo "no such container" >&2; exit 1 ;;
esac
