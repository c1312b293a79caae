"""What the web desk's pages send."""
