#!/usr/bin/env julia
# The mean of made-up records by noisy gradient steps, in Julia. Needs the package JSON.
using JSON, Random

const RECORDS = 0.7 .+ 0.1 .* randn(Xoshiro(1), 1000)  # the same in every trial

# Calls at(epoch, error) after each epoch; returns the last error.
function train(at, rng, epochs, lot, noise)
    steps = round(Int, length(RECORDS) / lot)  # in an epoch, as epsilon counts them
    weight = 0.0
    for epoch in 1:epochs
        for _ in 1:steps
            chosen = RECORDS[rand(rng, length(RECORDS)) .< lot / length(RECORDS)]
            gradients = clamp.(weight .- chosen, -1, 1)  # clipped to 1
            weight -= 0.5 * (sum(gradients) + noise * randn(rng)) / lot
        end
        at(epoch, abs(weight - 0.7))
    end
    return abs(weight - 0.7), epochs * steps
end

request = JSON.parsefile(ENV["DPARETO_REQUEST"])
p = request["parameters"]
waypoints = haskey(request, "path") ? request["path"]["values"] : []

open(ENV["DPARETO_RESULT"], "a") do result
    # JSON.jl writes what is not finite as null, which means just that
    report(line) = (println(result, JSON.json(line)); flush(result))
    steps = 0
    for run in request["runs"]
        error, steps = train(Xoshiro(run["seed"]), p["epochs"], p["lot"], p["noise"]) do epoch, error
            epoch in waypoints &&
                report(Dict("run" => run["run"], "at" => epoch, "metrics" => Dict("error" => error)))
        end
        report(Dict("run" => run["run"], "metrics" => Dict("error" => error)))
    end
    report(Dict("declare" => Dict("sampling" => "poisson", "records" => length(RECORDS),
        "lot" => p["lot"], "steps" => steps, "noise_over_clip" => p["noise"])))
    report(Dict("done" => true))
end
