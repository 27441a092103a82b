//! The values of `timeout`: `30`, `2.5`, `"500ms"`, `"30s"`, `"2m"`.

use syn::Lit;

const SHAPES: &str = "expected seconds (`timeout = 30`) or a number with a unit (\"500ms\", \"30s\", \"2m\")";

/// The literal in whole milliseconds, or what is wrong with it.
pub(super) fn milliseconds(literal: &Lit) -> Result<u64, String> {
    let (digits, unit) = match literal {
        Lit::Int(number) if number.suffix().is_empty() => (number.base10_digits().to_owned(), "s"),
        Lit::Float(number) if number.suffix().is_empty() => (number.base10_digits().to_owned(), "s"),
        Lit::Str(text) => {
            let text = text.value();
            let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
            let (digits, unit) = text.split_at(split);
            let unit = match unit.trim() {
                "ms" => "ms",
                "s" => "s",
                "m" | "min" => "m",
                "h" => "h",
                _ => return Err(SHAPES.to_owned()),
            };
            (digits.to_owned(), unit)
        }
        _ => return Err(SHAPES.to_owned()),
    };
    let number: f64 = digits.parse().map_err(|_| SHAPES.to_owned())?;
    let milliseconds = number
        * match unit {
            "ms" => 1.0,
            "s" => 1_000.0,
            "m" => 60_000.0,
            _ => 3_600_000.0,
        };
    if milliseconds < 1.0 {
        return Err("`timeout` must be at least one millisecond".to_owned());
    }
    // A year is far beyond any run and far below where a float stops counting milliseconds exactly.
    if milliseconds > 365.0 * 24.0 * 3_600_000.0 {
        return Err("`timeout` is longer than a year".to_owned());
    }
    Ok(milliseconds.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::{SHAPES, milliseconds};

    #[test]
    fn reads_each_shape() {
        for (source, expected) in [
            ("30", Ok(30_000)),
            ("1_000", Ok(1_000_000)),
            ("2.5", Ok(2_500)),
            ("1e1", Ok(10_000)),
            ("\"500ms\"", Ok(500)),
            ("\"30s\"", Ok(30_000)),
            ("\"30 s\"", Ok(30_000)),
            ("\"1.5s\"", Ok(1_500)),
            ("\"2m\"", Ok(120_000)),
            ("\"1h\"", Ok(3_600_000)),
            ("0", Err("`timeout` must be at least one millisecond")),
            ("-1", Err("`timeout` must be at least one millisecond")),
            ("\"0.2ms\"", Err("`timeout` must be at least one millisecond")),
            ("\"9000h\"", Err("`timeout` is longer than a year")),
            ("1e300", Err("`timeout` is longer than a year")),
            ("30u64", Err(SHAPES)),
            ("\"30\"", Err(SHAPES)),
            ("\"\"", Err(SHAPES)),
            ("\"ms\"", Err(SHAPES)),
            ("\"1.2.3s\"", Err(SHAPES)),
            ("\"-3s\"", Err(SHAPES)),
            ("\"3 days\"", Err(SHAPES)),
            ("true", Err(SHAPES)),
        ] {
            let literal = syn::parse_str(source).expect(source);
            assert_eq!(milliseconds(&literal), expected.map_err(str::to_owned), "{source}");
        }
    }
}
