. ../handshake.sh
exec >&-
while read -r line; do :; done
