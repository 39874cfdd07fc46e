. ../handshake.sh
echo 'Traceback (most recent call last):'
while read -r line; do :; done
