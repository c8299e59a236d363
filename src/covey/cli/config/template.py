"""The study.toml to begin with, as ``covey init`` writes it."""

TEMPLATE = """\
# A study for covey: what is varied, how it is evaluated, and for how long. Lower values are better.
name = "my-study"

# The program to tune, as a list of arguments; {x} becomes the value of parameter x. No shell is involved,
# and it runs in this folder. Leave objective out for experiments done by hand: covey ask, covey tell.
objective = ["python", "train.py", "--rate", "{rate}", "--depth", "{depth}", "--kind", "{kind}"]

# How its value is read: the only number on the last line it prints, or one in a JSON file that it writes.
value = "stdout"
# value = {json = "result-{id}.json", key = "loss"}     # then give the program its {id} too
# timeout = 3600                # seconds until a program is killed and its trial has failed

batch_size = 4                  # how many run at once
iterations = 10                 # batches; or one or more of these:
# evaluations = 40
# seconds = 3600
# target = 0.01
# max_failures = 10             # give up after so many
# asynchronous = true           # start the next program as soon as one ends; good for uneven durations

# constraints = ["rate * depth <= 2"]   # arithmetic, comparisons, and or not, abs min max sqrt log exp
# fixed = {kind = "plain"}      # parameters that are held; covey ask --fix kind=plain does it once

# strategy = "auto"             # sequential ats j-ats h-ats b-lcb ats-b-lcb p-ts ats-p-ts lp ats-lp
# acquisition = "log-ei"        # ei lcb pi log-ei ts
# noise = "learn"               # or the standard deviation of the noise; 0.0 if there is none
# prior = "default"             # or "paper"
# n_initial = 5                 # points before the model is asked
# initial = "sobol"             # or "random"
# seed = 0
# storage = "sqlite:///study.db"    # beside this file; or postgresql://user:password@host/database

[space.rate]
type = "float"
low = 1e-4
high = 1.0
log = true                      # on a logarithmic scale

[space.depth]
type = "int"
low = 2
high = 8                        # included; step = 2 leaves every second out, floats have a step too
                                # a parameter with when = {kind = "fancy"} exists only then; its argument,
                                # such as "--depth={depth}", is left out elsewhere

[space.kind]
type = "categorical"            # of numbers with an order: type = "ordinal", levels = [1, 2, 5, 10]
choices = ["plain", "fancy"]
"""
