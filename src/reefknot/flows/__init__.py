"""What reefknot does, from end to end; read these first."""
