printf '\033[2J\033]0;title\007a\ttab and \302\233 more\r\n' >&2
exit 3
