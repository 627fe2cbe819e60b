//! Topological order of variables: inputs come before the variables that use them.

use std::collections::{BTreeSet, HashMap, VecDeque};

/// A cycle of variables.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the variables {} depend on each other in a circle; remove one of them from the text of another", path.join(" -> "))]
pub struct Cycle {
    /// Begins and ends with the same name.
    pub path: Vec<String>,
}

/// Indices of `nodes`, each after all its inputs. Names that are not nodes are assumed to be
/// available.
pub(super) fn order(nodes: &[(&str, Vec<&str>)]) -> Result<Vec<usize>, Cycle> {
    let index: HashMap<&str, usize> = nodes
        .iter()
        .enumerate()
        .map(|(at, (name, _))| (*name, at))
        .collect();
    let needs: Vec<BTreeSet<usize>> = nodes
        .iter()
        .map(|(_, inputs)| {
            inputs
                .iter()
                .filter_map(|name| index.get(name).copied())
                .collect()
        })
        .collect();
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
        Some(stuck) => Err(cycle(nodes, &needs, &waiting, stuck)),
    }
}

/// Walks from a stuck node along stuck inputs until a node repeats. Every stuck node has a stuck
/// input, so the walk ends in a cycle.
fn cycle(
    nodes: &[(&str, Vec<&str>)],
    needs: &[BTreeSet<usize>],
    waiting: &[usize],
    stuck: usize,
) -> Cycle {
    let mut walked = vec![stuck];
    let mut place = HashMap::from([(stuck, 0)]);
    let mut at = stuck;
    while let Some(next) = needs[at].iter().copied().find(|input| waiting[*input] > 0) {
        if let Some(start) = place.get(&next) {
            let round = walked[*start..].iter().chain([&next]);
            return Cycle {
                path: round.map(|at| nodes[*at].0.to_owned()).collect(),
            };
        }
        place.insert(next, walked.len());
        walked.push(next);
        at = next;
    }
    Cycle {
        path: walked.iter().map(|at| nodes[*at].0.to_owned()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_come_first() {
        let nodes = [("c", vec!["b", "given"]), ("a", vec![]), ("b", vec!["a"])];
        assert_eq!(order(&nodes), Ok(vec![1, 2, 0]));
    }

    #[test]
    fn names_the_cycle() {
        let nodes = [
            ("far", vec!["a"]),
            ("a", vec!["b"]),
            ("b", vec!["c"]),
            ("c", vec!["a", "d"]),
            ("d", vec![]),
        ];
        let error = order(&nodes).unwrap_err();
        assert_eq!(error.path, ["a", "b", "c", "a"]);
        assert!(error.to_string().contains("a -> b -> c -> a"), "{error}");
    }

    #[test]
    fn variable_in_its_own_text_is_a_cycle() {
        assert_eq!(order(&[("a", vec!["a"])]).unwrap_err().path, ["a", "a"]);
    }

    #[test]
    fn long_chain_does_not_overflow_the_stack() {
        let names: Vec<String> = (0..10_000).map(|n| format!("v{n}")).collect();
        let nodes: Vec<_> = (0..10_000)
            .map(|n| {
                (
                    names[n].as_str(),
                    names
                        .get(n + 1)
                        .map(|next| next.as_str())
                        .into_iter()
                        .collect(),
                )
            })
            .collect();
        assert_eq!(order(&nodes).unwrap().len(), 10_000);
    }
}
