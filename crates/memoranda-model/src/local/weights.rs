//! Tensors of a model, by name.

use ndarray::{Array1, Array2};
use safetensors::{Dtype, SafeTensors};

/// Prefixes of tensor names: none for BERT alone, `bert.` within a larger model.
const PREFIXES: [&str; 2] = ["", "bert."];

/// A safetensors file.
pub(super) struct ModelWeights<'b> {
    tensors: SafeTensors<'b>,
    prefix: &'static str,
}

impl<'b> ModelWeights<'b> {
    pub(super) fn read(bytes: &'b [u8]) -> Result<Self, String> {
        let tensors = SafeTensors::deserialize(bytes).map_err(|e| e.to_string())?;
        let known = |prefix: &&str| {
            tensors.tensor(&format!("{prefix}embeddings.word_embeddings.weight")).is_ok()
        };
        let prefix = PREFIXES.into_iter().find(known);
        let prefix = prefix.ok_or("it contains no embeddings.word_embeddings.weight")?;
        Ok(Self { tensors, prefix })
    }

    pub(super) fn row(&self, name: &str, length: usize) -> Result<Array1<f32>, String> {
        Ok(Array1::from_vec(self.floats(name, &[length])?))
    }

    pub(super) fn matrix(
        &self,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<Array2<f32>, String> {
        let floats = self.floats(name, &[rows, columns])?;
        Array2::from_shape_vec((rows, columns), floats).map_err(|e| format!("{name}: {e}"))
    }

    fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, String> {
        let name = format!("{}{name}", self.prefix);
        let tensor = self.tensors.tensor(&name).map_err(|e| e.to_string())?;
        if tensor.shape() != shape {
            return Err(format!("{name} is {:?}, and should be {shape:?}", tensor.shape()));
        }
        let bytes = tensor.data();
        let halves = || bytes.as_chunks::<2>().0.iter().map(|&half| u16::from_le_bytes(half));
        match tensor.dtype() {
            Dtype::F32 => {
                Ok(bytes.as_chunks::<4>().0.iter().map(|&four| f32::from_le_bytes(four)).collect())
            }
            Dtype::BF16 => Ok(halves().map(|half| f32::from_bits(u32::from(half) << 16)).collect()),
            Dtype::F16 => Ok(halves().map(half_to_f32).collect()),
            other => Err(format!("{name} is of {other:?}, which is not supported")),
        }
    }
}

/// Converts an IEEE half-precision number: one bit sign, five bits exponent, ten bits fraction.
fn half_to_f32(half: u16) -> f32 {
    let sign = if half & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(half >> 10 & 0x1f);
    let fraction = f32::from(half & 0x3ff) / 1024.0;
    sign * match exponent {
        0 => fraction * 2f32.powi(-14),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction) * 2f32.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_numbers_are_converted() {
        let check = |half: u16, expected: f32| assert_eq!(half_to_f32(half), expected, "{half:#x}");
        check(0x3c00, 1.0);
        check(0xc000, -2.0);
        check(0x3555, 0.333_251_95);
        check(0x0001, 5.960_464_5e-8);
        check(0x7bff, 65504.0);
        check(0xfc00, f32::NEG_INFINITY);
        assert!(half_to_f32(0x7e00).is_nan());
    }
}
