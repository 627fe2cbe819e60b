//! What happens to a user.

pub mod costs;
pub mod first_light;
pub mod imports;
pub mod instances;
pub mod kills;
pub mod walls;
