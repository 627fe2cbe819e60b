//! One turn from collected to saved; the one API behind every door.
