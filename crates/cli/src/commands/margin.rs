//! The margin by which several RUNs are compared.

use anyhow::Result;
use fsarena_model::run::RunHeader;
use fsarena_model::units::parse_share;

/// The margin that is given, or that all RUNs have.
///
/// # Errors
/// Where it is no share, or the RUNs have none or different ones.
pub fn of_runs(given: Option<&str>, headers: &[&RunHeader]) -> Result<f64> {
    let own = headers.iter().filter_map(|header| header.plan.verdict.as_ref());
    let own: Vec<f64> = own.map(|ask| ask.margin).collect();
    if let Some(text) = given {
        let given = parse_share(text).ok().filter(|margin| (0.0001..=1.0).contains(margin));
        let Some(given) = given else {
            refuse!("--margin {text}: expected a share from 0.01% to 100%, such as 2%");
        };
        if own.len() < headers.len() || own.iter().any(|margin| margin.to_bits() != given.to_bits())
        {
            say!("the margin of {text} was chosen after the results were known");
        }
        return Ok(given);
    }
    match own.as_slice() {
        [first, rest @ ..] if rest.iter().all(|margin| margin.to_bits() == first.to_bits()) => {
            Ok(*first)
        }
        [] => refuse!("the RUNs have no margin: give one with --margin"),
        _ => {
            refuse!("the RUNs have different margins: give one with --margin")
        }
    }
}
