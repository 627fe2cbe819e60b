//! The models that endpoints offer. A row keeps its id while its endpoint exists, because chats
//! refer to models by id.

use domain::EndpointId;
use domain::model::{Endpoint, EndpointModel};
use rusqlite::{OptionalExtension, Row, params};
use uuid::Uuid;

use super::endpoint;
use crate::StoreError;
use crate::access::{EndpointModels, EndpointModelsMut};
use crate::sql::Col;

impl EndpointModels<'_> {
    /// The models that the endpoint offers, in its order. Models that it no longer offers are left
    /// out.
    pub fn of(&self, endpoint: EndpointId) -> Result<Vec<EndpointModel>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT id, name, context, typed FROM endpoint_model WHERE endpoint = ?1 AND position IS NOT NULL \
                 ORDER BY position, name",
            )?
            .query_map([Col(endpoint)], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Finds an endpoint by its own id or the id of one of its models, with the model to use. An
    /// endpoint id selects the default model. The context size of the endpoint is the maximum for
    /// all of its models.
    pub fn resolve(&self, id: EndpointId) -> Result<Option<Endpoint>, StoreError> {
        let endpoint = self
            .conn
            .prepare_cached(
                "SELECT e.id AS id, e.name AS name, e.dialect AS dialect, e.url AS url, e.headers AS headers, \
                 coalesce(m.name, e.model) AS model, \
                 min(coalesce(m.context, e.context), e.context) AS context FROM endpoint e \
                 LEFT JOIN endpoint_model m ON m.endpoint = e.id AND m.id = ?1 WHERE e.id = ?1 OR m.id = ?1",
            )?
            .query_row([Col(id)], endpoint::from_row)
            .optional()?;
        Ok(endpoint)
    }
}

impl EndpointModelsMut<'_> {
    /// Replaces the list of models that the endpoint offers. Known names keep their ids. A model
    /// that is no longer offered keeps its row, so that chats that use it can still show its name.
    pub fn replace(
        &mut self,
        endpoint: EndpointId,
        models: &[(String, Option<u32>, bool)],
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("UPDATE endpoint_model SET position = NULL WHERE endpoint = ?1")?
            .execute([Col(endpoint)])?;
        let mut keep = self.conn.prepare_cached(
            "INSERT INTO endpoint_model (id, endpoint, name, context, typed, position) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
             ON CONFLICT (endpoint, name) DO UPDATE SET context = coalesce(excluded.context, context), \
             typed = excluded.typed, position = excluded.position",
        )?;
        for (position, (name, context, typed)) in models.iter().enumerate() {
            let id = Col(EndpointId(Uuid::now_v7()));
            keep.execute(params![
                id,
                Col(endpoint),
                name,
                context,
                typed,
                position as i64
            ])?;
        }
        Ok(())
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<EndpointModel> {
    Ok(EndpointModel {
        id: row.get::<_, Col<_>>("id")?.0,
        name: row.get("name")?,
        context: row.get("context")?,
        typed: row.get("typed")?,
    })
}
