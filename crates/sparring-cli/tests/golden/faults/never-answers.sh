. ../handshake.sh
echo 'thinking' >&2
while read -r line; do :; done
