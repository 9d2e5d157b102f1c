#!/bin/sh
# tree.sh SOURCE BUILD - the architecture, held: fails on an include that points upward, on
# a lib/ that prints or ends the program, on a header that changes how its includers are
# compiled, on function names that two files have, on file-scope variables in lib/ and on
# public names without the prefix. docs/architecture.md has the picture.
set -eu
src=$1 build=$(cd "$2" && pwd)
cd "$src"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
: > "$tmp/faults"

# Who may include whom, beside its own folder and lib/base. Of the daemon: core <- studies <-
# { executors, api, notify }, and what lies in daemon/ itself above all.
allowed() {
	case $1 in
	ctl) echo config.h ctl/commands journal privacy protocol/control ;;
	ctl/client) echo ctl journal protocol/control state ;;
	ctl/commands) echo ctl ctl/client ctl/support ctl/ui journal privacy protocol/control state study ;;
	ctl/support) echo compare ctl ctl/client ctl/ui journal journal/maintenance optimize/pareto privacy protocol/control study ;;
	ctl/ui) echo ctl ctl/client journal study ;;
	daemon) echo config.h daemon/api daemon/core daemon/executors daemon/notify daemon/studies linalg protocol/control ;;
	daemon/api) echo config.h daemon/core daemon/studies daemon/studies/proposals optimize/propose protocol/control state study ;;
	daemon/core) echo daemon/core/config config.h journal state ;;
	daemon/core/config) echo daemon/core study ;;
	daemon/executors) echo daemon/core daemon/studies daemon/studies/proposals protocol/trainer state study ;;
	daemon/executors/local) echo daemon/executors ;;
	daemon/executors/slurm) echo daemon/core daemon/core/config daemon/executors ;;
	daemon/notify) echo daemon/core daemon/core/config daemon/studies state ;;
	daemon/shim) echo config.h ;;
	daemon/studies) echo daemon/core daemon/studies/proposals optimize/history policy privacy/composition privacy/external state study ;;
	daemon/studies/proposals) echo daemon/core daemon/studies optimize/history optimize/propose state study ;;
	lib/base) ;;
	lib/compare) echo optimize/pareto study ;;
	lib/journal) echo journal/codec ;;
	lib/journal/codec) echo privacy/composition protocol/trainer study ;;
	lib/journal/maintenance) echo journal journal/store state study ;;
	lib/journal/store) echo journal ;;
	lib/linalg) ;;
	lib/optimize/gp) echo linalg ;;
	lib/optimize/history) echo optimize/pareto optimize/propose optimize/recommend policy privacy/composition state study ;;
	lib/optimize/pareto) ;;
	lib/optimize/propose) echo linalg optimize/gp optimize/pareto study ;;
	lib/optimize/recommend) echo linalg optimize/propose study ;;
	lib/policy) echo journal optimize/propose privacy/composition state study ;;
	lib/privacy) echo privacy/mechanisms ;;
	lib/privacy/accountants) echo privacy ;;
	lib/privacy/composition) echo privacy ;;
	lib/privacy/external) echo study ;;
	lib/privacy/mechanisms) echo privacy ;;
	lib/protocol/control) ;;
	lib/protocol/trainer) echo privacy ;;
	lib/state) echo journal journal/store optimize/pareto privacy/composition study ;;
	lib/study) echo privacy privacy/composition study/parse ;;
	lib/study/parse) echo study ;;
	reports) echo config.h linalg reports/model reports/text ;;
	reports/figures) echo optimize/pareto optimize/recommend reports/figures/common reports/model study ;;
	reports/figures/common) echo optimize/pareto reports/figures reports/model study ;;
	reports/model) echo compare config.h optimize/history optimize/pareto optimize/recommend privacy privacy/composition reports/figures reports/plot state study ;;
	reports/plot) ;;
	reports/plot/backends) echo reports/plot ;;
	reports/text) echo reports/model state study ;;
	serve) echo ctl ctl/client ctl/support ctl/ui reports/plot serve/data serve/figures serve/http ;;
	serve/data) echo ctl ctl/client ctl/support protocol/control ;;
	serve/figures) echo ctl ctl/support ctl/ui optimize/pareto reports/plot serve/data ;;
	serve/http) ;;
	trainers) echo config.h protocol/trainer trainers/learn ;;
	trainers/data) ;;
	trainers/learn) echo linalg protocol/trainer trainers/data trainers/noise ;;
	trainers/noise) ;;
	*) echo unknown ;;
	esac
}

