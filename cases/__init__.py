"""Published systems, one short file each."""
