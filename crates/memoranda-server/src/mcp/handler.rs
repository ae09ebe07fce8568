//! The MCP handler: answers every request of the protocol, in both eras.

#![allow(deprecated, reason = "older revisions have methods that newer ones deprecate")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::header::USER_AGENT;
use axum::http::request::Parts;
use memoranda_engine::core::change::ChangeChannel;
use memoranda_engine::{Author, SyncScope};
use memoranda_tools::{SideOutput, ToolDef, ToolResult, ToolSettings};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    LoggingLevel, PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig as ServerInfo, SetLevelRequestMethod,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::mpsc;

use super::elicitation::{
    ElicitationAnswers, ElicitationOutcome, MAX_ROUNDS, elicit, form_support, is_one_way,
};
use super::logging::{ClientLogSubscriber, LogDestination, LogNotification};
use super::subscriptions::ResourceSubscriptions;
use super::{completion, prompts, request_subject, resources, run_blocking, tools};
use crate::client_identity::{IntroducedClient, SessionClient};
use crate::team::TeamRequest;
use crate::tool_call::{CallOrder, CallProgress, ToolCall, await_first_scan, client_name};
use crate::tool_catalog::{RequestTools, ToolCatalog};

/// Time that clients may cache lists that change only with the configuration: one hour.
const LIST_TTL_MS: u64 = 60 * 60 * 1000;

/// Delay of the background work after the first request, so that first answers are fast.
const BACKGROUND_START_DELAY: Duration = Duration::from_millis(150);

type McpContext = RequestContext<RoleServer>;

/// Answers the requests of one connection. Its only state are the subscriptions of the client, the
/// order of calls and the log level.
pub(crate) struct McpHandler {
    catalog: Arc<ToolCatalog>,
    background_started: Arc<AtomicBool>,
    pub(super) subscriptions: Arc<ResourceSubscriptions>,
    order: CallOrder,
    /// Log level that the client set.
    log_level: Mutex<Option<LoggingLevel>>,
    /// Conversation of the changes over a pipe, whose clients start one process per conversation.
    pipe_conversation: String,
}

impl McpHandler {
    pub(crate) fn new(catalog: Arc<ToolCatalog>) -> Self {
        let (subscriptions, log_level) = (Arc::default(), Mutex::default());
        let pipe_conversation = catalog.memory.new_conversation_id();
        Self {
            catalog,
            background_started: Arc::default(),
            subscriptions,
            order: CallOrder::default(),
            log_level,
            pipe_conversation,
        }
    }

    /// Returns a handler for another connection, with the same catalog.
    pub(crate) fn for_connection(&self) -> Self {
        Self {
            background_started: Arc::clone(&self.background_started),
            ..Self::new(Arc::clone(&self.catalog))
        }
    }

    /// Starts the background work of the vault once, after the first answers.
    fn start_background_once(&self) {
        if self.background_started.swap(true, Ordering::Relaxed) {
            return;
        }
        let catalog = Arc::clone(&self.catalog);
        tokio::spawn(async move {
            tokio::time::sleep(BACKGROUND_START_DELAY).await;
            tokio::task::spawn_blocking(move || {
                if let Err(error) = catalog.memory.start_background() {
                    tracing::warn!(%error, "the watcher did not start: edits by hand are noticed by scans only");
                }
            });
        });
    }

    /// Returns the tools of a request.
    fn request_tools(&self, context: &McpContext) -> RequestTools {
        let parts = context.extensions.get::<Parts>();
        let narrowed = parts.and_then(|parts| parts.extensions.get::<RequestTools>());
        narrowed.cloned().unwrap_or_else(|| self.catalog.configured_tools())
    }

    /// Returns the settings of a request. Over HTTP they contain the repository of the client.
    fn request_settings(&self, context: &McpContext) -> Arc<ToolSettings> {
        let parts = context.extensions.get::<Parts>();
        let of_request = parts.and_then(|parts| parts.extensions.get::<Arc<ToolSettings>>());
        Arc::clone(of_request.unwrap_or(&self.catalog.settings))
    }

