"""A transcript made shorter: plan, then apply; what is set aside is stored first."""
