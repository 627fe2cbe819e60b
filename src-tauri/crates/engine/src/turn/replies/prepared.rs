//! A turn that is ready to be sent to its model.

use domain::sampling::Sampling;
use provider::Request;

use crate::base::error::ApiResult;
use crate::settings::model_handles::handle::ModelHandle;
use crate::turn::assembly::activated::ActivatedTurn;
use crate::turn::assembly::made::BuiltPrompt;
use crate::turn::client;
use crate::turn::replies::Generation;

/// Everything that a reply needs before its model is called.
pub(crate) struct PreparedTurn {
    pub(crate) model_handle: ModelHandle,
    pub(crate) turn: ActivatedTurn,
    pub(crate) made: BuiltPrompt,
}

impl PreparedTurn {
    /// # Errors
    /// `BadInput` if a local model cannot follow the JSON schema of the reply.
    pub(crate) async fn request(&self, generation: &Generation) -> ApiResult<Request> {
        let Self {
            model_handle,
            turn,
            made,
        } = self;
        // Strict servers count the prompt and the longest reply against the context.
        let room = made
            .assembled
            .budget
            .limit
            .saturating_sub(made.assembled.total)
            .max(1);
        let of_task = turn
            .task
            .as_ref()
            .and_then(|task| task.reply_tokens)
            .unwrap_or(u32::MAX);
        let max_tokens = model_handle.sampling.max_tokens.min(of_task).min(room);
        let prompt = generation
            .library()
            .assets
            .with_pictures(&made.assembled)
            .await;
        let mut sampling = Sampling {
            max_tokens,
            ..model_handle.sampling.clone()
        };
        if let Some(grammar) = self.call_grammar() {
            (sampling.rules.grammar, sampling.rules.json_schema) = (Some(grammar), None);
        }
        if turn.task.is_some() || prompt.continues {
            // They describe a whole reply.
            (
                sampling.rules.grammar,
                sampling.rules.json_schema,
                sampling.rules.min_tokens,
            ) = (None, None, 0);
        }
        let mut request = Request {
            cache_key: turn.inputs.cache_key(),
            background: false,
            prompt,
            sampling,
            response_schema: None,
        };
        if let Some(client) = turn.inputs.client.as_ref().filter(|_| turn.task.is_none()) {
            client::options::apply(client, &mut request);
        }
        client::schema::adapt(model_handle, &mut request.sampling.rules)?;
        Ok(request)
    }

    /// The grammar for the calls of a local model. One that the user has set replaces it, unless a
    /// call is demanded.
    fn call_grammar(&self) -> Option<String> {
        let Self {
            model_handle, turn, ..
        } = self;
        let rules = &model_handle.sampling.rules;
        let own = rules.grammar.is_some() || rules.json_schema.is_some();
        let syntax = turn
            .tools
            .syntax
            .as_ref()
            .filter(|_| turn.tools.can_call() && model_handle.template.is_some())?;
        let frame = &turn.tools.frame;
        (!own || frame.choice.is_forced()).then(|| context::tools::grammar(syntax, frame))
    }
}
