//! Settings, models, endpoints and tools.

mod hub;
mod layered;
mod loading;
mod local_api;
mod model;
mod page_values;
mod presets;
mod privacy;
mod protection;
mod settings;
mod tool_servers;
mod tools;

pub use hub::*;
pub use layered::*;
pub use loading::*;
pub use local_api::*;
pub use model::*;
pub use page_values::*;
pub use presets::*;
pub use privacy::*;
pub use settings::*;
pub use tool_servers::*;
pub use tools::*;

// The crate `protection` has the same name.
pub use self::protection::*;
