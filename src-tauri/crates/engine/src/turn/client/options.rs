//! Applies the options of a client to the request for a model.

use domain::sampling::Sampling;
use provider::Request;

use crate::api::client::ClientOptions;

/// Overrides the settings by what the client sent.
pub(crate) fn apply(options: &ClientOptions, request: &mut Request) {
    sample(options, &mut request.sampling);
    // Endpoints accept only the first few, and the client relies on its own.
    let known = std::mem::take(&mut request.prompt.stop);
    request.prompt.stop = options.stop.iter().cloned().chain(known).collect();
}

fn sample(options: &ClientOptions, sampling: &mut Sampling) {
    sampling.frequency_penalty = options
        .frequency_penalty
        .unwrap_or(sampling.frequency_penalty);
    sampling.presence_penalty = options
        .presence_penalty
        .unwrap_or(sampling.presence_penalty);
    sampling
        .rules
        .logit_bias
        .extend(options.logit_bias.iter().cloned());
    // A demanded call has its own grammar.
    if let Some(schema) = options
        .json_schema
        .as_ref()
        .filter(|_| !options.tool_choice.is_forced())
    {
        (sampling.rules.grammar, sampling.rules.json_schema) = (None, Some(schema.clone()));
    }
    if let Some(wanted) = options.top_logprobs {
        // Without an alternative, no probability is reported at all.
        sampling.alternatives = sampling.alternatives.max(wanted).max(1);
    }
}

#[cfg(test)]
mod tests {
    use domain::prompt::Prompt;
    use domain::sampling::SamplerOptions;

    use super::*;

    fn request() -> Request {
        let prompt = Prompt {
            stop: vec!["\nTom:".to_owned()],
            ..Prompt::default()
        };
        let sampling = SamplerOptions::default().resolve(1);
        Request {
            cache_key: String::new(),
            background: false,
            prompt,
            sampling,
            response_schema: None,
        }
    }

    #[test]
    fn nothing_sent_changes_nothing() {
        let mut changed = request();
        apply(&ClientOptions::default(), &mut changed);
        assert_eq!(changed, request());
    }

    #[test]
    fn stop_texts_of_the_client_come_first() {
        let mut changed = request();
        let stop = vec!["END".to_owned()];
        apply(
            &ClientOptions {
                stop,
                top_logprobs: Some(0),
                ..ClientOptions::default()
            },
            &mut changed,
        );
        assert_eq!(
            (
                changed.prompt.stop.join("|").as_str(),
                changed.sampling.alternatives
            ),
            ("END|\nTom:", 1)
        );
    }
}
