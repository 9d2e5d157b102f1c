"""What scripts/reproduce is made of: plan.py has the experiments, studies.py makes their study
files, service.py has a daemon of its own run them, measure.py asks for numbers, claims.py and
tables.py make sentences and rows of them, kept.py adds what earlier runs measured, contents.py
puts it in order, page.py writes it down."""
