//! The codes of errors: one table of code, HTTP status and title.

/// What kind of error a request got. Stable: programs rely on the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// Not JSON, or not UTF-8.
    BadJson,
    /// No token, or none of this server.
    Unauthorized,
    /// A token without that right, a foreign `Origin` or `Host`.
    Forbidden,
    /// No such queue, task or route.
    NotFound,
    /// The route exists, but not for this method.
    MethodNotAllowed,
    /// The body did not come in time.
    Timeout,
    /// A live or reserved task has that id.
    Duplicate,
    /// The token is not the current holder's.
    StaleToken,
    /// That verb does not apply in that state.
    WrongState,
    /// `If-Match` names an older version.
    Changed,
    /// Over a size limit.
    TooLarge,
    /// A compressed or otherwise encoded body.
    Unsupported,
    /// Well-formed but wrong.
    Invalid,
    /// The queue holds its `max`.
    QueueFull,
    /// The caller's access token is over one of its limits.
    Limited,
    /// The server is at fault.
    Internal,
    /// No writes now.
    Unavailable,
}

impl Code {
    /// The codes of conflicts a store can find.
    const OF_STORES: [Self; 3] = [Self::Duplicate, Self::WrongState, Self::QueueFull];

    /// The code a store names.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::OF_STORES.into_iter().find(|code| code.name() == name)
    }

    /// The table: name, HTTP status, title.
    fn row(self) -> (&'static str, u16, &'static str) {
        match self {
            Self::BadJson => ("bad_json", 400, "The body is not JSON"),
            Self::Unauthorized => ("unauthorized", 401, "No token, or a wrong one"),
            Self::Forbidden => ("forbidden", 403, "Not allowed"),
            Self::NotFound => ("not_found", 404, "No such thing"),
            Self::MethodNotAllowed => ("method_not_allowed", 405, "Not with this method"),
            Self::Timeout => ("timeout", 408, "The body did not come in time"),
            Self::Duplicate => ("duplicate", 409, "The id is taken"),
            Self::StaleToken => ("stale_token", 409, "The token is not the holder's"),
            Self::WrongState => ("wrong_state", 409, "Not in this state"),
            Self::Changed => ("changed", 412, "Changed since it was read"),
            Self::TooLarge => ("too_large", 413, "Over a size limit"),
            Self::Unsupported => ("unsupported", 415, "The body is encoded"),
            Self::Invalid => ("invalid", 422, "A field breaks its rule"),
            Self::QueueFull => ("queue_full", 429, "The queue is full"),
            Self::Limited => ("limited", 429, "Over a limit of the access token"),
            Self::Internal => ("internal", 500, "The server is at fault"),
            Self::Unavailable => ("unavailable", 503, "Not possible now"),
        }
    }

    /// Its name in the interface.
    pub(crate) fn name(self) -> &'static str {
        self.row().0
    }

    /// The HTTP status it is answered with.
    pub(crate) fn status(self) -> u16 {
        self.row().1
    }

    /// What it means, in a few words.
    pub(crate) fn title(self) -> &'static str {
        self.row().2
    }
}
