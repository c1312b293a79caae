"""What must be durable at once: the owner's side, and the exam's for the exam API."""
