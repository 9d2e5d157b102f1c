#!/bin/sh
# package.sh SOURCE BUILD - packaging/debian, as far as it can be held to the tree without a build of
# packages (scripts/package, tests/package/run): version, dependencies, what goes where.
set -eu
cd "$1"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
: >"$tmp/faults"
debian=packaging/debian

fault() { echo "$*" >>"$tmp/faults"; }

# One version for all. NEWS.md may have a section of changes that are not released yet.
version=$(sed -n '1s/.*(\(.*\)-[^-]*).*/\1/p' $debian/changelog)
grep -Fq "AC_INIT([dpareto], [$version])" configure.ac ||
	fault "configure.ac has another version than $debian/changelog, $version"
grep '^## ' NEWS.md | grep -Fv '(unreleased)' | head -n 1 | grep -Fq "$version" ||
	fault "the first released version in NEWS.md is not $version"
grep -Fxq "__version__ = \"$version\"" trainers/python/dpareto.py ||
	fault "trainers/python/dpareto.py has another version than $debian/changelog, $version"

# Whatever is installed to build it by hand is a dependency of the package's build. debhelper brings
# the autotools; fonts are needed by who runs it.
sed -n '/^build="/,/"$/{s/^build=//; s/"//g; p}' scripts/install-deps | tr ' ' '\n' | grep -v '^$' |
	grep -Ev '^(build-essential|autoconf|automake|fonts-dejavu-core)$' >"$tmp/build"
[ -s "$tmp/build" ] || fault "scripts/install-deps was not understood"
sed -n '/^Build-Depends:/,/^$/p' $debian/control | tr -d ' ,' | sed 's/^Build-Depends://' >"$tmp/known"
while read -r name; do
	grep -Fxq "$name" "$tmp/known" || fault "$debian/control: Build-Depends lacks $name"
done <"$tmp/build"

# Every file that is installed belongs to a package, or is named as one that does not.
grep -hv '^#' $debian/*.install $debian/not-installed >"$tmp/placed"
grep -v '^#' tests/sh/installed | while read -r _ path; do
	case $path in lib/systemd/system/*) ;; *) path=usr/$path ;; esac
	while read -r place; do
		case $path in "$place" | "$place"/*) continue 2 ;; esac
	done <"$tmp/placed"
	fault "no package has $path: $debian/*.install"
done

for script in $debian/*.postinst $debian/*.prerm $debian/*.postrm $debian/tests/[!c]* scripts/package; do
	sh -n "$script" 2>"$tmp/said" || fault "$script: $(cat "$tmp/said")"
done
for script in $debian/rules $debian/tests/[!c]*; do
	[ -x "$script" ] || fault "$script cannot be executed"
done

if [ -s "$tmp/faults" ]; then
	sort -u "$tmp/faults"
	exit 1
fi
echo "packaging and tree agree"
