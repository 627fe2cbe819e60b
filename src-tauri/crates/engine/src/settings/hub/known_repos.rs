//! Repositories and headers of the hub that were loaded lately, so that choosing a file needs no
//! second request.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use local::GgufHeader;
use provider::hub::Repository;
use provider::hub::names::RepoId;

/// Maximum number of repositories, and of headers.
const KEPT: usize = 32;

#[derive(Clone, Default)]
pub(crate) struct KnownRepos {
    inner: Arc<Mutex<Known>>,
}

#[derive(Default)]
struct Known {
    repos: VecDeque<Arc<Repository>>,
    headers: VecDeque<(RepoId, String, Arc<GgufHeader>)>,
}

impl KnownRepos {
    pub(crate) fn get(&self, repo: &RepoId) -> Option<Arc<Repository>> {
        self.lock()
            .repos
            .iter()
            .find(|known| known.model.repo == *repo)
            .cloned()
    }

    pub(crate) fn put(&self, repository: Repository) -> Arc<Repository> {
        let mut known = self.lock();
        known
            .repos
            .retain(|other| other.model.repo != repository.model.repo);
        known.repos.truncate(KEPT - 1);
        let kept = Arc::new(repository);
        known.repos.push_front(Arc::clone(&kept));
        kept
    }

    pub(crate) fn header(&self, repo: &RepoId, path: &str) -> Option<Arc<GgufHeader>> {
        let known = self.lock();
        let found = known
            .headers
            .iter()
            .find(|(of, file, _)| of == repo && file == path);
        found.map(|(_, _, header)| Arc::clone(header))
    }

    pub(crate) fn put_header(
        &self,
        repo: &RepoId,
        path: &str,
        header: GgufHeader,
    ) -> Arc<GgufHeader> {
        let mut known = self.lock();
        known.headers.truncate(KEPT - 1);
        let kept = Arc::new(header);
        known
            .headers
            .push_front((repo.clone(), path.to_owned(), Arc::clone(&kept)));
        kept
    }

    /// Forgets everything, because another hub was chosen.
    pub(crate) fn clear(&self) {
        *self.lock() = Known::default();
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
