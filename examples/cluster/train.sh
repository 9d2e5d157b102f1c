#!/bin/sh
# The trainer of the studies beside it: takes `seconds` for each run and reports two made-up
# metrics. It needs a shell, sed, tr and awk, and finds everything by its environment: so it runs on
# any machine and in any container.
set -eu
value() {
	sed -n 's/.*"'"$1"'":\([-+.0-9eE]*\).*/\1/p' "$DPARETO_REQUEST"
}
noise=$(value noise) seconds=$(value seconds)
for run in $(tr '{' '\n' <"$DPARETO_REQUEST" | sed -n 's/^"run":\([0-9]*\),.*/\1/p'); do
	echo "run $run of trial $DPARETO_TRIAL"
	sleep "$seconds"
	awk -v run="$run" -v noise="$noise" 'BEGIN {
		printf "{\"run\":%d,\"metrics\":{\"error\":%.9g,\"cost\":%.9g}}\n", run, noise / (1 + noise), 1 / noise
	}' >>"$DPARETO_RESULT"
done
echo '{"done":true}' >>"$DPARETO_RESULT"
