#!/bin/sh
# format.sh SOURCE BUILD - every C file is as clang-format leaves it (.clang-format says how).
set -eu
cd "$1"
if ! command -v clang-format > /dev/null; then
	echo "skipped: no clang-format"
	exit 0
fi
# what git knows; in an unpacked tarball, what is there
files=$(git ls-files '*.c' '*.h' 2> /dev/null) || files=
[ -n "$files" ] || files=$(find bench ctl daemon lib reports tests trainers -name '*.[ch]')
# shellcheck disable=SC2086 # names without blanks
clang-format --dry-run --Werror $files
