. ../handshake.sh
