"""One folder a chapter, named like its notebook: what only that chapter uses."""
