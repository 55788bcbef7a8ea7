"""What checks a reader: exercises, questions and the claims of a chapter."""
