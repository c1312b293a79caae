"""Who signs in: passwords, throttling, sessions, limits of requests. Shared by the exam API and the web pages."""
