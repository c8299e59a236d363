"""Problems: functions with a known minimum, and what makes them harder."""
