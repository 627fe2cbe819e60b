//! Finds the local model of an id, for every room that works on one.

use domain::ModelId;
use domain::model::LocalModel;

use crate::base::error::{ApiResult, not_found};
use crate::base::handle::Base;

/// Local models by their ids. Clones share one state.
#[derive(Clone)]
pub(crate) struct ModelLookup {
    base: Base,
}

impl ModelLookup {
    pub(super) fn new(base: &Base) -> Self {
        Self { base: base.clone() }
    }

    fn base(&self) -> &Base {
        &self.base
    }

    pub(crate) async fn local_model(&self, id: ModelId) -> ApiResult<LocalModel> {
        self.base()
            .store()
            .read(move |store| store.models().get(id))
            .await?
            .ok_or_else(|| not_found("model"))
    }
}
