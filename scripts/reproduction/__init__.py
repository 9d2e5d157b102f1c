"""What scripts/reproduce is made of: plan.py has the experiments, studies.py makes their study
files, service.py has a daemon of its own run them, measure.py asks for numbers, claims.py holds
them against the paper, page.py writes them down."""
