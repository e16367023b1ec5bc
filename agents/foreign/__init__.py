"""Players that were not written for this protocol, as agents: see `agents.foreign.adapt`."""
