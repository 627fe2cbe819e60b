//! Remote endpoints. The OS keychain stores their keys and header values.

use domain::EndpointId;
use domain::model::{Endpoint, EndpointDialect};
use rusqlite::{OptionalExtension, Row, params};

use crate::access::{Endpoints, EndpointsMut};
use crate::sql::{Col, one};
use crate::{AssetHash, StoreError};

impl Endpoints<'_> {
    /// Sorted by name.
    pub fn list(&self) -> Result<Vec<Endpoint>, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT * FROM endpoint ORDER BY name COLLATE NOCASE, id")?
            .query_map([], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    pub fn get(&self, id: EndpointId) -> Result<Option<Endpoint>, StoreError> {
        let row = self
            .conn
            .prepare_cached("SELECT * FROM endpoint WHERE id = ?1")?
            .query_row([Col(id)], from_row)
            .optional()?;
        Ok(row)
    }

    /// The `tokenizer.json` of the endpoint's default model, if the user provided one.
    pub fn tokenizer(&self, id: EndpointId, model: &str) -> Result<Option<AssetHash>, StoreError> {
        let hash = self
            .conn
            .prepare_cached("SELECT tokenizer FROM endpoint WHERE id = ?1 AND model = ?2")?
            .query_row(params![Col(id), model], |row| {
                row.get::<_, Option<Col<_>>>(0)
            })
            .optional()?;
        Ok(hash.flatten().map(|hash| hash.0))
    }
}

impl EndpointsMut<'_> {
    pub fn insert(&mut self, endpoint: &Endpoint) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO endpoint (id, name, url, model, context, dialect, headers) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            endpoint,
        )
    }

    pub fn update(&mut self, endpoint: &Endpoint) -> Result<(), StoreError> {
        self.run(
            "UPDATE endpoint SET name = ?2, url = ?3, model = ?4, context = ?5, dialect = ?6, headers = ?7 WHERE id = ?1",
            endpoint,
        )
    }

    /// Returns `Conflict` if `tokenizer` is not an asset.
    pub fn set_tokenizer(
        &mut self,
        id: EndpointId,
        tokenizer: Option<AssetHash>,
    ) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE endpoint SET tokenizer = ?2 WHERE id = ?1")?
            .execute(params![Col(id), tokenizer.map(Col)])?;
        one(rows, "endpoint")
    }

    pub fn delete(&mut self, id: EndpointId) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("DELETE FROM endpoint WHERE id = ?1")?
            .execute([Col(id)])?;
        one(rows, "endpoint")
    }

    fn run(&mut self, sql: &str, endpoint: &Endpoint) -> Result<(), StoreError> {
        let rows = self.conn.prepare_cached(sql)?.execute(params![
            Col(endpoint.id),
            endpoint.name,
            endpoint.url,
            endpoint.model,
            endpoint.context,
            word(endpoint.dialect),
            serde_json::to_string(&endpoint.headers).unwrap_or_else(|_| "[]".to_owned()),
        ])?;
        one(rows, "endpoint")
    }
}

pub(crate) fn from_row(row: &Row<'_>) -> rusqlite::Result<Endpoint> {
    let dialect: String = row.get("dialect")?;
    let headers: String = row.get("headers")?;
    Ok(Endpoint {
        id: row.get::<_, Col<_>>("id")?.0,
        name: row.get("name")?,
        dialect: dialect_of(&dialect).ok_or(rusqlite::types::FromSqlError::InvalidType)?,
        url: row.get("url")?,
        model: row.get("model")?,
        context: row.get("context")?,
        headers: serde_json::from_str(&headers).map_err(rusqlite::types::FromSqlError::other)?,
    })
}

fn word(dialect: EndpointDialect) -> &'static str {
    match dialect {
        EndpointDialect::OpenAi => "openai",
        EndpointDialect::Text => "text",
        EndpointDialect::Anthropic => "anthropic",
        EndpointDialect::Gemini => "gemini",
        EndpointDialect::Ollama => "ollama",
    }
}

fn dialect_of(word: &str) -> Option<EndpointDialect> {
    use EndpointDialect::{Anthropic, Gemini, Ollama, OpenAi, Text};
    [OpenAi, Text, Anthropic, Gemini, Ollama]
        .into_iter()
        .find(|dialect| self::word(*dialect) == word)
}
