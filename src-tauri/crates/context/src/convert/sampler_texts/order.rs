//! The order of samplers in a preset.

use domain::sampling::{SamplerOrder, SamplerStage};
use domain::settings::ConfigValue;
use serde_json::{Map, Value as Json};

use crate::convert::note::ConversionNote;
use crate::convert::sampler_texts::{KOBOLD, PresetValues, WEBUI};

/// Reads the order from the first list with a choice of the user. The other lists stay, for the
/// apps that read them.
pub(super) fn order(
    preset: &Map<String, Json>,
    values: &mut PresetValues,
    report: &mut Vec<ConversionNote>,
    kept: &mut Vec<String>,
) {
    let lists = ["samplers", "sampler_priority", "sampler_order"];
    let chosen: Vec<(&str, SamplerOrder)> = lists
        .into_iter()
        .filter_map(|field| Some((field, chosen_order(field, preset.get(field)?.as_array()?)?)))
        .collect();
    let used = chosen.first();
    if let Some((field, order)) = used {
        values.insert(
            "sampler_order".to_owned(),
            ConfigValue::Text(order.to_string().into()),
        );
        let others: Vec<&str> = chosen
            .iter()
            .filter(|(_, other)| other != order)
            .map(|(field, _)| *field)
            .collect();
        if !others.is_empty() {
            let others = others.join(" and ");
            report.push(ConversionNote::new(
                *field,
                format!("this order is used; the one of {others} is kept"),
            ));
        }
    }
    let kept_lists = lists
        .into_iter()
        .filter(|field| preset.contains_key(*field) && (*field != "samplers" || used.is_none()));
    kept.extend(kept_lists.map(str::to_owned));
}

/// The order of a list; `None` if it is the default one here or in its app.
pub(super) fn chosen_order(field: &str, list: &[Json]) -> Option<SamplerOrder> {
    let mut stages: Vec<SamplerStage> = Vec::new();
    for stage in list.iter().filter_map(stage) {
        if !stages.contains(&stage) {
            stages.push(stage);
        }
    }
    let of_webui: Vec<SamplerStage> = stages
        .iter()
        .copied()
        .filter(|stage| WEBUI.contains(stage))
        .collect();
    if field == "sampler_priority" && of_webui == WEBUI {
        return None;
    }
    // The listed samplers take each other's places in the default order; the rest stay where they
    // are.
    let mut listed = stages.iter().copied();
    let places = SamplerStage::ALL.map(|stage| {
        if stages.contains(&stage) {
            listed.next().unwrap_or(stage)
        } else {
            stage
        }
    });
    Some(SamplerOrder::of(places)).filter(|order| *order != SamplerOrder::default())
}

/// The sampler with this number of KoboldAI, or this name of llama.cpp or text-generation-webui.
pub(super) fn stage(item: &Json) -> Option<SamplerStage> {
    if let Some(number) = item.as_u64() {
        return KOBOLD.get(usize::try_from(number).ok()?).copied().flatten();
    }
    match item.as_str()? {
        "typ_p" => Some(SamplerStage::TypicalP),
        "repetition_penalty" => Some(SamplerStage::Penalties),
        "dynamic_temperature" => Some(SamplerStage::Temperature),
        "top_nsigma" => Some(SamplerStage::TopNSigma),
        name => SamplerStage::named(name),
    }
}
