exec "$1" mock house.mock.yaml --var "greeting=$GREETING"