    fn server_info(&self, request_tools: &RequestTools) -> ServerInfo {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .build();
        if self.catalog.logging == LogDestination::Client {
            capabilities.logging = Some(JsonObject::default());
        }
        let request_subject = Implementation::new("memoranda", &self.catalog.version)
            .with_title("Memoranda")
            .with_description("One memory for all of a person's agents");
        ServerInfo::new(capabilities)
            .with_server_info(request_subject)
            .with_instructions(self.catalog.instructions(request_tools))
    }

    /// Returns the log level of a request; `None` if its client receives no events.
    fn log_level(&self, context: &McpContext) -> Option<LoggingLevel> {
        if self.catalog.logging == LogDestination::Process {
            return None;
        }
        let kept = self.log_level.lock().unwrap_or_else(PoisonError::into_inner);
        context.meta.log_level().or(*kept)
    }
}

/// Runs a call, and sends its progress and log events to the client.
async fn run_call(
    call: ToolCall,
    order: &CallOrder,
    context: &McpContext,
    log_level: Option<LoggingLevel>,
) -> Result<(ToolResult, SideOutput), ErrorData> {
    let (note, mut noted) = mpsc::channel::<LogNotification>(64);
    let notes = log_level.map(|level| ClientLogSubscriber::new(level, note));
    let token = context.meta.get_progress_token();
    let (tell, mut told) = mpsc::channel::<CallProgress>(16);
    let is_running = AtomicBool::new(false);
    let mut running = std::pin::pin!(async {
        let permit = order.acquire(call.tool).await;
        is_running.store(true, Ordering::Relaxed);
        call.run(permit, token.is_some().then_some(tell), notes).await
    });
    loop {
        tokio::select! {
            biased;
            () = context.ct.cancelled() => {
                let how = if is_running.load(Ordering::Relaxed) {
                    "The call was cancelled while it was made: look at what is there before you \
                     repeat it."
                } else {
                    "The call was cancelled before it began: nothing was done."
                };
                return Err(ErrorData::internal_error(how, None));
            }
            Some(progress) = told.recv(), if token.is_some() => {
                let Some(token) = token.clone() else { continue };
                let mut note = ProgressNotificationParam::new(token, progress.done as f64)
                    .with_message(progress.message);
                if progress.total > 0 {
                    note = note.with_total(progress.total as f64);
                }
                // A closed stream is noticed elsewhere.
                context.peer.notify_progress(note).await.ok();
            }
            Some(note) = noted.recv() => {
                context.peer.notify_logging_message(note).await.ok();
            }
            result = &mut running => {
                // The last events may arrive together with the result.
                while let Ok(note) = noted.try_recv() {
                    context.peer.notify_logging_message(note).await.ok();
                }
                return result
                    .map_err(|_| ErrorData::internal_error("The tool broke down.", None));
            }
        }
    }
}

/// Returns the name and version of a client for the history.
fn implementation_name(client: &Implementation) -> Option<String> {
    client_name([client.name.as_str(), client.version.as_str()])
}

/// Returns the author of a call, for the history: the client of the request or of the handshake.
/// An HTTP request of the older revisions carries the client of the handshake in its session id;
/// without one, its user agent is used.
fn call_author(tool: &ToolDef, context: &McpContext, pipe_conversation: &str) -> Author {
    let client = match context.extensions.get::<Parts>() {
        Some(parts) => {
            let stated = context.meta.client_info().as_ref().and_then(implementation_name);
            let introduced = || {
                let client = parts.extensions.get::<SessionClient>()?;
                client_name([client.0.as_str()])
            };
            stated.or_else(introduced).or_else(|| {
                let agent = parts.headers.get(USER_AGENT)?.to_str().ok()?;
                client_name([agent])
            })
        }
        None => context.client_info().as_ref().and_then(implementation_name),
    };
    let client = client.unwrap_or_else(|| "unknown".to_owned());
    let conversation = conversation_id(context, pipe_conversation);
    Author::new(client, tool.name, ChangeChannel::Mcp).with_conversation(conversation)
}

