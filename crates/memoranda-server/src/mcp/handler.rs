//! The handler: what each request of the protocol gets as its answer, in either era.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::header::USER_AGENT;
use axum::http::request::Parts;
use memoranda_dialects::{Said, ToolDef, ToolResult};
use memoranda_engine::Who;
use memoranda_engine::core::change::Channel;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::mpsc;

use super::ask::{Asked, ROUNDS, Resumed, ask};
use super::{about, blocking, completion, prompts, resources, tools};
use crate::call::{Job, Progress, client_name};
use crate::offer::{Offer, Offered};

/// How long clients may keep what changes only with the configuration: an hour.
const LISTS_FRESH_MS: u64 = 60 * 60 * 1000;

/// The vault's background work begins so long after the first request: answers come first.
const FIRST_ANSWERS: Duration = Duration::from_millis(150);

type Context = RequestContext<RoleServer>;

/// Answers the requests of the protocol. Holds nothing about any connection.
#[derive(Clone)]
pub(crate) struct Handler {
    offer: Arc<Offer>,
    begun: Arc<AtomicBool>,
}

impl Handler {
    pub(crate) fn new(offer: Arc<Offer>) -> Self {
        Self { offer, begun: Arc::default() }
    }

    /// Starts the vault's background work, once, when the first answers are out.
    fn begin(&self) {
        if self.begun.swap(true, Ordering::Relaxed) {
            return;
        }
        let offer = Arc::clone(&self.offer);
        tokio::spawn(async move {
            tokio::time::sleep(FIRST_ANSWERS).await;
            tokio::task::spawn_blocking(move || {
                if let Err(error) = offer.memory.start_background() {
                    tracing::warn!(%error, "edits by hand are not noticed as they happen");
                }
            });
        });
    }

    /// The tools that this request may use.
    fn offered(&self, context: &Context) -> Offered {
        let parts = context.extensions.get::<Parts>();
        let narrowed = parts.and_then(|parts| parts.extensions.get::<Offered>());
        narrowed.cloned().unwrap_or_else(|| self.offer.all())
    }

    fn info(&self, offered: &Offered) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_completions()
            .build();
        let about = Implementation::new("memoranda", &self.offer.version)
            .with_title("Memoranda")
            .with_description("One memory for all of a person's agents");
        ServerConfig::new(capabilities)
            .with_server_info(about)
            .with_instructions(self.offer.instructions(offered))
    }

    async fn call(
        &self,
        tool: &'static ToolDef,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let about = about("tools/call", tool.name, request.arguments.as_ref());
        let (seal, state) = (&self.offer.seal, request.request_state.as_deref());
        let mut resumed = Resumed::open(seal, &about, request.input_responses, state)?;
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        for _ in 0..ROUNDS {
            let job = Job {
                memory: Arc::clone(&self.offer.memory),
                settings: Arc::clone(&self.offer.settings),
                tool,
                who: who(tool, &context),
                arguments: arguments.clone(),
                client: resumed.exchange(),
            };
            let (result, said) = follow(job, &context).await?;
            if said.questions.is_empty() {
                return Ok(tools::answer(result, said.attached).into());
            }
            match ask(&context, seal, &about, said, self.offer.sessions).await? {
                Asked::Later(required) => return Ok(required.into()),
                Asked::Now(answered) => resumed = answered,
                Asked::Never => return Ok(tools::answer(result, Vec::new()).into()),
            }
        }
        Err(ErrorData::internal_error("The tool asks without end.", None))
    }
}

/// Makes a call, and tells the client how far it has come.
async fn follow(job: Job, context: &Context) -> Result<(ToolResult, Said), ErrorData> {
    let token = context.meta.get_progress_token();
    let (tell, mut told) = mpsc::channel::<Progress>(16);
    let mut running = std::pin::pin!(job.run(token.is_some().then_some(tell)));
    loop {
        tokio::select! {
            biased;
            () = context.ct.cancelled() => {
                return Err(ErrorData::internal_error("The call was cancelled.", None));
            }
            Some(progress) = told.recv(), if token.is_some() => {
                let Some(token) = token.clone() else { continue };
                let mut note = ProgressNotificationParam::new(token, progress.done as f64)
                    .with_message(progress.doing);
                if progress.total > 0 {
                    note = note.with_total(progress.total as f64);
                }
                // A client that has gone will be noticed by its closed stream.
                context.peer.notify_progress(note).await.ok();
            }
            result = &mut running => {
                return result
                    .map_err(|_| ErrorData::internal_error("The tool broke down.", None));
            }
        }
    }
}

