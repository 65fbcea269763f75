"""What the service and its players can do, measured."""
