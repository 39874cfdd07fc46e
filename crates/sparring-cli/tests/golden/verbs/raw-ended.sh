read -r line
echo 'so long'
echo 'cannot read that' >&2
exit 4
