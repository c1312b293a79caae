"""What keeps an installation whole and lawful."""
