//! Values of variables and headers. Most are keys, so all are kept in the keychain.

use std::collections::BTreeMap;

use domain::ToolServerId;
use domain::tool_server::ToolServer;
use secrecy::SecretString;

use crate::api::ToolServerValueDraft;
use crate::base::error::{ApiResult, bad_input, internal};
use crate::base::secrets::Secret;
use crate::settings::tool_servers::ToolServers;

/// Values of one server.
const MAX_VALUES: usize = 64;

/// Values by name, without those that are missing. They are never printed.
pub(super) type Values = BTreeMap<String, String>;

impl ToolServers {
    /// The values that are stored for a server.
    pub(super) async fn stored_values(&self, server: &ToolServer) -> ApiResult<Values> {
        if server.transport.value_names().is_empty() {
            return Ok(Values::new());
        }
        let id = server.id;
        let json = self
            .keychain
            .with_secrets(move |secrets| secrets.get(Secret::ToolServer(id)))
            .await?;
        Ok(json
            .and_then(|json| serde_json::from_str(&json).ok())
            .unwrap_or_default())
    }

    /// All values that the server needs.
    ///
    /// # Errors
    /// `BadInput` if one is missing.
    pub(super) async fn server_values(
        &self,
        server: &ToolServer,
    ) -> ApiResult<Vec<(String, SecretString)>> {
        let mut stored = self.stored_values(server).await?;
        let value = |name: &String| match stored.remove(name) {
            Some(value) => Ok((name.clone(), SecretString::from(value))),
            None => Err(bad_input(
                format!("The value of {name} is missing for {}.", server.name),
                "Enter it in the settings of the tool server.",
            )),
        };
        server.transport.value_names().iter().map(value).collect()
    }

    pub(super) async fn keep_values(&self, id: ToolServerId, values: &Values) -> ApiResult<()> {
        let json = if values.is_empty() {
            String::new()
        } else {
            serde_json::to_string(values).map_err(|_| internal("values could not be stored"))?
        };
        self.keychain
            .keep_secret(Secret::ToolServer(id), json)
            .await
    }
}

/// Joins the values of a draft with the stored ones that it keeps. Returns all names and the known
/// values.
///
/// # Errors
/// `BadInput` for an invalid or repeated name.
pub(super) fn joined(
    drafts: Vec<ToolServerValueDraft>,
    kept: &Values,
) -> ApiResult<(Vec<String>, Values)> {
    if drafts.len() > MAX_VALUES {
        return Err(bad_input(
            format!("A tool server can have {MAX_VALUES} values."),
            "Remove some of them.",
        ));
    }
    let mut names = Vec::new();
    let mut values = Values::new();
    for ToolServerValueDraft { name, value } in drafts {
        let name = name.trim().to_owned();
        if name.is_empty() || name.contains(['=', '\0', '\n', '\r']) {
            return Err(bad_input(
                format!("\"{name}\" cannot be the name of a variable or a header."),
                "Use letters, digits, - and _.",
            ));
        }
        if names
            .iter()
            .any(|known: &String| known.eq_ignore_ascii_case(&name))
        {
            return Err(bad_input(
                format!("{name} appears twice."),
                "Remove one of the two.",
            ));
        }
        let value = value
            .or_else(|| kept.get(&name).cloned())
            .filter(|value| !value.is_empty());
        if value.as_ref().is_some_and(|value| value.contains('\0')) {
            return Err(bad_input(
                format!("The value of {name} contains a character that cannot be sent."),
                "Enter it again.",
            ));
        }
        values.extend(value.map(|value| (name.clone(), value)));
        names.push(name);
    }
    Ok((names, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(name: &str, value: Option<&str>) -> ToolServerValueDraft {
        ToolServerValueDraft {
            name: name.into(),
            value: value.map(str::to_owned),
        }
    }

    #[test]
    fn draft_keeps_stored_values() {
        let kept = Values::from([
            ("KEY".to_owned(), "old".to_owned()),
            ("GONE".to_owned(), "x".to_owned()),
        ]);
        let drafts = vec![
            draft(" KEY ", None),
            draft("NEW", Some("n")),
            draft("EMPTY", Some("")),
            draft("MISSING", None),
        ];
        let (names, values) = joined(drafts, &kept).unwrap();
        assert_eq!(names, ["KEY", "NEW", "EMPTY", "MISSING"]);
        assert_eq!(
            values,
            Values::from([
                ("KEY".to_owned(), "old".to_owned()),
                ("NEW".to_owned(), "n".to_owned())
            ])
        );
    }

    #[test]
    fn odd_names_are_refused() {
        for names in [vec![""], vec!["A=B"], vec!["A\nB"], vec!["A", "a"]] {
            let drafts = names.iter().map(|name| draft(name, Some("x"))).collect();
            assert!(joined(drafts, &Values::new()).is_err(), "{names:?}");
        }
    }
}
