. ../../handshake.sh
