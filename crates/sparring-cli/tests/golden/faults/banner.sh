echo "Welcome to the server!"
. ../server.sh
