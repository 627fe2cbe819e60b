//! Health report: the state of each component, and a reason for each problem. It checks only this
//! machine. Endpoints are contacted only on request, each for a limited time.

use std::time::Duration;

use domain::EndpointId;
use futures_util::future::join_all;
use local::{LocalHost, WorkerStatus};

use crate::api::{self, DataWarningKind, Health, HealthCheck, HealthFact, HealthFacts, ModelRef};
use crate::base::error::ApiResult;
use crate::base::handle::Base;
use crate::settings::app_settings::AppSettings;
use crate::settings::counting::remote_count::RemoteCounting;
use crate::settings::endpoints::Endpoints;
use crate::settings::layers::SettingEdits;
use crate::settings::models::Models;
use crate::settings::token_counts::TokenCounts;

/// An endpoint that does not answer within this time is reported as not reachable.
const REACH_LIMIT: Duration = Duration::from_secs(5);
/// Setting that the test write sets and removes in one transaction.
const TEST_SETTING: &str = "health_test";

/// State of every component. Clones share one state.
#[derive(Clone)]
pub(crate) struct HealthChecks {
    base: Base,
    local: LocalHost,
    app_settings: AppSettings,
    endpoints: Endpoints,
    models: Models,
    setting_edits: SettingEdits,
    token_counts: TokenCounts,
}

