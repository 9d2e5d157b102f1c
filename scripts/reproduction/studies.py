"""studies.py - study files, made of those in examples/paper: what differs is named at the top of
each. Every edit must find what it changes, so that none is lost when an example changes."""
import os
import re

from . import plan

# Short trainings on embedded data, for a quick run.
SMALLER = [
    (r"--data, (adult|mnist)", "--data, census"),
    (r'--hidden, (1000|"128,64")', '--hidden, "8,4"'),
    (r"records: 60000", "records: 30956"),
    (r"(epochs:\s*\{type: int, range: )\[1, \d+\].*", r"\1[1, 3]}"),
    (r"(lot_size:\s*\{type: int, range: ).*", r"\1[200, 400]}"),
    (r"(command: \[dpareto-train, output-perturbation, [^\]]*)", r"\1, --passes, 1"),
    (r"runs: \d+", "runs: 2"),
]
ACCOUNTANT = r"\n      # These three lines.*\n(      #.*\n)*(      (accountant|bound|conversion): .*\n)+"


def replaced(text, pattern, new):
    """With exactly one place changed."""
    text, n = re.subn(pattern, new, text)
    if n != 1:
        raise ValueError("'%s' is there %d times" % (pattern, n))
    return text


def third_objective(text, line, bound):
    text = replaced(text, r"\nanti_ideal: \{(.*)\}", r"\n  %s\n\nanti_ideal: {\1, %s}" % (line, bound))
    return text.replace("\n\n  ", "\n  ")


def edit(text, name):
    """One edit of those that a plan names."""
    if name == "pld":
        return replaced(text, ACCOUNTANT, "\n")
    if name == "uniform":
        # in the paper's domain, without its distributions
        return re.sub(r",\s*sample: \{.*\}\}", "}", text)
    if name == "choice":
        text = replaced(text, r", --model, logistic, --optimizer, sgd", "")
        return replaced(text, r"\nparameters:\n", "\nparameters:\n"
                        "  model: {type: categorical, values: [logistic, svm]}\n"
                        "  optimizer: {type: categorical, values: [sgd, adam]}\n")
    if name == "seconds":
        return third_objective(text, "seconds: {metric: seconds, transform: log}", "seconds: 1")
    if name == "gap":
        text = replaced(text, r"(command: \[dpareto-train, linear.*)\]",
                        r"\1, --report, gap:%d]" % plan.FEMALE)
        return third_objective(text, "gap: {metric: gap_%d}" % plan.FEMALE, "gap: 0.3")
    if name.startswith("runs "):
        return replaced(text, r"runs: \d+", "runs: " + name.split()[1])
    raise ValueError("no edit is called '%s'" % name)


def text_of(study, examples, scale):
    """The study file."""
    with open(os.path.join(examples, study.source + ".yaml")) as f:
        text = f.read()
    text = replaced(text, r"\A(#.*\n)+", "")
    text = replaced(text, r"\nstudy: .*", "\nstudy: " + study.name)
    text = replaced(text, r"\nseed: .*", "\nseed: %d" % study.seed)
    text = replaced(text, r"\nsearch:\n(  .*\n)+\Z", "\nsearch:\n" + "".join(
        "  %s: %s\n" % pair for pair in study.search))
    for name in study.edits:
        text = edit(text, name)
    if scale.embedded:
        for pattern, new in SMALLER:
            text = re.sub(pattern, new, text)
    more = (*study.edits, *(("embedded data and short trainings",) if scale.embedded else ()))
    return "# examples/paper/%s.yaml with another name, seed and search%s; made by scripts/reproduce.\n%s" \
        % (study.source, ", and: " + ", ".join(more) if more else "", text)


def write(study, examples, folder, scale):
    """Writes the file; returns its path. One that is there already stays as it is if it says
    the same, with its time."""
    path = os.path.join(folder, study.name + ".yaml")
    text = text_of(study, examples, scale)
    if not os.path.exists(path) or open(path).read() != text:
        with open(path + ".tmp", "w") as f:
            f.write(text)
        os.rename(path + ".tmp", path)
    return path
