#!/bin/sh
# manuals.sh SOURCE BUILD - the manuals, held to the programs: fails if an option or a
# command is missing in its page, if a page has one that the program does not know, or if
# a page does not render without a warning. Programs come from DPARETO_BIN.
set -eu
src=$1 build=$2
bin=${DPARETO_BIN:-$build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
: > "$tmp/faults"

fault() { echo "$*" >> "$tmp/faults"; }

# The path of a page, generated or as it is in the source.
page() {
	for f in "$build/$1" "$build"/*/"$1" "$src"/*/"$1"; do
		if [ -f "$f" ]; then
			echo "$f"
			return
		fi
	done
}

# A page without fonts, and with hyphens as people type them.
plain() { sed 's/\\f[A-Z]//g; s/\\-/-/g; s/\\~/ /g' "$1"; }

# Is the option $2 there, as a whole word, in the text $1?
names() { grep -Eq -- "(^|[^a-zA-Z_-])$2([^a-zA-Z_-]|\$)" "$1"; }

# The words that a page explains: what follows .TP.
explained() { plain "$1" | awk 'tag { print; tag = 0 } /^\.TP/ { tag = 1 }'; }

check_dparetod() {
	man=$(page dparetod.8)
	[ -n "$man" ] || { fault "there is no page dparetod.8"; return; }
	"$bin/dparetod" --help > "$tmp/help"
	plain "$man" > "$tmp/page"
	explained "$man" > "$tmp/tags"

	# "  -h, --help   this text" and "  --slots   Trainers that ..."
	grep -E '^  (-[a-zA-Z], )?--' "$tmp/help" | awk '{
		sub(/,/, "", $1)
		print $1
		if ($1 !~ /^--/) print $2
	}' > "$tmp/options"
	[ "$(wc -l < "$tmp/options")" -ge 14 ] || fault "dparetod --help was not understood"
	while read -r option; do
		names "$tmp/page" "$option" || fault "dparetod.8 lacks the option $option"
	done < "$tmp/options"
	grep -Eo -- '--[a-z][a-z-]*' "$tmp/tags" | while read -r option; do
		grep -Fxq -- "$option" "$tmp/options" ||
			fault "dparetod.8 explains $option, which dparetod does not know"
	done

	# Options of the configuration file, each with its default: "  --slots ..." and on the
	# next line "(int, 1 to 4096; default: number of cores)".
	awk '/configuration file knows too/ { on = 1; next }
	on && /^ *--/ { name = $1; sub(/^--/, "", name); gsub(/-/, "_", name) }
	on && /default: / {
		sub(/.*default: /, ""); sub(/\)$/, "")
		print name "|" $0
	}' "$tmp/help" > "$tmp/rows"
	[ -s "$tmp/rows" ] || fault "dparetod --help tells no options of the configuration file"
	while IFS='|' read -r name otherwise; do
		if ! grep -E "^\\.B[A-Z]? $name " "$tmp/tags" > "$tmp/tag"; then
			fault "dparetod.8 lacks the configuration's option $name"
		elif ! grep -Fq "default: $otherwise)" "$tmp/tag"; then
			fault "dparetod.8 does not say that $name has the default: $otherwise"
		fi
	done < "$tmp/rows"
	grep -Eo '^\.B[A-Z]? [a-z_]+ .*default:' "$tmp/tags" | while read -r _ name _; do
		grep -q "^$name|" "$tmp/rows" ||
			fault "dparetod.8 explains $name, which dparetod does not know"
	done
}

check_dparetoctl() {
	[ -x "$bin/dparetoctl" ] || { fault "there is no dparetoctl in $bin"; return; }
	man=$(page dparetoctl.1)
	[ -n "$man" ] || { fault "there is no page dparetoctl.1"; return; }
	"$bin/dparetoctl" --help > "$tmp/help"
	plain "$man" > "$tmp/page"
	awk '/^Commands/ { on = 1; next } /^$/ { on = 0 } on { print $1 }' "$tmp/help" \
		> "$tmp/commands"
	[ -s "$tmp/commands" ] || fault "dparetoctl --help lists no commands"
	while read -r command; do
		grep -Eq "^\\.SS \"?$command[ \"]|^\\.SS $command\$" "$tmp/page" ||
			fault "dparetoctl.1 lacks the command $command"
		"$bin/dparetoctl" "$command" --help > "$tmp/one"
		grep -Eo '^ +(-[a-zA-Z], )?--[a-z][a-z-]*' "$tmp/one" | grep -Eo -- '--[a-z-]+' |
			sort -u > "$tmp/options"
		while read -r option; do
			names "$tmp/page" "$option" ||
				fault "dparetoctl.1 lacks $option of $command"
		done < "$tmp/options"
	done < "$tmp/commands"
}

check_report() {
	man=$(page dpareto-report.1)
	[ -n "$man" ] || { fault "there is no page dpareto-report.1"; return; }
	"$bin/dpareto-report" --help > "$tmp/help"
	plain "$man" > "$tmp/page"
	grep -Eo '^ +(-[a-zA-Z], )?--[a-z][a-z-]*' "$tmp/help" | grep -Eo -- '--[a-z-]+' \
		> "$tmp/options"
	[ "$(wc -l < "$tmp/options")" -ge 9 ] || fault "dpareto-report --help was not understood"
	while read -r option; do
		names "$tmp/page" "$option" || fault "dpareto-report.1 lacks $option"
	done < "$tmp/options"
}

# Warnings of the formatter are mistakes in the page.
check_rendering() {
	command -v groff > /dev/null || { echo "skipped: rendering (no groff)"; return; }
	for name in dparetod.8 dparetoctl.1 dpareto-report.1 dpareto-train.1 \
		dpareto-study.5; do
		man=$(page "$name")
		[ -n "$man" ] || { fault "there is no page $name"; continue; }
		groff -K utf8 -man -ww -Tutf8 "$man" > "$tmp/text" 2> "$tmp/warnings" ||
			fault "$name cannot be rendered"
		while read -r line; do
			fault "$line"
		done < "$tmp/warnings"
		if grep -q '@[A-Z]*@' "$tmp/text"; then
			fault "$name has a part that was not filled in"
		fi
	done
}

check_dparetod
check_dparetoctl
check_report
check_rendering
if [ -s "$tmp/faults" ]; then
	sort -u "$tmp/faults"
	exit 1
fi
echo "the manuals and the programs agree"
