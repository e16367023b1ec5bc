"""Every number that decides how fast programs run, and nothing else: no result depends on any of them.

They were tuned on two cores of small virtual machines (`make bench` measures what they bring). Read them where they are
used, as `sizes.CHUNK`, so that a test or a benchmark can change one for all.
"""

# ----------------------------------------------------------------------------------- within a program

CHUNK = 128
"""Most boards that one kernel takes at a time on a CPU: 2 KiB a plane, as much as a core's nearest cache holds."""

VECTOR = 32
"""Rows of boards that the widest instructions take at once: other numbers leave a remainder, done one by one."""

UNPADDED = 64
"""Boards up to which none is added to make whole chunks: a few are stepped often, by people and single environments."""

RICH_PLANES = 12
"""Planes from which on a game is rich: one kernel for a whole beat takes LLVM twice as long as several."""

FEW_PLANES = 3
"""Planes up to which a GPU has an array for every row: of more planes, kernels have no room for so many arrays."""

DROPS_PER_BEAT = 3
"""Rows that items fall in one beat: most falls are short, and a beat costs the same for all boards."""

BEATS_PER_LOOK = 8
"""Beats of a rollout between two looks at whether any attempt still goes on."""

WAITING_PER_BUSY = 3.0
"""A player is asked when so many boards wait for it per board in its turn: being asked costs some beats."""

REFILL_SHARE = 32
"""Lanes wait until one in so many is idle, and then take their next attempts together."""

SLOW_SHARE = 8
"""When no more than one board in so many of a chunk is still in its turn, these are finished with those of other
chunks: a turn takes two beats on average and ten for the unluckiest of thousands."""

FEWEST_SLOW = 512
"""Fewer boards than these are beaten until none is in its turn: taking out the slow ones doubles the program."""

TRIES_AT_ONCE = 8
"""Tries of a shuffle that are made as if they were boards of their own; a divisor of the rulebook's 32."""

SHUFFLED, SHUFFLED_CELLS = 4, 200
"""Boards that are shuffled at a time: at least so many, which with their tries are as many lanes as one instruction
takes; and as many as have so many cells together, for small boards are stuck more often."""

REOPENED_SHARE = 16
"""Episodes are opened for one board in so many at a time: in most steps few end."""

# ----------------------------------------------------------------------------------- programs side by side

ROLLOUT = 640
"""Boards that a core rolls out at a time: few enough for its caches, enough to hide the cost of an operation."""

LOCKSTEP = 2112
"""Boards of one lockstep call on a core; not 2,048, where rows of 4 KiB would share a set of the cache."""

MANY = 1024
"""Boards from which on the steps of a game that is not rich are worth compiling at length."""

# ----------------------------------------------------------------------------------- players

ASKED = 704
"""Boards at a time of a player that is asked move by move and says nothing of its own."""

FOREIGN = 256
"""Boards at a time of players in plain Python: enough to hide the cost of a call, few copies of a player."""

EPISODES = 1408
"""Boards at a time of `montecarlo`: a rollout of so many keeps two cores busy."""

TREES = 352
"""Boards of a core at a time of `mcts`: as many trees as fit into the memory of a small machine."""

BEATS_PER_SERVICE = 4
"""Beats of a search between two looks at how many of its boards wait."""

WAITING_SHARE = 0.5
"""Share of the boards still searching that wait for a service before there is one: it costs some beats."""

TREE_STEP = 25
"""Trees are made for a multiple of so many simulations, so that near numbers share what is compiled."""

POSITIONS = (64, 1408)
"""Positions of the beam at a time: of a search on few boards, and of one on many."""

FEW_BOARDS = 4
"""Boards up to which a search is one on few."""

NODES = 4096
"""Nodes of the beam that are expanded together, so that a deep tree of many boards stays small."""

# ----------------------------------------------------------------------------------- memory

MAPS_SHARE = 0.5
"""Share of a process' memory maps that compiled programs may take before they are forgotten."""

RESIDENT = 1 << 29
"""Bytes of a worker beyond which compiled programs are forgotten before another game is made."""
