#!/usr/bin/env Rscript
# The mean of made-up records by noisy gradient steps, in R. Needs jsonlite.
library(jsonlite)
options(error = quote(quit(status = 1)))  # so that an error's own words are the last on stderr

request <- fromJSON(Sys.getenv("DPARETO_REQUEST"), simplifyVector = FALSE)
result <- file(Sys.getenv("DPARETO_RESULT"), "a")
report <- function(line) {
  # all digits; what is not finite becomes null, which means just that
  writeLines(toJSON(line, auto_unbox = TRUE, digits = NA, na = "null"), result)
  flush(result)
}

parameter <- function(name) {
  value <- request[["parameters"]][[name]]
  if (is.null(value)) stop("the request has no parameter '", name, "'", call. = FALSE)
  value
}
epochs <- parameter("epochs")
mean_lot <- parameter("lot")
noise <- parameter("noise")
waypoints <- unlist(request[["path"]][["values"]])
set.seed(1)  # the records are the same in every trial
records <- rnorm(1000, mean = 0.7, sd = 0.1)
steps <- round(length(records) / mean_lot)  # in an epoch, as epsilon counts them

for (run in request[["runs"]]) {
  set.seed(run[["seed"]] %% 2147483647)  # R's seeds have 31 bits
  weight <- 0
  for (epoch in seq_len(epochs)) {
    for (step in seq_len(steps)) {
      lot <- records[runif(length(records)) < mean_lot / length(records)]
      gradients <- pmax(-1, pmin(1, weight - lot))  # clipped to 1
      weight <- weight - 0.5 * (sum(gradients) + rnorm(1, sd = noise)) / mean_lot
    }
    metrics <- list(error = abs(weight - 0.7))
    if (epoch %in% waypoints)
      report(list(run = run[["run"]], at = epoch, metrics = metrics))
  }
  report(list(run = run[["run"]], metrics = metrics))
}
report(list(declare = list(sampling = "poisson", records = length(records), lot = mean_lot,
                           steps = epochs * steps, noise_over_clip = noise)))
report(list(done = TRUE))
