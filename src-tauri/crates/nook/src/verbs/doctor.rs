//! `doctor`: what works, and a reason with each no.

use engine::api::{Health, HealthCheck};
use engine::{Engine, OpenError};

use crate::failure::{Failure, Reason};
use crate::output::Output;

pub(crate) async fn doctor(opened: Result<Engine, OpenError>, out: &Output) -> Result<(), Failure> {
    let health = match opened {
        Ok(engine) => {
            let health = engine.health().await;
            engine.shutdown().await;
            health?
        }
        Err(error) => closed(error),
    };
    tell(&health, out)
}

pub(super) fn tell(health: &Health, out: &Output) -> Result<(), Failure> {
    out.answer(health, text)?;
    if health.ok { Ok(()) } else { Err(Failure::reported("unhealthy", "not everything works; see the checks")) }
}

/// The health of a data folder that cannot even be opened.
fn closed(error: OpenError) -> Health {
    let name = match error {
        OpenError::Damaged { .. } => "database",
        OpenError::InUse { .. } | OpenError::Storage { .. } => "data folder",
    };
    let reason = match Failure::from(error) {
        Failure::Because(Reason { message, .. }) | Failure::Reported(Reason { message, .. }) => message,
        Failure::ReaderGone => String::new(),
    };
    let check = HealthCheck { name: name.to_owned(), ok: false, reason };
    Health { ok: false, version: env!("CARGO_PKG_VERSION").to_owned(), checks: vec![check] }
}

fn text(health: &Health) -> String {
    let line = |check: &HealthCheck| {
        let mark = if check.ok { "ok" } else { "NO" };
        format!("{mark}  {}: {}", check.name, check.reason).trim_end_matches([' ', ':']).to_owned()
    };
    let lines: Vec<_> = health.checks.iter().map(line).collect();
    format!("Inglenook {}\n{}", health.version, lines.join("\n"))
}
