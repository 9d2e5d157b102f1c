#!/bin/sh
# ssh.sh [-c] HOST COMMAND... - runs a trainer on another machine.
#
# Without -c the attempt's folder and the study's must be there under the same paths (a shared file
# system). With -c nothing is shared: the request goes there and the results come back when the
# trainer has ended, through the one connection; the command and its data must be there already.
# NODE of the environment, where it is set, is taken instead of HOST.
#
# The connection's input is a leash. It ends when we are told to stop, are killed, or the network
# fails; whatever it was, the other side then sends TERM to the trainer and everything that it has
# started, and KILL after GRACE seconds (8; let trainer.grace be more).
set -eu

folder=$(dirname "$DPARETO_REQUEST") copy=
if [ "$1" = -c ]; then
	copy=yes folder=
	shift
fi
host=${NODE:-$1}
shift

# What runs there: in the folder $1, or in one of its own if that is empty; with the grace $2.
# shellcheck disable=SC2016 # it is the shell there that expands it
there='
folder=$1 grace=$2 own= killer=
shift 2
exec 3<&0 4>&1 </dev/null
if [ -z "$folder" ]; then
	exec >&2
	folder=$(mktemp -d) && IFS= read -r request <&3 || exit 255
	own=$folder
	printf "%s\n" "$request" >"$folder/request.json"
	export DPARETO_REQUEST="$folder/request.json" DPARETO_RESULT="$folder/result.jsonl"
fi
cd "$folder" || exit 255
setsid "$@" 3<&- 4>&- &
trainer=$!
trap "kill -TERM -$trainer; setsid sh -c \"sleep $grace; kill -KILL -$trainer\" >/dev/null 2>&1 4>&- & killer=\$!" TERM
{ cat <&3; kill -TERM $$; } >/dev/null 2>&1 4>&- &
leash=$!
while wait $trainer; code=$?; kill -0 $trainer 2>/dev/null; do :; done
kill $leash
kill -KILL -$trainer ${killer:+$killer -$killer} 2>/dev/null
if [ -n "$own" ]; then
	cat result.jsonl >&4
	cd / && rm -rf "$own"
fi
exit $code
'

# A word as the shell there reads it back.
quote() {
	printf "'%s' " "$(printf %s "$1" | sed "s/'/'\\\\''/g")"
}
words="env "
for name in STUDY TRIAL ATTEMPT STUDY_DIR REQUEST RESULT; do
	words="$words$(quote "DPARETO_$name=$(printenv "DPARETO_$name")")"
done
for word in sh -c "$there" sh "$folder" "${GRACE:-8}" "$@"; do
	words="$words$(quote "$word")"
done

# TERM is for us alone: ssh must stay until the other side is done.
leash=$(mktemp -d)
mkfifo "$leash/fifo"
(
	trap '' TERM
	[ -z "$copy" ] || exec >>"$DPARETO_RESULT"
	exec ssh -o BatchMode=yes -o ServerAliveInterval=15 "$host" "$words" <"$leash/fifo"
) &
ssh=$!
exec 3>"$leash/fifo"
rm -r "$leash"
trap 'exec 3>&-' TERM
[ -z "$copy" ] || cat "$DPARETO_REQUEST" >&3
while
	code=0
	wait $ssh || code=$?
	kill -0 $ssh 2>/dev/null
do :; done
# 255 is the connection's failure, not the trainer's: let it be tried again.
[ $code -ne 255 ] || exit 143
exit $code
