//! `[notices]`: what holds for notices that do not say otherwise, and the lists they come in by.

use clap::Args;
use punctual_core::Span;
use punctual_core::notice::{ContentType, NoticeMethod, NoticeSettings};
use punctual_store::InboxLists;
use serde::Deserialize;

use crate::values;

/// Settings of notices as flags and variables give them.
#[derive(Args, Default)]
#[command(next_help_heading = "Notices")]
pub(crate) struct NoticeFlags {
    /// How notices call their URL: post or get [default: post]
    #[arg(id = "notices_http_method", long = "notices-http-method",
        env = "PUNCTUAL_NOTICES_HTTP_METHOD", value_name = "METHOD", value_parser = values::word::<NoticeMethod>)]
    http_method: Option<NoticeMethod>,
    /// How the data of notices is written: form, json or xml [default: form]
    #[arg(id = "notices_content_type", long = "notices-content-type",
        env = "PUNCTUAL_NOTICES_CONTENT_TYPE", value_name = "TYPE", value_parser = values::word::<ContentType>)]
    content_type: Option<ContentType>,
    /// What an answer to a notice must contain to be a success [default: success]
    #[arg(
        id = "notices_success_flag",
        long = "notices-success-flag",
        env = "PUNCTUAL_NOTICES_SUCCESS_FLAG",
        value_name = "TEXT"
    )]
    success_flag: Option<String>,
    /// The waits between notices, separated by commas [default: 10m,10m,10m,10m]
    #[arg(id = "notices_notice_interval", long = "notices-notice-interval",
        env = "PUNCTUAL_NOTICES_NOTICE_INTERVAL", value_name = "SPANS", value_delimiter = ',',
        value_parser = values::span)]
    notice_interval: Option<Vec<Span>>,
    /// Most notices [default: one more than there are waits]
    #[arg(
        id = "notices_max_notices",
        long = "notices-max-notices",
        env = "PUNCTUAL_NOTICES_MAX_NOTICES",
        value_name = "N"
    )]
    max_notices: Option<u32>,
    /// Whether all notices are sent, also after one has succeeded [default: false]
    #[arg(
        id = "notices_enforce_repeat_notice",
        long = "notices-enforce-repeat-notice",
        env = "PUNCTUAL_NOTICES_ENFORCE_REPEAT_NOTICE",
        value_name = "BOOL"
    )]
    enforce_repeat_notice: Option<bool>,
    /// With Redis: a list whose messages become notices; needs `--notices-backup` [default: none]
    #[arg(
        id = "notices_list",
        long = "notices-list",
        env = "PUNCTUAL_NOTICES_LIST",
        value_name = "KEY"
    )]
    list: Option<String>,
    /// With Redis: a list that messages are moved through on their way [default: none]
    #[arg(
        id = "notices_backup",
        long = "notices-backup",
        env = "PUNCTUAL_NOTICES_BACKUP",
        value_name = "KEY"
    )]
    backup: Option<String>,
}

/// Settings of notices as the file gives them.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct NoticeFile {
    http_method: Option<NoticeMethod>,
    content_type: Option<ContentType>,
    success_flag: Option<String>,
    notice_interval: Option<Vec<Span>>,
    max_notices: Option<u32>,
    enforce_repeat_notice: Option<bool>,
    list: Option<String>,
    backup: Option<String>,
}

impl NoticeFlags {
    /// The lists messages come in by, if they are named.
    pub(crate) fn inbox(&self, file: &NoticeFile) -> anyhow::Result<Option<InboxLists>> {
        let named = |flag: &Option<String>, file: &Option<String>| flag.clone().or(file.clone());
        match (named(&self.list, &file.list), named(&self.backup, &file.backup)) {
            (Some(list), Some(backup)) => Ok(Some(InboxLists { list, backup })),
            (None, None) => Ok(None),
            (Some(_), None) => anyhow::bail!("notices.backup: name one, as notices.list is named"),
            (None, Some(_)) => anyhow::bail!("notices.list: name one, as notices.backup is named"),
        }
    }

    /// Settles every setting.
    pub(crate) fn settle(self, file: NoticeFile) -> anyhow::Result<NoticeSettings> {
        let initial = NoticeSettings::default();
        let settings = NoticeSettings {
            http_method: self.http_method.or(file.http_method).unwrap_or(initial.http_method),
            content_type: self.content_type.or(file.content_type).unwrap_or(initial.content_type),
            success_flag: self.success_flag.or(file.success_flag).unwrap_or(initial.success_flag),
            notice_interval: self
                .notice_interval
                .or(file.notice_interval)
                .unwrap_or(initial.notice_interval),
            max_notices: self.max_notices.or(file.max_notices),
            enforce_repeat_notice: self
                .enforce_repeat_notice
                .or(file.enforce_repeat_notice)
                .unwrap_or(initial.enforce_repeat_notice),
        };
        settings.check().map_err(|refusal| anyhow::anyhow!("notices.{refusal}"))?;
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_win_over_the_file() {
        let file = || -> NoticeFile {
            toml::from_str("success_flag = 'ok'\nnotice_interval = ['1m', 5]\nmax_notices = 9")
                .unwrap()
        };
        let settings = NoticeFlags::default().settle(file()).unwrap();
        assert_eq!((settings.success_flag.as_str(), settings.max_notices), ("ok", Some(9)));
        assert_eq!(settings.notice_interval, [Span::from_secs(60), Span::from_secs(5)]);
        let flags = NoticeFlags { success_flag: Some(String::new()), ..NoticeFlags::default() };
        assert_eq!(flags.settle(file()).unwrap().success_flag, "");
        let defaults = NoticeFlags::default().settle(NoticeFile::default()).unwrap();
        assert_eq!(defaults, NoticeSettings::default());
        let flags = NoticeFlags { max_notices: Some(0), ..NoticeFlags::default() };
        let reason = flags.settle(NoticeFile::default()).unwrap_err().to_string();
        assert!(reason.starts_with("notices.max_notices: "), "{reason}");
        let lists = |text: &str| NoticeFlags::default().inbox(&toml::from_str(text).unwrap());
        let both = InboxLists { list: "a".to_owned(), backup: "b".to_owned() };
        assert_eq!(lists("list = 'a'\nbackup = 'b'").unwrap(), Some(both));
        assert_eq!(lists("").unwrap(), None);
        assert!(lists("list = 'a'").unwrap_err().to_string().starts_with("notices.backup: "));
        assert!(toml::from_str::<NoticeFile>("sucess_flag = 'x'").is_err());
    }
}