# Source without comments; with "code", also without strings, so that words in
# them are not taken for code. Lines keep their numbers.
strip() {
	awk -v mode="$1" '
	{
		out = ""
		n = length($0)
		for (i = 1; i <= n; i++) {
			c = substr($0, i, 1)
			two = substr($0, i, 2)
			if (comment) {
				if (two == "*/") { comment = 0; i++ }
			} else if (quote != "") {
				if (c == "\\") {
					if (mode != "code") out = out two
					i++
				} else {
					if (mode != "code" || c == quote) out = out c
					if (c == quote) quote = ""
				}
			} else if (two == "/*") { comment = 1; i++; out = out " " }
			else if (two == "//") break
			else {
				if (c == "\"" || c == "\047") quote = c
				out = out c
			}
		}
		if (substr($0, n, 1) != "\\") quote = ""
		print out
	}' "$2"
}

find lib daemon ctl reports serve trainers -name '*.[ch]' -o -name '*.def' 2> "$tmp/missing" |
	sort > "$tmp/files"
[ -s "$tmp/files" ] || { echo "no sources below $src"; exit 1; }

while read -r file; do
	folder=${file%/*}
	own=${folder#lib/}
	may=" $(allowed "$folder" | tr '\n' ' ') $own base "
	case $may in *" unknown "*)
		echo "$file: tests/sh/tree.sh has no rule for the folder $folder" >> "$tmp/faults"
		continue ;;
	esac
	strip includes "$file" | awk -v file="$file" -v own="$own" -v may="$may" '
	function fault(what) { print file ":" NR ": " what }
	# what shares an _internal.h: a directory of lib/, or a program, and all below it
	function area(dir) {
		if (file ~ /^lib\// && match(dir, /^[a-z]+\/(propose|recommend|gp|pareto|history|trainer|control)/))
			return dir ~ /propose|recommend/ ? "propose" : dir
		sub(/\/.*/, "", dir)
		if (dir == "state") # open_readonly.c shares the store with lib/journal
			return "journal"
		return dir
	}
	!/^[ \t]*#[ \t]*include/ { next }
	/lmdb\.h/ && own !~ /^journal/ { fault("only lib/journal may know LMDB") }
	!/"/ { next }
	{
		split($0, part, "\"")
		target = part[2]
		folder = target
		sub(/\/[^\/]*$/, "", folder)
		if (file ~ "^daemon/shim" && target != "daemon/shim/shim.h" && target != "config.h")
			fault("the shim knows nothing but libc, and includes " target)
		else if (index(may, " " folder " ") == 0)
			fault("may not include " target)
		else if (target ~ /_internal\.h$/ && area(folder) != area(own))
			fault("may not include " target ", which is for " area(folder) " alone")
	}' >> "$tmp/faults"
	strip includes "$file" | sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\(.*\)".*/\1/p' |
	while read -r target; do
		for path in "$target" "lib/$target"; do
			[ ! -e "$path" ] || [ "${file%.*}" = "${path%.*}" ] ||
				echo "${file%.*} ${path%.*}" >> "$tmp/known"
		done
	done
	strip code "$file" > "$tmp/code"
	# Pragmas that change code are for a stretch of a header that ends in it. What a
	# macro holds is for its user to place.
	case $file in *.h)
		awk -v file="$file" '
		macro || /^[ \t]*#[ \t]*define/ { macro = /\\$/; next }
		!/^[ \t]*#[ \t]*pragma|^[ \t]*DP_KERNELS/ { next }
		/push_options|DP_KERNELS[ \t]*$/ { depth++; next }
		/pop_options|DP_KERNELS_END/ { depth--; next }
		/GCC[ \t]+(optimize|target|reset_options)|STDC[ \t]|float_control|clang[ \t]+(fp|optimize|attribute)/ && depth == 0 {
			print file ":" NR ": a header may not change how its includers are compiled"
		}
		END { if (depth != 0) print file ": push_options without pop_options" }
		' "$tmp/code" >> "$tmp/faults" ;;
	esac
	case $file in
	lib/study/gen_study_man.c) ;; # a program of the build, not of the library
	lib/base/alloc.c) ;; # the one place that ends the process: without memory
	lib/*)
		awk -v file="$file" '
		BEGIN {
			calls = "(v?f?printf|f?puts|f?putc|putchar|perror|_?_?exit|_Exit|quick_exit|abort|assert)"
		}
		match($0, "(^|[^A-Za-z0-9_.>])" calls "[ \t]*\\(") ||
		match($0, "(^|[^A-Za-z0-9_.>])(stdout|stderr)([^A-Za-z0-9_]|$)") {
			what = substr($0, RSTART, RLENGTH)
			gsub(/[^A-Za-z0-9_]/, "", what)
			print file ":" NR ": a library neither prints nor ends the program: " what
		}' "$tmp/code" >> "$tmp/faults" ;;
	esac
	# The functions it defines. Of those that are made by macros, as mlp_kernel_template.h makes
	# them, the name is not written out.
	awk -v file="$file" '
	/^[A-Za-z_].*\(/ && !/;/ {
		name = $0
		line = NR
		sub(/\(.*/, "", name)
		sub(/.*[ \t*]/, "", name)
	}
	/^\{/ {
		if (name ~ /^[A-Za-z_][A-Za-z0-9_]*$/ && name != "main" && name != "NAME")
			print name, file ":" line
	}
	/^[{}]/ { name = "" }' "$tmp/code" >> "$tmp/functions"
done < "$tmp/files"

# A module, a .c with the .h of its name, knows none that knows it, be it through others.
tsort "$tmp/known" 2>&1 > /dev/null |
	sed -n '/contains a loop/d; s/^tsort: \(.*[^:]\)$/\1/p' | tr '\n' ' ' |
	sed 's/ *$/: these modules include each other/' | grep / >> "$tmp/faults" || :

# Names one can grep: in these folders a function, static or not, is the only one of its
# name in all programs.
one_name='lib daemon ctl reports trainers'
sort -o "$tmp/functions" "$tmp/functions"
awk -v folders="$one_name" '
BEGIN { n = split(folders, folder, " ") }
function held(file,  i) {
	for (i = 1; i <= n; i++)
		if (index(file, folder[i] "/") == 1)
			return 1
	return 0
}
$1 == name && $2 != file {
	split(file, a, ":"); split($2, b, ":")
	if (a[1] != b[1] && (held(file) || held($2)))
		print $2 ": the function " name " has the name of one in " file
}
{ name = $1; file = $2 }' "$tmp/functions" >> "$tmp/faults"

# What the compiler made of it. Sanitizers and coverage bring symbols of their own.
# Variables: everything writable but tables of pointers, which the loader seals.
look_at_symbols() {
	for archive in "$build"/lib*.a; do
		nm -f sysv "$archive" 2> /dev/null | awk -v archive="${archive##*/}" '
		{
			n = split($0, f, "|")
			if (n < 7) next
			name = f[1]; class = f[3]; section = f[7]
			gsub(/[ \t]/, "", name); gsub(/[ \t]/, "", class); gsub(/[ \t]/, "", section)
		}
		name ~ /asan|ubsan|gcov|^__|^\./ { next }
		# FFTW has one planner for the whole process, so it needs one lock
		archive == "libprivacy.a" && name == "planner" { next }
		section ~ /^\.t?(data|bss)/ && section !~ /^\.data\.rel\.ro/ || section == "*COM*" {
			print archive ": a variable outside functions, or a static one inside: " name
		}
		class ~ /^[A-TV-Z]$/ && name !~ /^dp_/ {
			print archive ": a public name without dp_: " name
		}' >> "$tmp/faults"
	done
}
if ! command -v nm > /dev/null; then
	echo "skipped: symbols of the libraries (no nm)"
elif ! ls "$build"/lib*.a > /dev/null 2>&1; then
	echo "skipped: symbols of the libraries (no lib*.a in $build)"
else
	look_at_symbols
fi

if [ -s "$tmp/faults" ]; then
	cat "$tmp/faults"
	exit 1
fi
echo "$(wc -l < "$tmp/files") files, all in their places"
