"""sealane-lab: benchmarks of sealane against other encryption libraries.

``sealane-lab run`` measures sealane against the libraries that are installed, checks their output with
another library, and writes a CSV, plots and one HTML report. It also runs without other libraries, and
``pip install './lab[peers]'`` installs them.

===============  ======================================================================
module           content
===============  ======================================================================
``timing``       interleaved rounds, medians and quartiles
``model``        the data of an experiment: cells, contenders, plots
``experiments``  one module per experiment
``peers``        the libraries to compare with, and whether they are installed
``referee``      decryption by another library than the one that is measured
``machine``      the description of the machine, and its speed limits
``runner``       runs experiments
``results``      CSV and JSON files, and the comparison of two runs
``findings``     sentences computed from the figures
``plots``        charts; ``report`` writes them into one HTML file
===============  ======================================================================
"""
