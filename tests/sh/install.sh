#!/bin/sh
# install.sh SOURCE BUILD - what `make install` installs: the files of tests/sh/installed and all
# of docs/ and examples/, with working links, and nothing else. The programs run where they
# are, also though the place is not that of the prefix.
set -eu
src=$(cd "$1" && pwd) build=$2
unset MAKEFLAGS MFLAGS MAKELEVEL
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
: >"$tmp/faults"

fault() { echo "$*" >>"$tmp/faults"; }

# Units where they are by default, wherever this build was told to put them.
prefix=$(sed -n 's/^prefix = //p' "$build/Makefile")
make -s -C "$build" install DESTDIR="$tmp/root" systemdsystemunitdir="$prefix/lib/systemd/system" \
	systemduserunitdir="$prefix/lib/systemd/user" >"$tmp/log" 2>&1 || {
	tail -20 "$tmp/log"
	exit 1
}
cd "$tmp/root$prefix"
doc=share/doc/dpareto

# Its kind and name: "x" can be executed, "-" cannot.
find . -type f -printf '%m %P\n' | sed 's/^755/x/; s/^644/-/' | sort -k2 >"$tmp/installed"
{
	grep -v '^#' "$src/tests/sh/installed"
	cd "$src"
	find docs examples -type f ! -path '*/__pycache__/*' ! -name '*.am' \
		\( -perm -u+x -printf "x $doc/%p\n" -o -printf "- $doc/%p\n" \)
} | sort -k2 >"$tmp/expected"
diff "$tmp/expected" "$tmp/installed" | sed -n 's/^</not installed so:/p; s/^>/not expected:/p' \
	>>"$tmp/faults"

# Links to other files, in prose or pictures.
find "$doc" -name '*.md' | while read -r page; do
	grep -oE '\]\([^)#: ]+' "$page" | sed 's/^](//' | sort -u | while read -r link; do
		[ -e "$(dirname "$page")/$link" ] || fault "$page: the link to $link leads nowhere"
	done
done

bin=$PWD/bin
"$bin/dparetoctl" doctor --socket "$tmp/none" >"$tmp/doctor" 2>&1 || true
grep -Eq "^ok +dpareto-shim +$PWD/libexec/dpareto/dpareto-shim" "$tmp/doctor" ||
	fault "dparetoctl does not find dpareto-shim: $(grep dpareto-shim "$tmp/doctor")"
"$bin/dparetoctl" run "$doc/examples/trainers/sh.yaml" --state "$tmp/state" >"$tmp/run" 2>&1 ||
	fault "an example does not run where it is installed: $(tail -3 "$tmp/run")"

if [ -s "$tmp/faults" ]; then
	sort -u "$tmp/faults"
	exit 1
fi
echo "$(wc -l <"$tmp/installed") files, as expected"
