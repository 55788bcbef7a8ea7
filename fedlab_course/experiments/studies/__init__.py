"""One file for each experiment: its question, its cases and the measures of a row."""
