"""Object stores behind one protocol: S3, local folders, publications, upload queue, retention."""