impl HealthChecks {
    pub(super) fn new(
        base: &Base,
        local: &LocalHost,
        app_settings: &AppSettings,
        endpoints: &Endpoints,
        models: &Models,
        setting_edits: &SettingEdits,
        token_counts: &TokenCounts,
    ) -> Self {
        Self {
            base: base.clone(),
            local: local.clone(),
            app_settings: app_settings.clone(),
            endpoints: endpoints.clone(),
            models: models.clone(),
            setting_edits: setting_edits.clone(),
            token_counts: token_counts.clone(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }

    fn local(&self) -> &LocalHost {
        &self.local
    }

    pub(crate) async fn health(&self) -> ApiResult<Health> {
        let folder = self.base().store().dir().display().to_string();
        let mut checks = vec![check("data folder", Ok(folder))];
        let database = self
            .base()
            .store()
            .check()
            .await
            .map(|()| "Checked, no problems".to_owned());
        let written = self.test_write().await;
        let database = database
            .map_err(|error| error.to_string())
            .and_then(|found| written.clone().map(|_| found));
        checks.push(check("database", database));
        checks.extend(self.data_health());
        checks.push(check("model", self.models_health().await));
        checks.push(check(
            "settings",
            self.setting_edits.settings_health().await,
        ));
        checks.push(check("worker", worker(&self.local().status())));
        checks.push(check(
            "graphics",
            graphics(&self.local().list_devices().await),
        ));
        checks.push(check("memory", Ok(self.found_by().to_owned())));
        for model in self
            .base()
            .store()
            .read(|store| store.models().list())
            .await?
        {
            checks.push(check(
                &format!("token counts of {}", model.name),
                Ok(self.local().counted_by(&model).to_string()),
            ));
        }
        for endpoint in self.endpoints.list_endpoints().await? {
            checks.push(check(
                &format!("token counts of {}", endpoint.name),
                self.counts_health(&endpoint).await,
            ));
        }
        let facts = HealthFacts {
            database_writable: fact(written),
            model_loaded: fact(self.model_loaded().await),
            endpoint_reachable: None,
        };
        Ok(Health {
            facts: Some(facts),
            ..report(checks)
        })
    }

    /// [`Self::health`], after asking every endpoint for its models. Takes at most a few seconds.
    pub(crate) async fn health_with_endpoints(&self) -> ApiResult<Health> {
        let endpoints = self.endpoints.list_endpoints().await?;
        let asked = join_all(endpoints.iter().map(|endpoint| self.reach(endpoint.id)));
        let (health, asked) = tokio::join!(self.health(), asked);
        let mut health = health?;
        let failed: Vec<String> = endpoints
            .iter()
            .zip(&asked)
            .filter_map(|(endpoint, answer)| {
                Some(format!("{}: {}", endpoint.name, answer.as_ref().err()?))
            })
            .collect();
        let reachable = match (endpoints.len(), failed.is_empty()) {
            (0, _) => Err("No endpoint is set up".to_owned()),
            (count, true) => Ok(format!("{count} answered")),
            (_, false) => Err(failed.join("; ")),
        };
        for (endpoint, answer) in endpoints.iter().zip(asked) {
            health
                .checks
                .push(check(&format!("endpoint {}", endpoint.name), answer));
        }
        health.ok = health.checks.iter().all(|check| check.ok);
        if let Some(facts) = &mut health.facts {
            facts.endpoint_reachable = Some(fact(reachable));
        }
        Ok(health)
    }

    /// Asks an endpoint for its models.
    async fn reach(&self, id: EndpointId) -> Result<String, String> {
        match tokio::time::timeout(REACH_LIMIT, self.endpoints.refresh_endpoint(id)).await {
            Ok(Ok(found)) => Ok(format!("answered in {:.0} ms", found.took_ms)),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!(
                "no answer within {} seconds",
                REACH_LIMIT.as_secs()
            )),
        }
    }

    /// The warnings about the data, each as a check that failed.
    fn data_health(&self) -> Vec<HealthCheck> {
        let named = |warning: api::DataWarning| {
            let (name, reason) = match warning.kind {
                DataWarningKind::LogLost => (
                    "log",
                    "changes of an earlier session are gone with the database's log",
                ),
                DataWarningKind::TextsChanged => ("texts", "texts have changed on disk"),
                DataWarningKind::BackupFailed => ("backups", "the last backup failed"),
                DataWarningKind::SecondCopyFailed => {
                    ("second folder", "the second folder has no copy")
                }
                DataWarningKind::PicturesLost => {
                    ("files", "pictures or files are missing and in no backup")
                }
                // Nothing is wrong with the data.
                DataWarningKind::PicturesRestored | DataWarningKind::ClockAhead => return None,
            };
            let reason = if warning.detail.is_empty() {
                reason.to_owned()
            } else {
                warning.detail
            };
            Some(check(name, Err(reason)))
        };
        self.base()
            .data_warnings()
            .all()
            .into_iter()
            .filter_map(named)
            .collect()
    }

    /// Writes and removes a row in one transaction, as every message does.
    async fn test_write(&self) -> Result<String, String> {
        let written = self.base().store().write(|store| {
            store.settings_mut().set(TEST_SETTING, "true")?;
            store.settings_mut().remove(TEST_SETTING)
        });
        written
            .await
            .map(|()| "A test write succeeded".to_owned())
            .map_err(|error| error.to_string())
    }

    /// Names the local models that are loaded.
    async fn model_loaded(&self) -> Result<String, String> {
        let models = self
            .models
            .list_models()
            .await
            .map_err(|error| error.to_string())?;
        let statuses = self.local().statuses();
        let is_loaded = |status: &&WorkerStatus| {
            status
                .loaded
                .as_ref()
                .is_some_and(|loaded| loaded.context > 0)
        };
        let paths: Vec<&str> = statuses
            .iter()
            .filter(is_loaded)
            .filter_map(|status| status.model.as_deref())
            .collect();
        let loaded = models
            .iter()
            .filter(|model| paths.contains(&model.path.as_str()));
        let names: Vec<&str> = loaded.map(|model| model.name.as_str()).collect();
        match (
            names.is_empty(),
            models.is_empty(),
            self.app_settings.settings().default_model,
        ) {
            (false, _, _) => Ok(format!("{} is loaded", names.join(", "))),
            (true, _, Some(ModelRef::Remote { .. })) => {
                Err("No local model is loaded; an endpoint answers".to_owned())
            }
            (true, true, _) => Err("No model is set up".to_owned()),
            (true, false, _) => Err("No model is loaded; the next reply loads one".to_owned()),
        }
    }

    /// How the tokens of an endpoint are counted, and the mean error of the counts.
    async fn counts_health(&self, endpoint: &api::Endpoint) -> Result<String, String> {
        let why = |error: api::ApiError| error.to_string();
        let row = self.endpoints.endpoint(endpoint.id).await.map_err(why)?;
        let counting = RemoteCounting::of(
            self.base().store(),
            self.token_counts.tokenizer_files(),
            &row,
        )
        .await
        .map_err(why)?;
        if counting.tokens.shown() != endpoint.counted_with {
            return Err(
                "its tokenizer.json is missing or damaged: choose it again, or remove it"
                    .to_owned(),
            );
        }
        let error = counting.calibration.mean_error();
        let error = error.map(|error| {
            format!(
                ", off by {:.1} % on average over its last prompts",
                error * 100.0
            )
        });
        let counted = match counting.tokens.shown() {
            api::CountedWith::Estimate => "Estimated from text length".to_owned(),
            counter => format!("Approximate, counted with {counter}"),
        };
        Ok(counted + &error.unwrap_or_default())
    }

    /// Describes the kind of search that recall uses: by meaning, or by words alone, which finds
    /// less.
    fn found_by(&self) -> &'static str {
        match self.app_settings.encoder_model() {
            Some(_) => "Search by words and by meaning works",
            None => {
                "Search by words only: the encoder that comes with the app is missing. Reinstall the app to search by \
                 meaning, too"
            }
        }
    }

