//! The handler: what each request of the protocol gets as its answer, in either era.

#![allow(deprecated, reason = "the older revisions know what newer ones have given up")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::header::USER_AGENT;
use axum::http::request::Parts;
use memoranda_engine::core::change::ChangeChannel;
use memoranda_engine::{Concern, Who};
use memoranda_tools::{SideOutput, ToolDef, ToolResult};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    LoggingLevel, PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SetLevelRequestMethod,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::mpsc;

use super::ask::{Asked, ROUNDS, Resumed, ask, is_one_way};
use super::logging::{Logging, Note, Notes};
use super::subscriptions::Subscriptions;
use super::{about, blocking, completion, prompts, resources, tools};
use crate::call::{Job, Progress, Turns, client_name, first_look};
use crate::offer::{Offer, Offered};

/// How long clients may keep what changes only with the configuration: an hour.
const LISTS_FRESH_MS: u64 = 60 * 60 * 1000;

/// The vault's background work begins so long after the first request: answers come first.
const FIRST_ANSWERS: Duration = Duration::from_millis(150);

type Context = RequestContext<RoleServer>;

/// Answers the requests of the protocol. Holds nothing about its connection but what the client
/// has subscribed to, and whose turn it is.
pub(crate) struct Handler {
    offer: Arc<Offer>,
    begun: Arc<AtomicBool>,
    pub(super) subscriptions: Arc<Subscriptions>,
    turns: Turns,
    /// How much of what is noted the client wants to be told.
    wants: Mutex<Option<LoggingLevel>>,
}

impl Handler {
    pub(crate) fn new(offer: Arc<Offer>) -> Self {
        let (subscriptions, wants) = (Arc::default(), Mutex::default());
        Self { offer, begun: Arc::default(), subscriptions, turns: Turns::default(), wants }
    }

    /// One for another connection, with the same to offer.
    pub(crate) fn for_another(&self) -> Self {
        Self { begun: Arc::clone(&self.begun), ..Self::new(Arc::clone(&self.offer)) }
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
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .build();
        if self.offer.logging == Logging::Client {
            capabilities.logging = Some(JsonObject::default());
        }
        let about = Implementation::new("memoranda", &self.offer.version)
            .with_title("Memoranda")
            .with_description("One memory for all of a person's agents");
        ServerConfig::new(capabilities)
            .with_server_info(about)
            .with_instructions(self.offer.instructions(offered))
    }

    /// How much of what is noted this request's client wants to be told, if it is told any.
    fn wanted(&self, context: &Context) -> Option<LoggingLevel> {
        if self.offer.logging == Logging::Process {
            return None;
        }
        let kept = self.wants.lock().unwrap_or_else(PoisonError::into_inner);
        context.meta.log_level().or(*kept)
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
            let (result, said) = follow(job, &self.turns, &context, self.wanted(&context)).await?;
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
async fn follow(
    job: Job,
    turns: &Turns,
    context: &Context,
    wanted: Option<LoggingLevel>,
) -> Result<(ToolResult, SideOutput), ErrorData> {
    let (note, mut noted) = mpsc::channel::<Note>(64);
    let notes = wanted.map(|level| Notes::new(level, note));
    let token = context.meta.get_progress_token();
    let (tell, mut told) = mpsc::channel::<Progress>(16);
    let begun = AtomicBool::new(false);
    let mut running = std::pin::pin!(async {
        let turn = turns.take(job.tool).await;
        begun.store(true, Ordering::Relaxed);
        job.run(turn, token.is_some().then_some(tell), notes).await
    });
    loop {
        tokio::select! {
            biased;
            () = context.ct.cancelled() => {
                let how = match begun.load(Ordering::Relaxed) {
                    false => "The call was cancelled before it began: nothing was done.",
                    true => {
                        "The call was cancelled while it was made: look at what is there before \
                         you repeat it."
                    }
                };
                return Err(ErrorData::internal_error(how, None));
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
            Some(note) = noted.recv() => {
                context.peer.notify_logging_message(note).await.ok();
            }
            result = &mut running => {
                // What was noted last may have come with the end.
                while let Ok(note) = noted.try_recv() {
                    context.peer.notify_logging_message(note).await.ok();
                }
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
        channel: ChangeChannel::Mcp,
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.info(&self.offer.all())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.offer.all().tool(name).map(|def| tools::listed(def, &self.offer.settings))
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
        if is_one_way(&context, self.offer.sessions)
            && let Some(resources) = &mut info.capabilities.resources
        {
            resources.subscribe = None;
        }
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
        let mut list = tools::list(&self.offered(&context), &self.offer.settings);
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
        blocking(move || {
            first_look(&offer.memory, &Concern::Everything, &|_, _| ());
            resources::list(&offer.memory, &offered, cursor.as_deref())
        })
        .await
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
        let read = move || {
            first_look(&offer.memory, &Concern::Everything, &|_, _| ());
            resources::read(&offer, &offered, &request.uri)
        };
        Ok(blocking(read).await?.into())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(self.subscriptions.accept(&self.offer, requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.begin();
        self.subscriptions.listen(context).await;
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.begin();
        if is_one_way(&context, self.offer.sessions) {
            let why = "Without a session there is no stream for what changes; use revision \
                       2026-07-28 and subscriptions/listen.";
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, why, None));
        }
        let (offered, peer) = (self.offered(&context), context.peer);
        self.subscriptions.add(&self.offer, offered, peer, request.uri).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: Context,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        // Without a session there is nobody for whom to keep it.
        if self.offer.logging == Logging::Process || is_one_way(&context, self.offer.sessions) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        *self.wants.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.level);
        Ok(())
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
