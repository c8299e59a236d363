#!/bin/sh
# How well does a controller bring a mass to its target? Prints the error over time, lower is better.
# usage: controller.sh GAIN DAMPING none|smooth
LC_ALL=C exec awk -v gain="$1" -v damping="$2" -v filter="$3" 'BEGIN {
    step = 0.02; position = 0; speed = 0; force = 0; cost = 0
    for (time = 0; time < 10; time += step) {
        wanted = gain * (1 - position) - damping * speed
        force += (filter == "smooth" ? 0.3 : 1) * (wanted - force)
        speed += step * force
        position += step * speed
        if (position > 1e6 || position < -1e6) {
            print "diverged at " time " s" > "/dev/stderr"
            exit 1
        }
        error = position > 1 ? position - 1 : 1 - position
        cost += step * (time * error + 1e-5 * force * force)
    }
    print "cost " cost
}'
