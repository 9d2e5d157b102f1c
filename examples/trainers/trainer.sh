#!/bin/sh
# A trainer in five lines of shell. It reads one parameter, `noise`, and reports two
# made-up metrics for every run it is asked for: `error`, which grows with the noise,
# and `cost`, which falls with it. sh.yaml beside it is a study that uses it.
#
# request.json is one line without spaces, so that sed can read it. For more than a
# number or two use a language with a JSON reader: trainer.py does the same.
set -eu
noise=$(sed -n 's/.*"noise":\([-+.0-9eE]*\).*/\1/p' "$DPARETO_REQUEST")
tr '{' '\n' <"$DPARETO_REQUEST" | sed -n 's/^"run":\([0-9]*\),"seed":\([0-9]*\).*/\1 \2/p' |
	awk -v b="$noise" '{ srand($2 + 0); printf "{\"run\":%d,\"metrics\":{\"error\":%.9g,\"cost\":%.9g}}\n",
		$1, b / (1 + b) + 0.01 * rand(), 1 / b }' >>"$DPARETO_RESULT"
echo '{"done":true}' >>"$DPARETO_RESULT"
