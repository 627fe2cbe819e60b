//! Bundles: instruct, context, system prompt and sampler presets in one file.

use serde_json::{Map, Value};

use super::{context_template, instruct, sampler, system_prompt};
use crate::convert::converted::Converted;
use crate::convert::note::ConversionNote;
use crate::convert::sections::text;
use crate::prompt_template::Section;

pub(super) fn convert(bundle: &Map<String, Value>, converted: &mut Converted) {
    let part = |field: &str| bundle.get(field).and_then(Value::as_object);
    let report = &mut converted.report;
    let bundled = converted.name.clone();
    let named = |of: &Map<String, Value>| match text(of, "name").trim() {
        "" => bundled.clone(),
        own => own.to_owned(),
    };
    if let Some(instruct) = part("instruct") {
        converted.format = Some(instruct::convert(instruct, &named(instruct), report));
    }
    if let Some(preset) = part("preset") {
        converted.sampling = Some(sampler::convert(preset, &named(preset), &[], report));
    }
    // Both become one template: the system prompt goes where the story string puts it.
    match (part("context"), part("sysprompt")) {
        (Some(context), sysprompt) => {
            let mut template = context_template::convert(context, &named(context), report);
            for own in sysprompt.map(system_prompt::sections).into_iter().flatten() {
                put_over(&mut template.sections, own);
            }
            converted.templates.push(template);
        }
        (None, Some(sysprompt)) => converted
            .templates
            .push(system_prompt::convert(sysprompt, &named(sysprompt))),
        (None, None) => {}
    }
    if part("reasoning").is_some() {
        report.push(ConversionNote::new(
            "reasoning",
            "left out: the tags of thoughts are known for every model",
        ));
    }
}

fn put_over(sections: &mut Vec<Section>, own: Section) {
    let order = sections
        .iter()
        .find(|section| section.name == own.name)
        .and_then(|section| section.order);
    sections.retain(|section| section.name != own.name);
    sections.push(Section {
        order: own.order.or(order),
        ..own
    });
}
