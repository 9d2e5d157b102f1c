#!/bin/sh
# embed.sh FILE... - prints C that has these files as page_files[], which html_page.c serves.
set -eu
echo '/* Made by serve/embed.sh. */'
echo '#include "serve/html_page.h"'
i=0
for f; do
	i=$((i + 1))
	echo "static const unsigned char file_$i[] = {"
	od -An -v -tu1 "$f" | sed 's/ *\([0-9][0-9]*\)/\1,/g'
	echo "};"
done
echo "const struct page_file page_files[] = {"
i=0
for f; do
	i=$((i + 1))
	echo "	{ \"${f##*/}\", file_$i, sizeof file_$i },"
done
echo "	{ 0 },"
echo "};"