/// Returns the conversation of a call: as the client names it, as the session of the transport, or
/// the process that the client started for it.
fn conversation_id(context: &McpContext, pipe_conversation: &str) -> Option<String> {
    const META_KEYS: [&str; 4] =
        ["vscode.conversationId", "openai/session", "conversationId", "sessionId"];
    let named = META_KEYS.iter().find_map(|key| context.meta.0.get(*key)?.as_str());
    if let Some(id) = named.and_then(|id| client_name([id])) {
        return Some(id);
    }
    match context.extensions.get::<Parts>() {
        Some(parts) => {
            let session = parts.headers.get("mcp-session-id")?.to_str().ok()?;
            client_name([session])
        }
        None => Some(pipe_conversation.to_owned()),
    }
}

impl ServerHandler for McpHandler {
    fn get_info(&self) -> ServerInfo {
        self.server_info(&self.catalog.configured_tools())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.catalog
            .configured_tools()
            .tool(name)
            .map(|def| tools::tool_definition(def, &self.catalog.settings))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: McpContext,
    ) -> Result<InitializeResult, ErrorData> {
        self.start_background_once();
        context.peer.set_peer_info(request.clone());
        if let Some(parts) = context.extensions.get::<Parts>()
            && let Some(introduced) = parts.extensions.get::<IntroducedClient>()
            && let Some(name) = implementation_name(&request.client_info)
        {
            introduced.set(name);
        }
        let mut server_info = self.negotiate_initialize(&request)?;
        server_info.instructions = self.server_info(&self.request_tools(&context)).instructions;
        if is_one_way(&context, self.catalog.sessions)
            && let Some(resources) = &mut server_info.capabilities.resources
        {
            resources.subscribe = None;
        }
        Ok(server_info)
    }

