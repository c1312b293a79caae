"""What must be durable at once, on two sides: the exam's and the owner's.

The exam API opens the exam's side alone.
"""
