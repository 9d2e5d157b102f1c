#!/bin/sh
# ntfy.sh URL [TOKENFILE] - a hook of dparetod: a notification on phones and desktops by ntfy
# (https://ntfy.sh, or a server of your own).
#
#   URL        of the topic, https://ntfy.sh/TOPIC, or @FILE whose first line it is. Who knows the
#              name of a topic may read it, unless the server asks for tokens: choose one that
#              cannot be guessed.
#   TOKENFILE  its first line is an access token of ntfy
#
# Needs sh, curl, jq and webhook.sh beside it, which sends. Title and text are values of a JSON object
# and never headers, so that nothing in them can become one.
set -eu

fail() {
	echo "ntfy.sh: $*" >&2
	exit 1
}

[ $# -eq 1 ] || [ $# -eq 2 ] || fail "usage: ntfy.sh https://SERVER/TOPIC|@FILE [TOKENFILE]"
command -v jq >/dev/null || fail "jq is not installed"
webhook=$(dirname "$0")/webhook.sh
[ -x "$webhook" ] || fail "$webhook is missing or cannot be executed"

url=$1
case $url in @*)
	[ -r "${url#@}" ] || fail "cannot read the file ${url#@}"
	IFS= read -r url <"${url#@}" || [ -n "$url" ] || fail "the file ${1#@} is empty"
	;;
esac
topic=${url##*/}
server=${url%/*}
case $topic in '' | *[!A-Za-z0-9_-]*) fail "the address must end with the name of a topic" ;; esac
case $server in https://?* | http://?*) ;; *) fail "the address must be https://SERVER/TOPIC" ;; esac

# Priorities are 1 to 5, 3 being the usual one. Tags that ntfy knows are shown as pictures. A message
# of more than 4096 bytes would become an attachment.
# shellcheck disable=SC2016 # it is jq that expands it
filter='
if type != "object" or (.event | type) != "string" then error("no event") else . end |
{"finished":     {"priority": 3, "tag": "white_check_mark", "said": "has finished"},
 "failed":       {"priority": 4, "tag": "rotating_light", "said": "has failed"},
 "paused":       {"priority": 4, "tag": "warning", "said": "is paused"},
 "resumed":      {"priority": 2, "tag": "arrow_forward", "said": "goes on"},
 "trial-failed": {"priority": 2, "tag": "x", "said": "has a failed trial"},
 "disk-low":     {"priority": 5, "tag": "floppy_disk", "said": "the disk is low"},
 "started":      {"priority": 2, "tag": "arrow_forward", "said": "has started"}} as $kinds
| ($kinds[.event] // {"priority": 3, "tag": "bell", "said": .event}) as $kind
| [(if .study then "\(.evaluations) evaluations, \(.failed) failed" +
		(if .hypervolume then ", hypervolume \(.hypervolume)" else "" end) else empty end),
   (if .trial then "trial \(.trial): \(.class)" else empty end), .reason // empty, .report // empty]
	as $lines
| {"topic": $topic, "priority": $kind.priority, "tags": [$kind.tag, "dpareto"],
   "title": ("\($host): " + (if .study then "\(.study) " else "dparetod: " end) + "\($kind.said)")[:200],
   "message": ($lines | join("\n"))[:1000]}
| if .message == "" then .message = .title else . end'
message=$(jq -c --arg topic "$topic" --arg host "$(uname -n)" "$filter") ||
	fail "standard input is not a JSON object of dparetod"
[ -n "$message" ] || fail "nothing to tell: standard input has no JSON object"

# The address goes on without being an argument that other users could see.
umask 077
address=$(mktemp)
trap 'rm -f "$address"' EXIT
printf '%s/\n' "$server" >"$address"
shift
printf '%s\n' "$message" | "$webhook" "@$address" "$@"
