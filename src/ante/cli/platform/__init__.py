"""Commands for clusters, images and object stores."""
