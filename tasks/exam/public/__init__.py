"""What an exam publishes about itself so that anybody can check it: see docs/verify.md."""
