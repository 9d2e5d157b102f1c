#!/bin/sh
# scripts.sh SOURCE BUILD - who asks a script for help gets words, not a build or a folder of the name
# --help; an option that there is not is refused.
set -eu
cd "$1"
for name in build check demo gallery package; do
	if ! scripts/$name --help | grep -q "scripts/$name"; then
		echo "scripts/$name --help does not say how it is called"
		exit 1
	fi
	status=0
	scripts/$name --no-such-option >/dev/null 2>&1 || status=$?
	if [ $status -ne 2 ]; then
		echo "scripts/$name --no-such-option ends with $status, not 2"
		exit 1
	fi
done
