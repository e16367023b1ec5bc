"""Where jobs are done: here, in processes, or with Ray."""
