//! A team server as its people and its operator meet it: real servers on a real PostgreSQL. Without
//! PostgreSQL the tests are skipped with a line that says so.

mod access;
mod cold;
mod copies;
mod failures;
mod hooks;
mod limits;
mod oauth;
mod oauth_refusals;
mod oauth_support;
mod sharing;
mod support;
mod vacuum;
