//! `/v1/backup`: a copy of the store as one file, made while everything goes on.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use punctual_store::{Backup, NoBackup};
use tokio::io::AsyncReadExt;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::openapi::Changes;
use super::{App, Nothing, Problem};
use crate::code::Code;
use crate::engine::Failure;

/// How much of the file is read at a time.
const PIECE_BYTES: usize = 256 << 10;

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(back_up))
}

/// Copy the store into one file, as it is at this moment. Only the embedded store is copied.
///
/// All that was acknowledged before the request is in it. The server goes on meanwhile; it makes one copy
/// at a time, and needs as much free space as the store takes. `punctual restore` makes a store of it.
#[utoipa::path(post, path = "/v1/backup", tag = "operations", request_body = Nothing,
    responses((status = 200, description = "The copy", body = String,
        content_type = "application/octet-stream"), Changes))]
async fn back_up(State(app): State<Arc<App>>, body: JsonBody) -> Result<Response, Problem> {
    let Nothing {} = body.read()?;
    if app.dev_clock.is_some() {
        let detail =
            "a store whose clock can be moved (serve --dev) is for tests, and is not backed up";
        return Err(Problem::new(Code::WrongState, detail));
    }
    let backup = app.engine.backup().await?;
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        (CONTENT_LENGTH, HeaderValue::from(backup.bytes)),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, Body::from_stream(pieces(backup))).into_response())
}

/// The file, a piece at a time. The next backup can be made when this one is sent, or nobody listens.
fn pieces(backup: Backup) -> impl stream::Stream<Item = std::io::Result<Bytes>> + Send + 'static {
    let Backup { file, .. } = &backup;
    let file = file.try_clone().map(tokio::fs::File::from_std);
    stream::try_unfold((file, backup), async |(file, backup)| {
        let mut file = file?;
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        if file.read_buf(&mut piece).await? == 0 {
            return Ok(None);
        }
        Ok(Some((Bytes::from(piece), (Ok(file), backup))))
    })
}

impl From<NoBackup> for Failure {
    fn from(refusal: NoBackup) -> Self {
        match refusal {
            NoBackup::Store(error) => Self::Store(error),
            refusal => Self::WrongState(refusal.to_string()),
        }
    }
}
