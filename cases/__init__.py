"""Cases: published and textbook systems, each run, written and checked by one short file."""
