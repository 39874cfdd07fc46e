//! Types that would contain themselves: where one does, by way of others or not,
//! a box stands in between. Lists and maps are one already.

use crate::model::{Body, Own};

/// Puts boxes where they are needed, and nowhere else.
pub(crate) fn put(types: &mut [Own]) {
    let contained: Vec<Vec<usize>> = types
        .iter()
        .map(|own| match &own.body {
            Body::Struct(body) => {
                body.fields.iter().filter_map(|field| field.value.contained()).collect()
            }
            Body::Enum(_) => Vec::new(),
        })
        .collect();
    let circle = circles(&contained);
    for (index, own) in types.iter_mut().enumerate() {
        let Body::Struct(body) = &mut own.body else { continue };
        for field in &mut body.fields {
            let inside = field.value.contained();
            field.is_boxed = inside.is_some_and(|inside| circle[inside] == circle[index]);
        }
    }
}

/// A number for each node, the same for those that can be reached from each
/// other. Neither walk recurses: a chain can be as long as a schema is.
fn circles(edges: &[Vec<usize>]) -> Vec<usize> {
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
    let mut circle = vec![usize::MAX; edges.len()];
    for start in order.into_iter().rev() {
        let mut waiting = vec![start];
        while let Some(node) = waiting.pop() {
            if circle[node] == usize::MAX {
                circle[node] = start;
                waiting.extend(&back[node]);
            }
        }
    }
    circle
}

#[cfg(test)]
mod tests {
    use super::circles;

    #[test]
    fn those_are_together_that_lead_to_each_other() {
        let found = circles(&[vec![1], vec![2], vec![1, 3], vec![], vec![4]]);
        assert_eq!(found[1], found[2]);
        for other in [0, 3, 4] {
            assert_ne!(found[1], found[other]);
        }
        assert_ne!(found[0], found[4]);
    }

    #[test]
    fn a_chain_may_be_long() {
        let edges: Vec<Vec<usize>> = (0..100_000).map(|node| vec![(node + 1) % 100_000]).collect();
        let found = circles(&edges);
        assert!(found.iter().all(|circle| *circle == found[0]));
    }
}
