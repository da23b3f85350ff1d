"""One played hand scored a second time, slowly and from the rules' text alone."""
