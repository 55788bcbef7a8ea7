"""The known mistakes, one entry each: a sentence, and the step of a formula that it replaces."""
