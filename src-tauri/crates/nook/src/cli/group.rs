//! Arguments of the verbs for group chats.

use clap::{Args, Subcommand, ValueEnum};
use engine::api::TurnOrder;

#[derive(Debug, Subcommand)]
pub(crate) enum GroupVerb {
    /// Start a chat with several characters; the first one greets you
    Create {
        /// Names or ids, in the order of their turns
        #[arg(required = true, num_args = 2.., value_name = "CHARACTER")]
        characters: Vec<String>,
        /// Title of the chat [default: the names]
        #[arg(long)]
        title: Option<String>,
    },
    /// Show the participants and how they take turns
    Show {
        /// Id or title
        chat: String,
    },
    /// Let a character join; it does not know what was said before
    Add(GroupMemberArgs),
    /// Let a character leave
    Remove(GroupMemberArgs),
    /// Let a character speak only when it is called upon
    Mute(GroupMemberArgs),
    /// Let a muted character speak again
    Unmute(GroupMemberArgs),
    /// Send a character away: it neither hears nor speaks
    Away(GroupMemberArgs),
    /// Bring a character back
    Back(GroupMemberArgs),
    /// Tell a character everything that it missed
    Tell(GroupMemberArgs),
    /// Set how the characters take turns
    Order {
        /// Id or title
        chat: String,
        order: OrderArg,
        /// In natural order: whether several characters may answer one message
        #[arg(long, value_name = "BOOL")]
        several: Option<bool>,
        /// Whether a character may answer itself
        #[arg(long, value_name = "BOOL")]
        self_responses: Option<bool>,
    },
    /// Let a character speak, or the narrator [default: whose turn it is]
    Speak {
        /// Id or title
        chat: String,
        /// Name or id
        character: Option<String>,
        #[arg(long, conflicts_with = "character")]
        narrator: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct GroupMemberArgs {
    /// Id or title
    pub(crate) chat: String,
    /// Name or id
    pub(crate) character: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum OrderArg {
    /// Those that are named, else by chance; talkative characters speak more often
    Natural,
    /// One after the other
    List,
    /// Everyone once after each message, by chance
    Pooled,
    /// Only when called upon
    Manual,
    /// The model decides
    Director,
}

impl From<OrderArg> for TurnOrder {
    fn from(order: OrderArg) -> Self {
        match order {
            OrderArg::Natural => Self::Natural,
            OrderArg::List => Self::List,
            OrderArg::Pooled => Self::Pooled,
            OrderArg::Manual => Self::Manual,
            OrderArg::Director => Self::Director,
        }
    }
}