    async fn models_health(&self) -> Result<String, String> {
        let models = self
            .models
            .list_models()
            .await
            .map_err(|error| error.to_string())?;
        if let Some(missing) = models.iter().find(|model| model.missing) {
            return Err(format!("{} is no longer at {}", missing.name, missing.path));
        }
        let notes: Vec<String> = models
            .iter()
            .filter_map(|model| Some(format!("{}: {}", model.name, model.note.as_ref()?)))
            .collect();
        if !notes.is_empty() {
            return Ok(format!(
                "{} in the library. {}",
                models.len(),
                notes.join(" ")
            ));
        }
        match (models.len(), self.app_settings.settings().default_model) {
            (0, None) => {
                Err("no model is set up: add a model file, or connect an endpoint".to_owned())
            }
            (count, _) => Ok(format!("{count} in the library")),
        }
    }
}

/// Names the graphics devices. Without any, the processor computes alone, which is no fault.
fn graphics(devices: &local::Devices) -> Result<String, String> {
    match devices {
        local::Devices::Failed(reason) => Err(reason.to_string()),
        _ if devices.graphics().is_empty() => {
            Ok("No graphics device; the processor computes alone".to_owned())
        }
        _ => {
            let gigabytes = |bytes: u64| bytes as f64 / 1e9;
            let named = devices.graphics().into_iter().map(|device| {
                let free = gigabytes(device.free);
                let total = gigabytes(device.total);
                format!(
                    "{} ({}), {free:.1} of {total:.1} GB free",
                    device.description, device.name
                )
            });
            Ok(named.collect::<Vec<_>>().join(", "))
        }
    }
}

fn worker(status: &local::WorkerStatus) -> Result<String, String> {
    match (status.state, &status.last_death) {
        (local::WorkerState::Dead, Some(death)) => Err(death.clone()),
        (local::WorkerState::Absent, _) => Ok("Starts with the first reply".to_owned()),
        _ if status.deaths == 0 => Ok("No crashes".to_owned()),
        _ => Ok(format!(
            "Crashed {} times and was started again",
            status.deaths
        )),
    }
}

pub(crate) fn report(checks: Vec<HealthCheck>) -> Health {
    let ok = checks.iter().all(|check| check.ok);
    Health {
        ok,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        checks,
        facts: None,
    }
}

fn fact(result: Result<String, String>) -> HealthFact {
    let HealthCheck {
        ok: value, reason, ..
    } = check("", result);
    HealthFact { value, reason }
}

pub(crate) fn check(name: &str, result: Result<String, String>) -> HealthCheck {
    let (ok, reason) = match result {
        Ok(reason) => (true, reason),
        Err(reason) => (false, reason),
    };
    HealthCheck {
        name: name.to_owned(),
        ok,
        reason,
    }
}
