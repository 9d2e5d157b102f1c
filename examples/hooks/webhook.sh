#!/bin/sh
# webhook.sh [-j FILTER] URL [TOKENFILE] - a hook of dparetod: posts what it is told, one JSON object
# on standard input, to an address.
#
#   URL        http://... or https://..., or @FILE: the first line of a file that only the daemon
#              may read, for addresses that are secrets themselves
#   TOKENFILE  its first line is sent as "Authorization: Bearer ..."
#   -j FILTER  what jq makes of the object is sent instead: chat services want a shape of their own
#
# Needs sh and curl (7.55 or later); -j also jq. An address that does not answer is tried three times
# within about 25 seconds, less than the 30 that a hook has. Neither address nor token is ever
# printed or an argument of a command.
set -eu
LC_ALL=C # [!-~] below is ASCII
export LC_ALL
newline='
'

fail() {
	echo "webhook.sh: $*" >&2
	exit 1
}

first_line() {
	[ -r "$1" ] || fail "cannot read the file $1"
	line=
	IFS= read -r line <"$1" || [ -n "$line" ] || fail "the file $1 is empty"
	printf '%s\n' "$line"
}

filter=
if [ "${1-}" = -j ]; then
	filter=${2:?webhook.sh: -j needs a filter of jq}
	shift 2
	command -v jq >/dev/null || fail "jq is not installed, and -j needs it"
fi
[ $# -eq 1 ] || [ $# -eq 2 ] || fail "usage: webhook.sh [-j FILTER] URL|@FILE [TOKENFILE]"
command -v curl >/dev/null || fail "curl is not installed"

# Both go to curl as lines of a configuration, so neither may have what ends a string there.
url=$1
case $url in @*) url=$(first_line "${url#@}") ;; esac
case $url in
*[!!-~]* | *[\"\\]*) fail "the address has characters that must be written as %XX" ;;
http://?* | https://?*) ;;
*) fail "the address must begin with http:// or https://" ;;
esac
setup="url = \"$url\""
if [ $# -eq 2 ]; then
	token=$(first_line "$2")
	case $token in *[!!-~]* | *[\"\\]*) fail "the first line of $2 is not a token" ;; esac
	setup="$setup${newline}header = \"Authorization: Bearer $token\""
fi

body=$(cat)
[ -n "$body" ] || fail "nothing to tell: standard input has no JSON object"
if [ -n "$filter" ]; then
	body=$(printf '%s\n' "$body" | jq -c "$filter") || fail "jq could not apply the filter"
fi

# A redirection is not followed: a POST would become a GET, and the token go elsewhere. Curl waits
# 1 and 2 seconds between tries, or as long as the server asks if that is soon enough.
ended=0
answer=$(printf '%s\n' "$body" | curl -q -K /dev/fd/3 --globoff --silent --show-error --fail \
	--proto =http,https --header 'Content-Type: application/json' --data-binary @- \
	--connect-timeout 5 --max-time 7 --retry 2 --retry-connrefused --retry-max-time 18 \
	--output /dev/null --write-out '%{http_code}' 2>&1 3<<END
$setup
END
) || ended=$?
# The last line is the code, and the one before it why the last try failed.
code=${answer##*"$newline"}
why=${answer%"$newline"*}
[ $ended -eq 0 ] || fail "not delivered: ${why##*"$newline"}"
case $code in
2??) ;;
3??) fail "not delivered: answered with $code, a redirection; use the address it leads to" ;;
*) fail "not delivered: answered with $code" ;;
esac
