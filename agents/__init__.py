"""Players: anything that chooses moves."""

from crush_gym.moved import moved

moved(
    {
        "agents.adapted": "agents.foreign.players",
        "agents.adapter": "agents.foreign.adapt",
        "agents.expand": "agents.search.positions",
        "agents.looks": "agents.foreign.kinds",
        "agents.play": "agents.attempts",
        "agents.ranking": "agents.search.topk",
        "agents.search.picture": "agents.search.drawing",
        "agents.search.running": "agents.search.simulate",
        "agents.search.signals": "agents.search.returns",
        "agents.search.table": "agents.search.tomast",
        "agents.shown": "agents.foreign.window",
        "agents.structure": "agents.search.structure",
    }
)
