"""One file for each benchmark format of egomem; `egomem.benchmarks.registry` lists them."""
