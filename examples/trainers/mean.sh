#!/bin/sh
# The mean of made-up records by noisy gradient steps, in shell and awk.
set -eu

# request.json is one line without spaces: sed can read numbers from it.
parameters=$(sed 's/.*"parameters":{\([^}]*\)}.*/\1/' "$DPARETO_REQUEST")
number() {
	echo "$parameters" | tr ',' '\n' | sed -n "s/^\"$1\"://p" | grep . ||
		{ echo "mean.sh: the request has no parameter '$1'" >&2; exit 1; }
}
epochs=$(number epochs)
lot=$(number lot)
noise=$(number noise)
waypoints=$(sed -n 's/.*"path":{"parameter":"epochs","values":\[\([0-9,]*\)\].*/\1/p' "$DPARETO_REQUEST")

tr '{' '\n' <"$DPARETO_REQUEST" | sed -n 's/^"run":\([0-9]*\),"seed":\([0-9]*\).*/\1 \2/p' |
	awk -v epochs="$epochs" -v lot="$lot" -v noise="$noise" -v waypoints="$waypoints" \
		-v result="$DPARETO_RESULT" '
	function gauss() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
	function report(line) { print line >>result; fflush(result) }
	BEGIN {
		records = 1000
		srand(1) # the records are the same in every trial
		for (i = 1; i <= records; i++)
			record[i] = 0.7 + 0.1 * gauss()
		steps = sprintf("%.0f", records / lot) # in an epoch, as epsilon counts them
		n = split(waypoints, list, ",")
		for (i = 1; i <= n; i++)
			asked[list[i]] = 1
	}
	{ # one line for each run: its number and its seed
		srand($2 % 2147483647)
		weight = 0
		for (epoch = 1; epoch <= epochs; epoch++) {
			for (step = 0; step < steps; step++) {
				total = noise * gauss() # gradients are clipped to 1
				for (i = 1; i <= records; i++)
					if (rand() < lot / records) {
						gradient = weight - record[i]
						total += gradient > 1 ? 1 : gradient < -1 ? -1 : gradient
					}
				weight -= 0.5 * total / lot
			}
			error = weight < 0.7 ? 0.7 - weight : weight - 0.7
			if (epoch in asked)
				report(sprintf("{\"run\":%d,\"at\":%d,\"metrics\":{\"error\":%.17g}}", $1, epoch, error))
		}
		report(sprintf("{\"run\":%d,\"metrics\":{\"error\":%.17g}}", $1, error))
	}
	END {
		report(sprintf("{\"declare\":{\"sampling\":\"poisson\",\"records\":%d,\"lot\":%.17g," \
			"\"steps\":%d,\"noise_over_clip\":%.17g}}", records, lot, epochs * steps, noise))
	}'
echo '{"done":true}' >>"$DPARETO_RESULT"
