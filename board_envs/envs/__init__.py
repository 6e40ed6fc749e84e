"""Environments, generic over Game; no game is named here."""