    async fn discover(&self, context: McpContext) -> Result<DiscoverResult, ErrorData> {
        self.start_background_once();
        let versions = self.supported_protocol_versions().into_owned();
        let server_info = self.server_info(&self.request_tools(&context));
        Ok(DiscoverResult::from_server_info(versions, server_info)
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(cache_scope(&context)))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: McpContext,
    ) -> Result<ListToolsResult, ErrorData> {
        self.start_background_once();
        let mut list = tools::list_tools(&self.request_tools(&context), &self.catalog.settings);
        if let Some(team) = team_request(&context) {
            for tool in &mut list.tools {
                team.add_space_argument(Arc::make_mut(&mut tool.input_schema));
            }
        }
        (list.ttl_ms, list.cache_scope) = list_cache(&context);
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: McpContext,
    ) -> Result<CallToolResponse, ErrorData> {
        self.start_background_once();
        let Some(tool) = self.request_tools(&context).tool(&request.name) else {
            let unknown = format!("There is no tool {:?}.", request.name);
            return Err(ErrorData::invalid_params(unknown, None));
        };
        let request_subject = request_subject("tools/call", tool.name, request.arguments.as_ref());
        let (signer, state) = (&self.catalog.signer, request.request_state.as_deref());
        let mut resumed =
            ElicitationAnswers::verify(signer, &request_subject, request.input_responses, state)?;
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let forms = form_support(&context, self.catalog.sessions);
        for _ in 0..MAX_ROUNDS {
            let call = ToolCall {
                memory: Arc::clone(&self.catalog.memory),
                settings: self.request_settings(&context),
                tool,
                author: call_author(tool, &context, &self.pipe_conversation),
                arguments: arguments.clone(),
                client: resumed.into_context().with_forms(forms),
                team: team_request(&context),
                space: None,
                others: Vec::new(),
            };
            let (result, output) =
                run_call(call, &self.order, &context, self.log_level(&context)).await?;
            if output.questions.is_empty() {
                return Ok(tools::call_result(result, output.attached).into());
            }
            match elicit(&context, signer, &request_subject, output, self.catalog.sessions).await? {
                ElicitationOutcome::Later(required) => return Ok(required.into()),
                ElicitationOutcome::Now(answered) => resumed = answered,
                ElicitationOutcome::Never => {
                    return Ok(tools::call_result(result, Vec::new()).into());
                }
            }
        }
        Err(ErrorData::internal_error("The tool asks without end.", None))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: McpContext,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut list = prompts::list_prompts(&self.request_tools(&context));
        (list.ttl_ms, list.cache_scope) = list_cache(&context);
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: McpContext,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.start_background_once();
        let catalog = Arc::clone(&self.catalog);
        prompts::get_prompt(catalog, &self.request_tools(&context), request, &context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: McpContext,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.start_background_once();
        let (catalog, request_tools) = (Arc::clone(&self.catalog), self.request_tools(&context));
        let cursor = request.and_then(|request| request.cursor);
        run_blocking(move || {
            await_first_scan(&catalog.memory, &SyncScope::Everything, &|_, _| ());
            resources::list_resources(&catalog.memory, &request_tools, cursor.as_deref())
        })
        .await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: McpContext,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = resources::list_templates(&self.request_tools(&context));
        (list.ttl_ms, list.cache_scope) = list_cache(&context);
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: McpContext,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.start_background_once();
        let (catalog, request_tools) = (Arc::clone(&self.catalog), self.request_tools(&context));
        let settings = self.request_settings(&context);
        let read = move || {
            await_first_scan(&catalog.memory, &SyncScope::Everything, &|_, _| ());
            resources::read_resource(&catalog, &settings, &request_tools, &request.uri)
        };
        Ok(run_blocking(read).await?.into())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(self.subscriptions.accept(&self.catalog, requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.start_background_once();
        self.subscriptions.listen(context).await;
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: McpContext,
    ) -> Result<(), ErrorData> {
        self.start_background_once();
        if is_one_way(&context, self.catalog.sessions) {
            let why = "Without a session there is no stream for what changes; use revision \
                       2026-07-28 and subscriptions/listen.";
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, why, None));
        }
        let (request_tools, peer) = (self.request_tools(&context), context.peer);
        self.subscriptions.add(&self.catalog, request_tools, peer, request.uri).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: McpContext,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: McpContext,
    ) -> Result<(), ErrorData> {
        // Without a session the level cannot be kept.
        if self.catalog.logging == LogDestination::Process
            || is_one_way(&context, self.catalog.sessions)
        {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        *self.log_level.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.level);
        Ok(())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: McpContext,
    ) -> Result<CompleteResult, ErrorData> {
        self.start_background_once();
        let (catalog, request_tools) = (Arc::clone(&self.catalog), self.request_tools(&context));
        run_blocking(move || completion::complete(&catalog.memory, &request_tools, &request)).await
    }

    /// Rejects a request with an unknown method, or a known one with invalid parameters.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: McpContext,
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

/// Returns the request of a team server; `None` on a server of one vault.
fn team_request(context: &McpContext) -> Option<Arc<TeamRequest>> {
    context.extensions.get::<Parts>()?.extensions.get::<Arc<TeamRequest>>().cloned()
}

/// Returns who may cache a list: everybody, unless this request selected its own tools.
fn cache_scope(context: &McpContext) -> CacheScope {
    if team_request(context).is_some() {
        return CacheScope::Private;
    }
    let parts = context.extensions.get::<Parts>();
    match parts.and_then(|parts| parts.extensions.get::<RequestTools>()) {
        Some(_) => CacheScope::Private,
        None => CacheScope::Public,
    }
}

/// Returns lifetime and scope of a cached list; `None` for revisions without them.
fn list_cache(context: &McpContext) -> (Option<u64>, Option<CacheScope>) {
    match context.protocol_version() {
        Some(version) if !version.has_initialize() => {
            (Some(LIST_TTL_MS), Some(cache_scope(context)))
        }
        _ => (None, None),
    }
}
