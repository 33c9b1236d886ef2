"""Who may come in: the admin's passphrase and sessions, and a count of failed attempts."""
