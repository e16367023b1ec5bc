"""CandyCrush.ai's function approximation: its features of moves, functions of them, and learning from its own play.

"CandyCrush.ai: An AI Agent for Candy Crush", 4.6 and 4.7. The players are `agents.linear_q` and `agents.network_q`.
"""
