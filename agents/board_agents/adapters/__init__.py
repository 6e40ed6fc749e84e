"""Agents that were written for something else: trained policies, OpenSpiel bots, Kaggle agents, programs."""
