//! naive
