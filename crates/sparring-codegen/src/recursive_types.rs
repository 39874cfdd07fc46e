//! Boxes the fields of types that contain themselves, directly or through others. Lists and
//! maps need no box.

use crate::model::{Body, NamedType};

/// Boxes exactly the fields that need it.
pub(crate) fn box_recursive_fields(types: &mut [NamedType]) {
    let embedded: Vec<Vec<usize>> = types
        .iter()
        .map(|named| match &named.body {
            Body::Struct(body) => {
                body.fields.iter().filter_map(|field| field.value.embedded_type()).collect()
            }
            Body::Enum(_) => Vec::new(),
        })
        .collect();
    let component = strongly_connected_components(&embedded);
    for (index, named) in types.iter_mut().enumerate() {
        let Body::Struct(body) = &mut named.body else { continue };
        for field in &mut body.fields {
            let embedded = field.value.embedded_type();
            field.is_boxed = embedded.is_some_and(|inner| component[inner] == component[index]);
        }
    }
}

/// Returns a number for each node, which is the same for nodes that can reach each other.
/// Neither search recurses, since a chain can be as long as a schema.
fn strongly_connected_components(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut back = vec![Vec::new(); edges.len()];
    for (from, to) in
        edges.iter().enumerate().flat_map(|(from, to)| to.iter().map(move |to| (from, *to)))
    {
        back[to].push(from);
    }
    let mut order = Vec::with_capacity(edges.len());
    let mut seen = vec![false; edges.len()];
    for start in 0..edges.len() {
        let mut path = Vec::new();
        if !std::mem::replace(&mut seen[start], true) {
            path.push((start, 0));
        }
        while let Some((node, next)) = path.last_mut() {
            match edges[*node].get(*next) {
                Some(&to) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[to], true) {
                        path.push((to, 0));
                    }
                }
                None => {
                    order.push(*node);
                    path.pop();
                }
            }
        }
    }
    let mut component = vec![usize::MAX; edges.len()];
    for start in order.into_iter().rev() {
        let mut pending = vec![start];
        while let Some(node) = pending.pop() {
            if component[node] == usize::MAX {
                component[node] = start;
                pending.extend(&back[node]);
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::strongly_connected_components;

    #[test]
    fn nodes_that_reach_each_other_share_a_component() {
        let found = strongly_connected_components(&[vec![1], vec![2], vec![1, 3], vec![], vec![4]]);
        assert_eq!(found[1], found[2]);
        for other in [0, 3, 4] {
            assert_ne!(found[1], found[other]);
        }
        assert_ne!(found[0], found[4]);
    }

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let edges: Vec<Vec<usize>> = (0..100_000).map(|node| vec![(node + 1) % 100_000]).collect();
        let found = strongly_connected_components(&edges);
        assert!(found.iter().all(|component| *component == found[0]));
    }
}
