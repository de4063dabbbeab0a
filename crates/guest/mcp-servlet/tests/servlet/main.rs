//! The library from the outside: descriptions, calls, features of servlets, and plugins of other interfaces.

mod calls;
mod features;
mod rooms;
mod schemas;
mod xtp;
