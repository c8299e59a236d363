"""Native code: what is compiled, LAPACK, and threads."""
