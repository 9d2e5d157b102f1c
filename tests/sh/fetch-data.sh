#!/bin/sh
# fetch-data.sh SOURCE BUILD - scripts/fetch-data without a network: its usage, what it
# says when nothing answers, wrong files; and the real ones where DPARETO_DATA names them.
set -eu
fetch=$1/scripts/fetch-data
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# every address leads to a port where nobody listens
http_proxy=http://127.0.0.1:9 https_proxy=$http_proxy
HOME=$tmp/home FETCH_TIMEOUT=2
export http_proxy https_proxy HOME FETCH_TIMEOUT
unset XDG_DATA_HOME no_proxy NO_PROXY ALL_PROXY all_proxy

fault() {
	echo "fetch-data: $*"
	cat "$tmp/out"
	exit 1
}

# Runs it and expects the exit code $1.
expect() {
	want=$1
	shift
	code=0
	"$fetch" "$@" > "$tmp/out" 2>&1 || code=$?
	[ "$code" -eq "$want" ] || fault "$*: exit code $code, not $want"
}
says() { grep -Fq -- "$1" "$tmp/out" || fault "does not say: $1"; }

expect 0 --help
says 'usage: scripts/fetch-data'
expect 2 cifar
says "there is no option or data set 'cifar'"
expect 2 --dir
says '--dir needs a folder'
expect 1 adult --from "$tmp/nowhere"
says "there is no folder $tmp/nowhere"

# nothing answers: every file with its addresses, and what to do
expect 1 adult
says 'a1a.t'
says 'https://www.csie.ntu.edu.tw/'
says "scripts/fetch-data adult --from FOLDER --dir $HOME/.local/share/dpareto"
says '--data census'

# files that are not the published ones, or cut off, are not taken
mkdir -p "$tmp/bad/mnist"
echo wrong > "$tmp/bad/train-labels-idx1-ubyte"
printf '\037\213\010cut' > "$tmp/bad/mnist/t10k-labels-idx1-ubyte.gz"
expect 1 mnist --from "$tmp/bad" --dir "$tmp/to"
says 'train-labels-idx1-ubyte: not the published file'
says 't10k-labels-idx1-ubyte.gz: not the published file'
[ -z "$(find "$tmp/to" -type f)" ] || fault "took a wrong file"

if [ -z "${DPARETO_DATA:-}" ]; then
	echo "skipped: real files (DPARETO_DATA does not name them)"
	exit 0
fi
expect 0 all --from "$DPARETO_DATA" --dir "$tmp/real"
says "complete in $tmp/real"
[ "$(find "$tmp/real" -type f | wc -l)" -eq 10 ] || fault "not 10 files"
echo x >> "$tmp/real/adult/a9a"
rm "$tmp/real/adult/a1a"
gzip "$tmp/real/adult/a9a.t"
expect 0 adult --from "$DPARETO_DATA" --dir "$tmp/real"
[ "$(grep -c 'there already' "$tmp/out")" -eq 4 ] || fault "does not leave alone what is good"
says "a9a: $tmp/real/adult/a9a"
expect 0 --dir="$tmp/real" # needs no network when all is there
echo "fetch-data takes what is published and nothing else"
