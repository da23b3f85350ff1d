"""Learners: PPO and DQN updates, replay, normalisation, imitation."""
