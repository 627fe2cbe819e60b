//! The files by which SillyTavern names the members of a group.

use domain::CharacterId;

use crate::base::error::ApiResult;
use crate::library::groups::Groups;
use crate::library::groups::scene::{Member, Scene};

/// Characters that SillyTavern leaves out of file names, besides control characters.
const UNFIT: [char; 9] = ['/', '?', '<', '>', '\\', ':', '*', '|', '"'];

impl Groups {
    /// The card files of the members, in order: the picture that a card was imported from, else its
    /// name as SillyTavern would write it. Cards of the same name are numbered.
    pub(crate) async fn member_files(
        &self,
        scene: &Scene,
    ) -> ApiResult<Vec<(CharacterId, String)>> {
        let ids: Vec<CharacterId> = scene.members().iter().map(|member| member.id).collect();
        let known = self.base().store().read(move |store| {
            ids.into_iter()
                .map(|id| store.sources().file_of_character(id))
                .collect::<Result<Vec<_>, _>>()
        });
        let known = known
            .await?
            .into_iter()
            .map(|file| file.filter(|file| file.ends_with(".png")));
        Ok(unique(scene.members().iter().zip(known)))
    }
}

fn unique<'m>(
    members: impl Iterator<Item = (&'m Member, Option<String>)>,
) -> Vec<(CharacterId, String)> {
    let mut files: Vec<(CharacterId, String)> = Vec::new();
    for (member, known) in members {
        let name = fit(member.card.name());
        let numbered = (1..).map(|number| format!("{name}{number}.png"));
        let mut candidates = known
            .into_iter()
            .chain([format!("{name}.png")])
            .chain(numbered);
        let free = candidates.find(|file| !files.iter().any(|(_, taken)| taken == file));
        files.extend(free.map(|file| (member.id, file)));
    }
    files
}

fn fit(name: &str) -> String {
    let name: String = name
        .chars()
        .filter(|letter| !letter.is_control() && !UNFIT.contains(letter))
        .collect();
    let name = name.trim_end_matches(['.', ' ']);
    if name.is_empty() {
        "unnamed".to_owned()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::groups::turn_order::tests::group;

    #[test]
    fn files_are_fit_and_unique() {
        assert_eq!(fit("Who? Me/You: \"a\\b\"..."), "Who MeYou ab");
        assert_eq!(fit("?"), "unnamed");
        let scene = group();
        let known = [None, Some("Mary Ann.png".to_owned()), None];
        let files = unique(scene.members().iter().zip(known))
            .into_iter()
            .map(|(_, file)| file);
        assert_eq!(
            files.collect::<Vec<_>>(),
            ["Ada.png", "Mary Ann.png", "Mary Ann1.png"]
        );
    }
}
