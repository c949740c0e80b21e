//! Subspaces of the space of all cells, grown column by column (Gram-Schmidt, each column twice:
//! once is not enough where columns are nearly parallel).

/// A column adds a dimension where more than this share of its length is new.
const NEW: f64 = 1e-7;

/// A subspace, by an orthonormal basis.
#[derive(Debug, Clone, Default)]
pub(crate) struct Span {
    basis: Vec<Vec<f64>>,
}

impl Span {
    pub fn rank(&self) -> usize {
        self.basis.len()
    }

    pub fn basis(&self) -> &[Vec<f64>] {
        &self.basis
    }

    /// What of `column` lies outside.
    pub fn residual(&self, column: &[f64]) -> Vec<f64> {
        self.divide(column).1
    }

    /// Adds a column: its coordinates in the basis, the last of which is new; `None` where it adds
    /// nothing.
    pub fn add(&mut self, column: &[f64]) -> Option<Vec<f64>> {
        let whole = length(column);
        let (mut coordinates, mut rest) = self.divide(column);
        let new = length(&rest);
        if whole <= 0.0 || new <= NEW * whole {
            return None;
        }
        for value in &mut rest {
            *value /= new;
        }
        self.basis.push(rest);
        coordinates.push(new);
        Some(coordinates)
    }

    /// Adds all columns and says how many dimensions they added.
    pub fn extend<'a>(&mut self, columns: impl IntoIterator<Item = &'a Vec<f64>>) -> usize {
        let before = self.rank();
        for column in columns {
            self.add(column);
        }
        self.rank() - before
    }

    /// Squared length of what of `y` lies inside, without the first `from` dimensions.
    pub fn squares_from(&self, from: usize, y: &[f64]) -> f64 {
        self.basis[from..].iter().map(|axis| dot(axis, y).powi(2)).sum()
    }

    fn divide(&self, column: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut rest = column.to_vec();
        let mut coordinates = vec![0.0; self.basis.len()];
        for _ in 0..2 {
            for (axis, coordinate) in self.basis.iter().zip(&mut coordinates) {
                let part = dot(axis, &rest);
                *coordinate += part;
                for (value, axis_value) in rest.iter_mut().zip(axis) {
                    *value -= part * axis_value;
                }
            }
        }
        (coordinates, rest)
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

pub(crate) fn length(column: &[f64]) -> f64 {
    dot(column, column).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_columns_add_nothing() {
        let mut span = Span::default();
        assert_eq!(span.add(&[0.0, 0.0, 0.0]), None);
        assert_eq!(span.add(&[3.0, 4.0, 0.0]), Some(vec![5.0]));
        assert_eq!(span.add(&[6.0, 8.0, 0.0]), None);
        assert!(span.add(&[6.0, 8.0, 1.0]).is_some());
        assert_eq!(span.rank(), 2);
        let rest = span.residual(&[4.0, -3.0, 7.0]);
        assert!((length(&rest) - 5.0).abs() < 1e-12);
        assert!((span.squares_from(1, &[0.0, 0.0, 7.0]) - 49.0).abs() < 1e-12);
    }
}
