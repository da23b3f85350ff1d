"""Numeric kernels: packed rows, masked distributions, advantages, losses; compiled for the CPU, in torch for the GPU."""
