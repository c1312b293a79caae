"""Tasks and configuration for Label Studio, and what it exports."""
