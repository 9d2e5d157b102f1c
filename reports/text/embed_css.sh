#!/bin/sh
# embed_css.sh FILE - print C code that defines the style sheet as report_css[], without comments.
set -eu
echo '/* Made by reports/text/embed_css.sh. */'
echo 'extern const char report_css[];'
echo 'const char report_css[] ='
awk '/^\/\*/ { comment = 1 }
!comment {
	gsub(/["\\]/, "\\\\&")
	if (sub(/^\t/, ""))
		text = text "\"\n\t\"" $0
	else
		text = text (text == "" ? "\t\"" : "\\n\"\n\t\"") $0
}
/\*\// { comment = 0 }
END { print text "\\n\";" }' "$1"
