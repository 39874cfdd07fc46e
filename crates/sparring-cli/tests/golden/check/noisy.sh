# Prints a line that is no message, and serves a mock.
echo "ready"
exec spar mock good.mock.yaml
