"""What must be durable at once, on two sides: the exam's, which its API opens alone, and the owner's."""
