//! Converts domain types to and from SQL columns.

use domain::chat::{MessageSource, Role, SwipeState};
use domain::memory::{ArchiveReason, MemoryOrigin, MemoryType};
use domain::model::ModelChoice;
use domain::{
    ApiKeyId, CharacterId, ChatId, DocumentId, EndpointId, FolderId, KeyframeId, LorebookId,
    MemoryId, MessageId, ModelId, PersonaId, SwipeId, Timestamp, ToolCall, ToolRound, ToolServerId,
};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, Null, ToSql, ToSqlOutput, ValueRef};
use uuid::Uuid;

use crate::{AssetHash, StoreError};

/// Wraps a domain value for a column.
pub(crate) struct Col<T>(pub(crate) T);

macro_rules! id_columns {
    ($($id:ident)*) => {$(
        impl ToSql for Col<$id> {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::from(self.0.0.as_bytes().as_slice()))
            }
        }
        impl FromSql for Col<$id> {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                <[u8; 16]>::column_result(value).map(|bytes| Self($id(Uuid::from_bytes(bytes))))
            }
        }
    )*};
}

id_columns! { ApiKeyId CharacterId ChatId DocumentId EndpointId FolderId KeyframeId LorebookId MemoryId MessageId ModelId PersonaId SwipeId ToolServerId }

impl ToSql for Col<Timestamp> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.0))
    }
}

impl FromSql for Col<Timestamp> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value
            .as_i64()
            .map(|milliseconds| Self(Timestamp(milliseconds)))
    }
}

impl ToSql for Col<AssetHash> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.as_bytes().as_slice()))
    }
}

impl FromSql for Col<AssetHash> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        <[u8; 32]>::column_result(value).map(|bytes| Self(AssetHash::from_bytes(bytes)))
    }
}

impl ToSql for Col<Role> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.as_str()))
    }
}

impl FromSql for Col<Role> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str()?;
        [
            Role::User,
            Role::Character,
            Role::Narrator,
            Role::Tool,
            Role::Event,
        ]
        .into_iter()
        .find(|role| role.as_str() == text)
        .map(Self)
        .ok_or(FromSqlError::InvalidType)
    }
}

impl ToSql for Col<MessageSource> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.as_str()))
    }
}

impl FromSql for Col<MessageSource> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str()?;
        let known = MessageSource::ALL
            .into_iter()
            .find(|source| source.as_str() == text);
        known.map(Self).ok_or(FromSqlError::InvalidType)
    }
}

impl ToSql for Col<MemoryOrigin> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.as_str()))
    }
}

impl FromSql for Col<MemoryOrigin> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str()?;
        let known = MemoryOrigin::ALL
            .into_iter()
            .find(|origin| origin.as_str() == text);
        known.map(Self).ok_or(FromSqlError::InvalidType)
    }
}

impl ToSql for Col<ArchiveReason> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.as_str()))
    }
}

impl FromSql for Col<ArchiveReason> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str()?;
        let known = ArchiveReason::ALL
            .into_iter()
            .find(|why| why.as_str() == text);
        known.map(Self).ok_or(FromSqlError::InvalidType)
    }
}

impl ToSql for Col<MemoryType> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.as_str()))
    }
}

impl FromSql for Col<MemoryType> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str().map(|word| Self(MemoryType::of(word)))
    }
}

impl ToSql for Col<SwipeState> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(match self.0 {
            SwipeState::Streaming => "streaming",
            SwipeState::Finished => "finished",
            // The column `stopped` tells them apart.
            SwipeState::Interrupted | SwipeState::Stopped => "interrupted",
        }))
    }
}

impl FromSql for Col<SwipeState> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "streaming" => Ok(Self(SwipeState::Streaming)),
            "finished" => Ok(Self(SwipeState::Finished)),
            "interrupted" => Ok(Self(SwipeState::Interrupted)),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

impl ToSql for Col<ModelChoice> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        serde_json::to_string(&self.0)
            .map(ToSqlOutput::from)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    }
}

impl FromSql for Col<ModelChoice> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?)
            .map(Self)
            .map_err(FromSqlError::other)
    }
}

/// Stores an empty list as NULL.
fn list_to_sql<T: serde::Serialize>(list: &[T]) -> rusqlite::Result<ToSqlOutput<'_>> {
    if list.is_empty() {
        return Ok(ToSqlOutput::from(Null));
    }
    serde_json::to_string(list)
        .map(ToSqlOutput::from)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

fn list_from_sql<T: serde::de::DeserializeOwned>(value: ValueRef<'_>) -> FromSqlResult<Vec<T>> {
    match value {
        ValueRef::Null => Ok(Vec::new()),
        json => serde_json::from_str(json.as_str()?).map_err(FromSqlError::other),
    }
}

impl ToSql for Col<&[ToolCall]> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        list_to_sql(self.0)
    }
}

impl FromSql for Col<Vec<ToolCall>> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        list_from_sql(value).map(Self)
    }
}

impl ToSql for Col<&[ToolRound]> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        list_to_sql(self.0)
    }
}

impl FromSql for Col<Vec<ToolRound>> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        list_from_sql(value).map(Self)
    }
}

/// Returns `NotFound` if a statement changed no row, so that editing a missing item is an error.
pub(crate) fn one(rows: usize, what: &'static str) -> Result<(), StoreError> {
    if rows == 0 {
        Err(StoreError::NotFound { what })
    } else {
        Ok(())
    }
}
