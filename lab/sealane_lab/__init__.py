"""The lab: who is faster, and is it true.

``sealane lab run`` measures sealane against the libraries that are installed beside it, checks that what they
write is what they should, and writes a CSV, plots and one HTML report. It works without any of them;
``pip install 'sealane[lab]'`` brings the plots, ``'sealane[lab-peers]'`` the peers.

==============  ===================================================================
room            what is there
==============  ===================================================================
``timing``      rounds, medians, quartiles
``model``       what an experiment is made of: cells, rows, plots
``experiments`` one table of the seeds each
``peers``       who may take part
``referee``     undoing with one library what another did
``machine``     what the machine is, and its limits
``runner``      from experiments to results
``results``     CSV and JSON; comparing two runs
``findings``    sentences that are computed from the figures
``plots``       pictures; ``report``: one HTML file
==============  ===================================================================
"""
