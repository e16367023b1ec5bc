"""Predicts people's success on levels from agents' results on them and from what else is known of them.

model = fit(levels, people, source="people.csv")           # levels: `Levels`, people: `People`
said = predict(model, others)
said.median, said.mean, said.band(), said.far              # the true rate
said.observed(attempts=240, players=100).band()            # a rate that is yet to be observed
measure(held_out(levels, people, random_folds(len(levels))), people)
"""