/// Who calls, for the history: by the request's own word or the handshake's. A stateless HTTP
/// request of the older revisions carries neither; there the user agent has to do.
fn who(tool: &ToolDef, context: &Context) -> Who {
    let named = |about: &Implementation| client_name([about.name.as_str(), about.version.as_str()]);
    let client = match context.extensions.get::<Parts>() {
        Some(parts) => context.meta.client_info().as_ref().and_then(named).or_else(|| {
            let agent = parts.headers.get(USER_AGENT)?.to_str().ok()?;
            client_name([agent])
        }),
        None => context.client_info().as_ref().and_then(named),
    };
    Who {
        client: client.unwrap_or_else(|| "unknown".to_owned()),
        tool: tool.name.to_owned(),
        channel: Channel::Mcp,
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.info(&self.offer.all())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.offer.all().tool(name).map(tools::listed)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        self.begin();
        context.peer.set_peer_info(request.clone());
        let mut info = self.negotiate_initialize(&request)?;
        info.instructions = self.info(&self.offered(&context)).instructions;
        Ok(info)
    }

    async fn discover(&self, context: Context) -> Result<DiscoverResult, ErrorData> {
        self.begin();
        let versions = self.supported_protocol_versions().into_owned();
        let info = self.info(&self.offered(&context));
        Ok(DiscoverResult::from_server_info(versions, info)
            .with_ttl_ms(LISTS_FRESH_MS)
            .with_cache_scope(scope(&context)))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        self.begin();
        let mut list = tools::list(&self.offered(&context));
        (list.ttl_ms, list.cache_scope) = freshness(&context);
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        self.begin();
        let Some(tool) = self.offered(&context).tool(&request.name) else {
            let unknown = format!("There is no tool {:?}.", request.name);
            return Err(ErrorData::invalid_params(unknown, None));
        };
        self.call(tool, request, context).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut list = prompts::list(&self.offered(&context));
        (list.ttl_ms, list.cache_scope) = freshness(&context);
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.begin();
        let offer = Arc::clone(&self.offer);
        prompts::get(offer, &self.offered(&context), request, &context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.begin();
        let (offer, offered) = (Arc::clone(&self.offer), self.offered(&context));
        let cursor = request.and_then(|request| request.cursor);
        blocking(move || resources::list(&offer.memory, &offered, cursor.as_deref())).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = resources::templates(&self.offered(&context));
        (list.ttl_ms, list.cache_scope) = freshness(&context);
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.begin();
        let (offer, offered) = (Arc::clone(&self.offer), self.offered(&context));
        Ok(blocking(move || resources::read(&offer, &offered, &request.uri)).await?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        self.begin();
        let (offer, offered) = (Arc::clone(&self.offer), self.offered(&context));
        blocking(move || completion::complete(&offer.memory, &offered, &request)).await
    }

    /// A request that is none of the protocol's: of an unknown method, or of a known one with
    /// parameters that do not fit.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: Context,
    ) -> Result<CustomResult, ErrorData> {
        const KNOWN: [&str; 4] =
            ["tools/call", "prompts/get", "resources/read", "completion/complete"];
        if KNOWN.contains(&request.method.as_str()) {
            let what = format!("The parameters of {} do not fit.", request.method);
            return Err(ErrorData::invalid_params(what, None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None))
    }
}

/// Who may keep what changes only with the configuration: anyone, unless this request made it
/// differ.
fn scope(context: &Context) -> CacheScope {
    let parts = context.extensions.get::<Parts>();
    match parts.and_then(|parts| parts.extensions.get::<Offered>()) {
        Some(_) => CacheScope::Private,
        None => CacheScope::Public,
    }
}

/// How long a list may be kept, and by whom. The older revisions know nothing of that.
fn freshness(context: &Context) -> (Option<u64>, Option<CacheScope>) {
    match context.protocol_version() {
        Some(version) if !version.has_initialize() => (Some(LISTS_FRESH_MS), Some(scope(context))),
        _ => (None, None),
    }
}
