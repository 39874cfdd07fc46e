echo "a banner"
. ../server.sh
