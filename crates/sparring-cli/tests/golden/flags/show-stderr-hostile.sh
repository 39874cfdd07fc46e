printf 'a\033[2Jb \342\200\256c \233d\n  ::error::e ##[error]f\n' >&2
. ../server.sh
