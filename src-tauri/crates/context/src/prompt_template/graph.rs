//! The order in which variables are made: what one is made of comes first (S4.19).

use std::collections::{BTreeSet, HashMap, VecDeque};

/// Variables that need one another in a circle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the variables {} need one another in a circle; break it by taking one of them out of another's text", path.join(" -> "))]
pub struct Cycle {
    /// Begins and ends with the same name.
    pub path: Vec<String>,
}

/// Indices of `nodes`, each after all it needs. Names that are no node are taken as there already.
pub(super) fn order(nodes: &[(&str, Vec<&str>)]) -> Result<Vec<usize>, Cycle> {
    let index: HashMap<&str, usize> = nodes.iter().enumerate().map(|(at, (name, _))| (*name, at)).collect();
    let needs: Vec<BTreeSet<usize>> =
        nodes.iter().map(|(_, inputs)| inputs.iter().filter_map(|name| index.get(name).copied()).collect()).collect();
    let mut waiting: Vec<usize> = needs.iter().map(BTreeSet::len).collect();
    let mut needed_by = vec![Vec::new(); nodes.len()];
    for (at, inputs) in needs.iter().enumerate() {
        for input in inputs {
            needed_by[*input].push(at);
        }
    }
    let mut ready: VecDeque<usize> = (0..nodes.len()).filter(|at| waiting[*at] == 0).collect();
    let mut ordered = Vec::with_capacity(nodes.len());
    while let Some(at) = ready.pop_front() {
        ordered.push(at);
        for next in &needed_by[at] {
            waiting[*next] -= 1;
            if waiting[*next] == 0 {
                ready.push_back(*next);
            }
        }
    }
    match waiting.iter().position(|left| *left > 0) {
        None => Ok(ordered),
        Some(stuck) => Err(circle(nodes, &needs, &waiting, stuck)),
    }
}

/// Walks from a stuck node along stuck inputs until one comes back: each has at least one, so the walk ends in a circle.
fn circle(nodes: &[(&str, Vec<&str>)], needs: &[BTreeSet<usize>], waiting: &[usize], stuck: usize) -> Cycle {
    let mut walked = vec![stuck];
    let mut place = HashMap::from([(stuck, 0)]);
    let mut at = stuck;
    while let Some(next) = needs[at].iter().copied().find(|input| waiting[*input] > 0) {
        if let Some(start) = place.get(&next) {
            let round = walked[*start..].iter().chain([&next]);
            return Cycle { path: round.map(|at| nodes[*at].0.to_owned()).collect() };
        }
        place.insert(next, walked.len());
        walked.push(next);
        at = next;
    }
    Cycle { path: walked.iter().map(|at| nodes[*at].0.to_owned()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_comes_first() {
        let nodes = [("c", vec!["b", "given"]), ("a", vec![]), ("b", vec!["a"])];
        assert_eq!(order(&nodes), Ok(vec![1, 2, 0]));
    }

    #[test]
    fn a_circle_is_named() {
        let nodes = [("far", vec!["a"]), ("a", vec!["b"]), ("b", vec!["c"]), ("c", vec!["a", "d"]), ("d", vec![])];
        let error = order(&nodes).unwrap_err();
        assert_eq!(error.path, ["a", "b", "c", "a"]);
        assert!(error.to_string().contains("a -> b -> c -> a"), "{error}");
    }

    #[test]
    fn a_variable_in_its_own_text_is_a_circle() {
        assert_eq!(order(&[("a", vec!["a"])]).unwrap_err().path, ["a", "a"]);
    }

    #[test]
    fn ten_thousand_in_a_chain_need_no_stack() {
        let names: Vec<String> = (0..10_000).map(|n| format!("v{n}")).collect();
        let nodes: Vec<_> = (0..10_000)
            .map(|n| (names[n].as_str(), names.get(n + 1).map(|next| next.as_str()).into_iter().collect()))
            .collect();
        assert_eq!(order(&nodes).unwrap().len(), 10_000);
    }
}
