"""Simulation of many env runners and several learners on one machine: who fetches which fragments."""
