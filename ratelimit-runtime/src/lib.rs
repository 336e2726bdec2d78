//! Rate limits declared on the functions they guard.
