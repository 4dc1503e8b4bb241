//! `[delivery]`: limits of what the server delivers.

use anyhow::bail;
use clap::Args;
use punctual_core::Span;
use punctual_server::DeliveryLimits;
use serde::Deserialize;

use crate::values;

/// Limits of deliveries as flags and variables give them.
#[derive(Args, Default)]
#[command(next_help_heading = "Delivery")]
pub(crate) struct DeliveryFlags {
    /// Most deliveries under way at once; a queue has at most as many as places are free [default: 1000]
    #[arg(
        id = "delivery_max_in_flight",
        long = "delivery-max-in-flight",
        env = "PUNCTUAL_DELIVERY_MAX_IN_FLIGHT",
        value_name = "N"
    )]
    max_in_flight: Option<usize>,
    /// The longest one delivery may take, whatever its time-out [default: 1h]
    #[arg(id = "delivery_max_timeout", long = "delivery-max-timeout",
        env = "PUNCTUAL_DELIVERY_MAX_TIMEOUT", value_name = "SPAN", value_parser = values::span)]
    max_timeout: Option<Span>,
}

/// Limits of deliveries as the file gives them.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DeliveryFile {
    max_in_flight: Option<usize>,
    max_timeout: Option<Span>,
}

impl DeliveryFlags {
    /// Settles every limit.
    pub(crate) fn settle(&self, file: &DeliveryFile) -> anyhow::Result<DeliveryLimits> {
        let initial = DeliveryLimits::default();
        let limits = DeliveryLimits {
            max_in_flight: self
                .max_in_flight
                .or(file.max_in_flight)
                .unwrap_or(initial.max_in_flight),
            max_timeout: self.max_timeout.or(file.max_timeout).unwrap_or(initial.max_timeout),
        };
        if limits.max_in_flight == 0 {
            bail!("delivery.max_in_flight: at least 1");
        }
        if limits.max_timeout.is_zero() {
            bail!("delivery.max_timeout: longer than 0");
        }
        Ok(limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_win_over_the_file_and_nothing_is_zero() {
        let settled = |flags: DeliveryFlags, text: &str| {
            flags.settle(&toml::from_str(text).unwrap()).map_err(|reason| reason.to_string())
        };
        assert_eq!(settled(DeliveryFlags::default(), ""), Ok(DeliveryLimits::default()));
        let flags = DeliveryFlags { max_in_flight: Some(7), max_timeout: None };
        let limits = settled(flags, "max_in_flight = 9\nmax_timeout = '1m'").unwrap();
        assert_eq!((limits.max_in_flight, limits.max_timeout), (7, Span::from_secs(60)));
        for field in ["max_in_flight", "max_timeout"] {
            let reason = settled(DeliveryFlags::default(), &format!("{field} = 0")).unwrap_err();
            assert!(reason.starts_with(&format!("delivery.{field}: ")), "{reason}");
        }
    }
}
