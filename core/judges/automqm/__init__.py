"""AutoMQM of Specialist: a model marks the errors in a text; its Parrot asks nobody."""
